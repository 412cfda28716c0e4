// SPDX-License-Identifier: MIT
//
// Cost of V.34 at 3429 symbols/s and 33 600 bit/s. The coding blocks: as channels of 8000 samples/s that one core could
// run if it did nothing else, beside the goal for a whole channel, 300. Whole channels: in nanoseconds a sample, beside
// spandsp's V.17 and V.29 and what the closed modem takes.
#include <benchmark/benchmark.h>
#include <spandsp.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <vector>

#include "dsp/qam/echo_canceller.h"
#include "dsp/qam/modulator.h"
#include "dsp/qam/receiver.h"
#include "dsp/v34/coding/encoder.h"
#include "dsp/v34/coding/training.h"
#include "dsp/v34/coding/viterbi.h"
#include "dsp/v34/session/data_mode.h"
#include "tests/unit/dsp/v34/coding_gain.h"

namespace offhook::v34 {
namespace {

using qam::EchoCanceller;
using qam::Modulator;
using qam::Receiver;
constexpr Band kBand = band(SymbolRate::k3429, Carrier::kLow);

constexpr PrecoderCoefficients kH{{{-9830, 3277}, {4915, -1638}, {-820, 16}}};

CodingParameters parameters(TrellisCode code) {
  return {make_framing(SymbolRate::k3429, 33600, false, true), kGpc, code, kH};
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
  ViterbiDecoder decoder(code, static_cast<InstructionSet>(state.range(1)));
  for (auto _ : state) {
    for (size_t at = 0; at < received.size(); at += 4) {
      Point out[2];
      decoder.decode(&received[at], false, out);
      benchmark::DoNotOptimize(out);
    }
  }
  report(state, 4096);
}
BENCHMARK(BM_Viterbi)->ArgsProduct({{0, 1, 2}, {0, 1, 2}})->Name("viterbi/16_32_64_states/plain_avx2_avx512");

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

// The total cost of one channel in data mode, per sample of each direction: encoder, modulator, echo canceller,
// receiver, Viterbi decoder (64 states), decoder; with precoder and non-linear encoding.
class Channel {
 public:
  Channel(const Kernels& kernels, bool echo) : echo_(echo) {
    const DataParameters p{parameters(TrellisCode::k64), true, 33600};
    tx_ = DataTransmitter(p);
    far_ = DataTransmitter(p);
    rx_ = DataReceiver(p);
    modulator_.init(kBand, 2000, {}, {}, kernels);
    far_modulator_.init(kBand, 2000, {}, {}, kernels);
    receiver_.init(kBand, {pp_symbol, kPpSymbols}, kernels);
    canceller_.init(kBand, 0, 800, kernels);
    // S, S-bar, PP and TRN from the far end, so that the receiver runs.
    int n = 0;
    TrainingEncoder trn(kGpc, TrainingPoints::k4);
    receiver_.set_task(Receiver::Task::kTrain);
    for (int sample = 0; sample < 16000; ++sample) {
      if (far_modulator_.wants_symbol()) {
        const int k = n++ - 100;
        Point q{};
        Complex a{};
        if (k >= 432) q = trn.trn();
        if (k >= 0 && k < 128) q = s_symbol(k);
        if (k >= 128 && k < 144) q = s_bar_symbol(k);
        a = 0.70710678f * Complex{static_cast<float>(q.re), static_cast<float>(q.im)};
        if (k >= 144 && k < 432) a = unit_phasor(phase_of(pp_phase(k - 144) / 12.0));
        far_modulator_.put(a);
      }
      if (receiver_.process(far_modulator_.next())) {
        const Complex y = receiver_.symbol();
        receiver_.adapt({y.re < 0 ? -1.f : 1.f, y.im < 0 ? -1.f : 1.f});
      }
      if (receiver_.take_event() == Receiver::Event::kSBar) receiver_.set_task(Receiver::Task::kFollow);
    }
    trained_ = receiver_.trained();
    train_canceller();
    receiver_.set_format(p.format());
    for (int sample = 0; sample < kLine; ++sample) {
      if (far_modulator_.wants_symbol()) far_modulator_.put(far_.next({}, false));
      line_[sample] = far_modulator_.next();
    }
  }
  bool trained() const { return trained_; }
  float step() {
    const float x = line_[at_];
    at_ = at_ + 1 == kLine ? 0 : at_ + 1;
    // The line has no echo, so the output of the canceller is discarded.
    if (echo_) benchmark::DoNotOptimize(canceller_.process(x));
    if (receiver_.process(x)) {
      receiver_.adapt(rx_.decide(receiver_.symbol()));
      rx_.put(kDropped, true);
    }
    return transmit();
  }
  float transmit() {
    if (modulator_.wants_symbol()) modulator_.put(tx_.next({}, false));
    const float tx = modulator_.next();
    if (echo_) canceller_.put(tx);
    return tx;
  }

