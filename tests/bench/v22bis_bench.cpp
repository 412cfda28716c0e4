// SPDX-License-Identifier: MIT
//
// V.22bis in numbers, beside spandsp's.
//
//   v22bis_bench         nanoseconds a sample of one end in data mode: spandsp's modem fed in blocks of 100 samples,
//   and
//                        our pump. Both ends of a call run in one thread, so that the receiver works on a real signal;
//                        what is printed is half of it.
//   v22bis_bench cost N  N seconds of the same call of ours and no more, for a tool that counts instructions;
//                        v22bis_bench spandsp N: of spandsp's
//   v22bis_bench need    Markdown: the noise at which a bit in 10^5 is wrong; docs/v22.md holds what it printed last
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "dsp/pump/pump_type.h"
#include "dsp/v22/pump.h"
#include "tests/unit/driver/user_modem/pump_pair.h"
#include "tests/unit/dsp/v22/spandsp_v22bis.h"

namespace {

constexpr size_t kBlock = 100;
constexpr int kTrained = 20 * 8000 / int(kBlock);  // blocks until both ends certainly carry data

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

/// Two ends. `end(i, rx, tx)` processes a block.
template <class End>
struct Call {
  End end;
  int16_t line[2][kBlock] = {}, tx[2][kBlock] = {};
  void block() {
    for (int i = 0; i < 2; ++i) end(i, line[i], tx[i]);
    for (int i = 0; i < 2; ++i) std::copy_n(tx[i], kBlock, line[1 - i]);
  }
};

class SpandspEnds {
 public:
  SpandspEnds() {
    for (int i = 0; i < 2; ++i)
      modem_[i] =
          v22bis_init(nullptr, 2400, V22BIS_GUARD_TONE_NONE, i == 0, Bits::get, &bits_[i], Bits::put, &bits_[i]);
  }
  ~SpandspEnds() {
    for (auto* m : modem_) v22bis_free(m);
  }
  SpandspEnds(const SpandspEnds&) = delete;
  SpandspEnds& operator=(const SpandspEnds&) = delete;
  void process(int i, const int16_t* rx, int16_t* tx) {
    v22bis_rx(modem_[i], rx, int(kBlock));
    v22bis_tx(modem_[i], tx, int(kBlock));
  }
  bool connected() const { return v22bis_get_current_bit_rate(modem_[0]) == 2400; }

 private:
  Bits bits_[2];
  v22bis_state_t* modem_[2];
};

class OwnEnds {
 public:
  OwnEnds() {
    for (int i = 0; i < 2; ++i) {
      oh_pump_config config{};
      config.format = offhook::kLinear8000;
      config.role = i == 0 ? OH_PUMP_CALL : OH_PUMP_ANSWER;
      config.tx_level_dbm0 = -12;
      config.port = {Bits::get, Bits::put, &bits_[i]};
      self_[i].reset(std::aligned_alloc(64, ops_->size(&config)));
      ops_->init(self_[i].get(), &config);
    }
  }
  void process(int i, const int16_t* rx, int16_t* tx) { ops_->process(self_[i].get(), rx, tx, kBlock); }
  bool connected() const {
    oh_pump_status status;
    ops_->status(self_[0].get(), &status);
    return status.state == OH_PUMP_DATA && status.retrains == 0;
  }

 private:
  const oh_pump_type* ops_ = oh_v22bis_type();
  Bits bits_[2];
  std::unique_ptr<void, void (*)(void*)> self_[2] = {{nullptr, std::free}, {nullptr, std::free}};
};

template <class Ends>
void run(benchmark::State& state) {
  Ends ends;
  const auto end = [&](int i, const int16_t* rx, int16_t* tx) { ends.process(i, rx, tx); };
  Call<decltype(end)> call{end};
  for (int i = 0; i < kTrained; ++i) call.block();
  for (auto _ : state) call.block();
  report(state);
  if (!ends.connected()) state.SkipWithError("no connection");
}
void Spandsp(benchmark::State& state) {
  run<SpandspEnds>(state);
}
BENCHMARK(Spandsp);
void Own(benchmark::State& state) {
  run<OwnEnds>(state);
}
BENCHMARK(Own);

template <class Ends>
int count(int seconds) {
  Ends ends;
  const auto end = [&](int i, const int16_t* rx, int16_t* tx) { ends.process(i, rx, tx); };
  Call<decltype(end)> call{end};
  for (int i = 0; i < seconds * 8000 / int(kBlock); ++i) call.block();
  std::printf("%d s, connected: %d\n", seconds, ends.connected());
  return 0;
}

// Wrong bits of both directions in 2 * `seconds` of 2400 bit/s. The tester counts each wrong bit three times.
double error_rate(const oh_pump_type* type, double snr_db, size_t seconds) {
  using namespace offhook::test;
  BitTester bits[2];
  bits[0].tx = 0x1234567, bits[1].tx = 0x7654321;
  PumpPair pair(type, {.snr_db = 30}, {bits[0].port(), bits[1].port()});
  if (!pair.connect(15)) return 1;
  pair.set_snr(snr_db);
  pair.run(8000);
  for (BitTester& b : bits) b.good = b.bad = 0;
  pair.run(seconds * 8000);
  const auto bad = double(bits[0].bad + bits[1].bad) / 3;
  return bad / double(bits[0].good + bits[1].good);
}

int need() {
  constexpr double kBandDb = 8.239;  // 4000 Hz over 600 Hz
  constexpr double kStep = 0.25;
  constexpr size_t kSeconds = 200;
  std::printf("| pump | SNR in 600 Hz for a bit error rate of 1e-5, in steps of %.2f dB |\n|---|---|\n", kStep);
  const struct {
    const char* name;
    const oh_pump_type* type;
  } rows[] = {{"ours", oh_v22bis_type()}, {"spandsp's", offhook::test::spandsp::v22bis_type()}};
  for (const auto& row : rows) {
    double snr = 7;
    while (snr < 25 && error_rate(row.type, snr, kSeconds) > 1e-5) snr += kStep;
    std::printf("| %s | %.1f |\n", row.name, snr + kBandDb);
    std::fflush(stdout);
  }
  // 16 points: a quarter of the symbol errors per bit, and twice that for each differential pair.
  double low = 0, high = 40;
  while (high - low > 0.001) {
    const double db = (low + high) / 2;
    const double q = 0.5 * std::erfc(std::sqrt(std::pow(10, db / 10) / 10));
    (0.25 * 3 * q * 1.5 > 1e-5 ? low : high) = db;
  }
  std::printf("| 16 points in theory, before the descrambler | %.1f |\n", high);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "need") == 0) return need();
  if (argc > 2 && std::strcmp(argv[1], "cost") == 0) return count<OwnEnds>(std::atoi(argv[2]));
  if (argc > 2 && std::strcmp(argv[1], "spandsp") == 0) return count<SpandspEnds>(std::atoi(argv[2]));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
