// SPDX-License-Identifier: MIT
//
// Cost of the receivers of Phases 1 and 2, ns a sample of 8000 Hz, beside the goal for the whole V.34 data pump: 400
// ns.
#include <benchmark/benchmark.h>

#include <vector>

#include "dsp/v34/phase2/phase2.h"
#include "dsp/v8/v8.h"

namespace offhook::v34 {
namespace {

constexpr int kBlock = 8000;

std::vector<float> sound() {
  std::vector<float> x(kBlock);
  uint32_t noise = 1;
  for (float& v : x) {
    noise = noise * 1664525 + 1013904223;
    v = static_cast<float>(static_cast<int32_t>(noise) >> 18);
  }
  return x;
}

template <class Process>
void run(benchmark::State& state, Process&& process) {
  const std::vector<float> x = sound();
  for (auto _ : state) {
    for (const float v : x) process(v);
  }
  state.SetItemsProcessed(state.iterations() * kBlock);
  state.counters["channels/core"] = benchmark::Counter(kBlock / 8000., benchmark::Counter::kIsIterationInvariantRate);
  state.counters["goal_for_all"] = 300;
}

void BM_DpskReceiver(benchmark::State& state) {
  DpskReceiver receiver(kDpskAnswerHz);
  static InfoDetector<Info0> detector;
  DpskDecision decision;
  run(state, [&](float x) {
    if (receiver.put(x, &decision)) benchmark::DoNotOptimize(detector.put(decision));
  });
}
BENCHMARK(BM_DpskReceiver)->Name("info_receiver");

void BM_RetrainDetector(benchmark::State& state) {
  RetrainDetector detector(kToneAHz);
  run(state, [&](float x) { benchmark::DoNotOptimize(detector.put(x)); });
}
BENCHMARK(BM_RetrainDetector)->Name("retrain_tone_detector");

void BM_Phase2(benchmark::State& state) {
  Phase2 machine{Phase2Config{}};
  machine.start();
  run(state, [&](float x) { benchmark::DoNotOptimize(machine.process(x)); });
}
BENCHMARK(BM_Phase2)->Name("phase2_whole_machine");

void BM_V8(benchmark::State& state) {
  v8::Config config;
  v8::V8 machine(config);
  run(state, [&](float x) { benchmark::DoNotOptimize(machine.process(x)); });
}
BENCHMARK(BM_V8)->Name("v8_caller_listening");

// Once per start-up: everything that INFO1 contains. A block of 90 samples is 11,250 us.
void BM_Choice(benchmark::State& state) {
  static LineProbe probe;
  probe.start();
  for (int n = 0; n < 3080; ++n)
    probe.put(3000 * kProbingTable.sample[n % kProbingSamples] + static_cast<float>(n % 7));
  for (auto _ : state) {
    probe.analyse();
    for (int k = 0; k < kSymbolRates; ++k) {
      benchmark::DoNotOptimize(probe.best(static_cast<SymbolRate>(k), kAllCapabilities, true));
    }
  }
}
BENCHMARK(BM_Choice)->Name("probing_analysis_and_choice")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace offhook::v34

BENCHMARK_MAIN();