 private:
  // Echoes of 5 ms, near and far, so that as many taps run as on a line.
  void train_canceller() {
    if (!echo_) return;
    constexpr int kHybrid = 40, kFar = 800, kSamples = 16000;
    std::vector<float> sent(kFar + kHybrid);
    const auto hybrid = [&](int delay) {
      float y = 0;
      for (int k = 0; k < kHybrid; ++k)
        y += 0.1f * static_cast<float>(kHybrid - k) / kHybrid * sent[sent.size() - 1 - static_cast<size_t>(delay + k)];
      return y;
    };
    canceller_.set_training(true);
    for (int n = 0; n < kSamples; ++n) {
      canceller_.process(hybrid(0) + 0.1f * hybrid(kFar - 1));
      sent.push_back(transmit());
    }
    canceller_.set_training(false);
  }

  static constexpr int kLine = 7 * 8000;
  static constexpr DataPort kDropped{{nullptr, nullptr, nullptr, nullptr, [](void*, const uint8_t*, size_t) {}}, {}};
  bool echo_;
  bool trained_ = false;
  int at_ = 0;
  DataTransmitter tx_, far_;
  DataReceiver rx_;
  Modulator modulator_, far_modulator_;
  Receiver receiver_;
  EchoCanceller canceller_;
  float line_[kLine];
};

// Blocks of 10 ms, repeating the 28 of a superframe, after which everything is periodic. The worst block is the one
// with the greatest least time, and the mean is also one of least times, so other work of the machine does not count.
constexpr int kBlock = 80;
constexpr int kBlocks = 28;

template <class RunBlock>
void measure(benchmark::State& state, RunBlock run_block) {
  using Clock = std::chrono::steady_clock;
  Clock::duration least[kBlocks];
  std::fill(least, least + kBlocks, Clock::duration::max());
  for (auto _ : state) {
    for (auto& block : least) {
      const auto begin = Clock::now();
      run_block();
      block = std::min(block, Clock::now() - begin);
    }
  }
  const auto ns = [](auto d) { return static_cast<double>(std::chrono::nanoseconds(d).count()); };
  const double mean =
      std::accumulate(least, least + kBlocks, 0.0, [&](double s, auto d) { return s + ns(d); }) / kBlocks;
  state.counters["ns_a_sample"] = mean / kBlock;
  state.counters["worst_block_to_mean"] = ns(*std::max_element(least, least + kBlocks)) / mean;
  state.counters["goal_ns"] = 400;
  state.counters["closed_modem_ns"] = 2080;
}

std::unique_ptr<Channel> make_channel(benchmark::State& state, bool echo) {
  const auto set = static_cast<InstructionSet>(state.range(0));
  if (!cpu_has(set)) {
    state.SkipWithError("not on this processor");
    return nullptr;
  }
  auto channel = std::make_unique<Channel>(kernels_for(set), echo);
  if (!channel->trained()) state.SkipWithError("the receiver did not train");
  return channel;
}

void BM_Transmit(benchmark::State& state) {
  const auto channel = make_channel(state, false);
  if (!channel) return;
  measure(state, [&] {
    for (int k = 0; k < kBlock; ++k) benchmark::DoNotOptimize(channel->transmit());
  });
}
BENCHMARK(BM_Transmit)->Arg(0)->Arg(1)->Arg(2)->Name("transmit/plain_avx2_avx512");

void BM_Channel(benchmark::State& state) {
  const auto channel = make_channel(state, state.range(1) != 0);
  if (!channel) return;
  measure(state, [&] {
    for (int k = 0; k < kBlock; ++k) benchmark::DoNotOptimize(channel->step());
  });
}
BENCHMARK(BM_Channel)->ArgsProduct({{0, 1, 2}, {0, 1}})->Name("transmit_and_receive/plain_avx2_avx512/echo_canceller");

// The benchmark targets: Debian's spandsp, transmitter into receiver, in data mode.
int one(void*) {
  return 1;
}
void note(void* trained, int bit) {
  if (bit == SIG_STATUS_TRAINING_SUCCEEDED) *static_cast<bool*>(trained) = true;
}

template <class Tx, class Rx>
void spandsp(benchmark::State& state, Tx* tx, Rx* rx, int (*send)(Tx*, int16_t*, int),
             int (*receive)(Rx*, const int16_t*, int), const bool* trained) {
  const auto run_block = [&] {
    int16_t block[kBlock];
    send(tx, block, kBlock);
    receive(rx, block, kBlock);
    benchmark::DoNotOptimize(block);
  };
  for (int k = 0; k < 300 && !*trained; ++k) run_block();
  if (!*trained) return state.SkipWithError("the receiver did not train");
  measure(state, run_block);
}
void BM_V17(benchmark::State& state) {
  bool trained = false;
  spandsp(state, v17_tx_init(nullptr, 14400, 0, one, nullptr), v17_rx_init(nullptr, 14400, note, &trained), v17_tx,
          v17_rx, &trained);
}
BENCHMARK(BM_V17)->Name("spandsp_v17/14400");
void BM_V29(benchmark::State& state) {
  bool trained = false;
  spandsp(state, v29_tx_init(nullptr, 9600, 0, one, nullptr), v29_rx_init(nullptr, 9600, note, &trained), v29_tx,
          v29_rx, &trained);
}
BENCHMARK(BM_V29)->Name("spandsp_v29/9600");

}  // namespace
}  // namespace offhook::v34

BENCHMARK_MAIN();
