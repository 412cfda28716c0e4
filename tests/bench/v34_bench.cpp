// SPDX-License-Identifier: MIT
//
// Cost of the V.34 coding blocks at 3429 symbols/s and 33 600 bit/s, as channels of 8000 samples/s that one core could
// run if it did nothing else, beside the goal for a whole channel: 300.
#include <benchmark/benchmark.h>

#include <vector>

#include "dsp/v34/encoder.h"
#include "dsp/v34/viterbi.h"
#include "tests/unit/dsp/v34/coding_gain.h"

namespace offhook::v34 {
namespace {

constexpr PrecoderCoefficients kH{{{-9830, 3277}, {4915, -1638}, {-820, 16}}};

CodingParameters parameters(TrellisCode code) {
  return {make_framing(SymbolRate::k3429, 33600, false, true), Scrambling::kCall, code, kH};
}

// One 4D symbol every 8000 * 2 / S samples.
void report(benchmark::State& state, double symbols_4d_per_iteration) {
  const double samples = symbols_4d_per_iteration * 8000 * 2 / symbol_rate_hz(SymbolRate::k3429);
  state.SetItemsProcessed(static_cast<int64_t>(static_cast<double>(state.iterations()) * samples));
  state.counters["channels/core"] = benchmark::Counter(samples / 8000, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["goal_for_all"] = 300;
}

void BM_Viterbi(benchmark::State& state) {
  const auto code = static_cast<TrellisCode>(state.range(0));
  LatticeSource source(code, 1);
  Random noise(2, 0);
  std::vector<float> received;
  for (int m = 0; m < 4096; ++m) {
    Point y[2];
    source.next(false, y);
    for (const Point p : y) {
      received.push_back(static_cast<float>(p.re + 0.35 * noise.gaussian()));
      received.push_back(static_cast<float>(p.im + 0.35 * noise.gaussian()));
    }
  }
  ViterbiDecoder decoder(code);
  for (auto _ : state) {
    for (size_t at = 0; at < received.size(); at += 4) {
      Point out[2];
      decoder.decode(&received[at], false, out);
      benchmark::DoNotOptimize(out);
    }
  }
  report(state, 4096);
}
BENCHMARK(BM_Viterbi)->Arg(0)->Arg(1)->Arg(2)->Name("viterbi/16_32_64_states");

void BM_Encoder(benchmark::State& state) {
  Encoder encoder(parameters(TrellisCode::k64));
  Random random(3, 0);
  uint8_t bits[kMaxMappingFrameBits];
  for (uint8_t& b : bits) b = static_cast<uint8_t>(random.bit());
  for (auto _ : state) {
    Encoder::Symbol symbols[8];
    encoder.frame(bits, 0, symbols);
    benchmark::DoNotOptimize(symbols);
  }
  report(state, 4);
}
BENCHMARK(BM_Encoder)->Name("encoder/33600");

void BM_Decoder(benchmark::State& state) {
  Encoder encoder(parameters(TrellisCode::k64));
  Decoder decoder(parameters(TrellisCode::k64));
  Random random(4, 0);
  uint8_t bits[kMaxMappingFrameBits];
  for (uint8_t& b : bits) b = static_cast<uint8_t>(random.bit());
  Encoder::Symbol symbols[8];
  encoder.frame(bits, 0, symbols);
  Point y[8];
  for (int k = 0; k < 8; ++k) y[k] = symbols[k].y;
  for (auto _ : state) {
    uint8_t aux = 0;
    decoder.frame(y, bits, &aux);
    benchmark::DoNotOptimize(bits);
  }
  report(state, 4);
}
BENCHMARK(BM_Decoder)->Name("decoder/33600");

}  // namespace
}  // namespace offhook::v34

BENCHMARK_MAIN();
