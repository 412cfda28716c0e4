// SPDX-License-Identifier: MIT
// Cost of the line, both directions, per sample of the near end. Benchmark target: 300 ns, so that with two pumps of
// about 400 ns a sample a call runs at 100 times real time (1250 ns a sample) on one core.
#include <benchmark/benchmark.h>

#include <vector>

#include "hostsim/channel/line.h"

namespace {

using offhook::hostsim::FarEnd;
using offhook::hostsim::Line;
using offhook::hostsim::LineConfig;

struct Loopback : FarEnd {
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override { std::copy(rx, rx + n, tx); }
};

void run(benchmark::State& state, const LineConfig& config) {
  Loopback far;
  Line line(config, 1, far);
  std::vector<std::int16_t> tx(100), rx(100);
  for (std::size_t i = 0; i < tx.size(); ++i) tx[i] = static_cast<std::int16_t>(i % 20 * 500 - 5000);
  for (auto _ : state) line.exchange(tx.data(), rx.data(), tx.size());
  benchmark::DoNotOptimize(rx.data());
  state.counters["per_sample"] = benchmark::Counter(static_cast<double>(state.iterations()) * 100,
                                                    benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetLabel("benchmark target 300 ns per_sample");
}

void BM_LineDefault(benchmark::State& state) {
  run(state, {});
}
void BM_LineClockOff(benchmark::State& state) {
  LineConfig c;
  c.clock_ppm = 100;
  run(state, c);
}
void BM_LineEverything(benchmark::State& state) {
  LineConfig c;
  c.clock_ppm = 100;
  c.frequency_offset_hz = 7;
  c.impulse_rate_hz = 1;
  c.channel = "v56bis-ad9-edd3";
  run(state, c);
}
BENCHMARK(BM_LineDefault);
BENCHMARK(BM_LineClockOff);
BENCHMARK(BM_LineEverything);

}  // namespace

BENCHMARK_MAIN();
