// SPDX-License-Identifier: MIT
//
// V.22bis in data mode, nanoseconds per sample of one end: spandsp's modem fed in blocks of 100 samples beside the pump
// that wraps it, which goes sample by sample so that every block length gives the same signal. Both ends of a call run
// in one thread, so that the receiver works on a real signal; what is printed is half of it.
#include <benchmark/benchmark.h>
#include <spandsp.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "dsp/pump/pump_type.h"
#include "dsp/spandsp/v22bis.h"

namespace {

constexpr size_t kBlock = 100;
constexpr int kTrained = 20 * 8000 / int(kBlock);  // blocks until both ends carry data, amply

struct Bits {
  uint32_t state = 1, sum = 0;
  static int get(void* user) {
    auto& b = *static_cast<Bits*>(user);
    const uint32_t bit = ((b.state >> 30) ^ (b.state >> 27)) & 1;
    b.state = b.state << 1 | bit;
    return int(bit);
  }
  static void put(void* user, int bit) { static_cast<Bits*>(user)->sum += uint32_t(bit); }
};

/// Google Benchmark prints seconds with an SI prefix: "sample=30n".
void report(benchmark::State& state) {
  const auto samples = double(state.iterations()) * 2 * kBlock;
  state.counters["sample"] = benchmark::Counter(samples, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// Two ends; `end(i, rx, tx)` processes a block.
template <class End>
void call(benchmark::State& state, End end) {
  int16_t line[2][kBlock] = {}, tx[2][kBlock];
  auto block = [&] {
    for (int i = 0; i < 2; ++i) end(i, line[i], tx[i]);
    for (int i = 0; i < 2; ++i) std::copy_n(tx[i], kBlock, line[1 - i]);
  };
  for (int i = 0; i < kTrained; ++i) block();
  for (auto _ : state) block();
  report(state);
}

void Spandsp(benchmark::State& state) {
  Bits bits[2];
  v22bis_state_t* modem[2];
  for (int i = 0; i < 2; ++i)
    modem[i] = v22bis_init(nullptr, 2400, V22BIS_GUARD_TONE_NONE, i == 0, Bits::get, &bits[i], Bits::put, &bits[i]);
  call(state, [&](int i, const int16_t* rx, int16_t* tx) {
    v22bis_rx(modem[i], rx, int(kBlock));
    v22bis_tx(modem[i], tx, int(kBlock));
  });
  if (v22bis_get_current_bit_rate(modem[0]) != 2400) state.SkipWithError("spandsp did not train");
  for (auto* m : modem) v22bis_free(m);
}
BENCHMARK(Spandsp);

void Pump(benchmark::State& state) {
  const oh_pump_type* ops = oh_v22bis_type();
  Bits bits[2];
  std::unique_ptr<void, void (*)(void*)> self[2] = {{nullptr, std::free}, {nullptr, std::free}};
  for (int i = 0; i < 2; ++i) {
    oh_pump_config config{};
    config.format = offhook::kLinear8000;
    config.role = i == 0 ? OH_PUMP_CALL : OH_PUMP_ANSWER;
    config.tx_level_dbm0 = -12;
    config.port = {Bits::get, Bits::put, &bits[i]};
    self[i].reset(std::aligned_alloc(64, ops->size(&config)));
    ops->init(self[i].get(), &config);
  }
  call(state, [&](int i, const int16_t* rx, int16_t* tx) { ops->process(self[i].get(), rx, tx, kBlock); });
  oh_pump_status status;
  ops->status(self[0].get(), &status);
  if (status.state != OH_PUMP_DATA || status.retrains != 0) state.SkipWithError("no connection");
}
BENCHMARK(Pump);

}  // namespace

BENCHMARK_MAIN();
