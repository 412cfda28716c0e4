// SPDX-License-Identifier: MIT
//
// One direction of V.34 from bits to bits over a line: training, then data mode at a rate, with and without precoder
// and non-linear encoder, over the channels of hostsim.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "dsp/v34/coding/framing.h"
#include "dsp/v34/session/data_mode.h"
#include "dsp/v34/session/rate_choice.h"
#include "hostsim/channel/channel.h"
#include "tests/unit/dsp/v34/modem_line.h"

namespace offhook::v34 {
namespace {

struct Case {
  SymbolRate rate;
  Carrier carrier;
  uint32_t bit_rate;
  double snr_db;
  const char* channel = nullptr;
  int ppm = 0;
  double hz = 0;
  bool precoder = false;
  bool nonlinear = false;
};

struct Outcome {
  double training_snr_db = 0;
  double after_whitening_db = 0;  // the noise predictor's expectation
  double data_snr_db = 0;
  uint64_t bits = 0;
  uint64_t errors = 0;
};

constexpr int kTrn = 4096;
constexpr int kDataSymbols = 12000;

std::vector<float> filtered(const std::vector<float>& x, const char* name) {
  const auto filter = hostsim::design_channel(hostsim::channel_characteristic(name));
  std::vector<float> y(x.size());
  for (size_t n = 0; n < x.size(); ++n) {
    double sum = 0;
    for (size_t k = 0; k < hostsim::kChannelTaps && k <= n; ++k) {
      sum += static_cast<double>(filter.in_phase[k]) * static_cast<double>(x[n - k]);
    }
    y[n] = static_cast<float>(sum);
  }
  return y;
}

// A receiver requests a precoder before data mode begins, so the call runs twice, first to learn it.
Outcome run(const Case& c) {
  PrecoderCoefficients h{};
  Outcome o;
  for (int pass = 0; pass < (c.precoder ? 2 : 1); ++pass) {
    const DataParameters p{
        {make_framing(c.rate, c.bit_rate, false, true), kGpa, TrellisCode::k64, h}, c.nonlinear, c.bit_rate};
    std::vector<uint8_t> sent;
    Random random(11, 0);
    struct Port {
      std::vector<uint8_t>* sent;
      Random* random;
      std::vector<uint8_t> received;
    } port{&sent, &random, {}};
    const DataPort tx_port{
        {[](void* u) {
           auto* q = static_cast<Port*>(u);
           q->sent->push_back(static_cast<uint8_t>(q->random->bit()));
           return static_cast<int>(q->sent->back());
         },
         [](void* u, int bit) { static_cast<Port*>(u)->received.push_back(static_cast<uint8_t>(bit)); }, &port},
        {}};
    Modulator m;
    m.init(band(c.rate, c.carrier), kTestRms);
    TrainingSource training(kGpa, true, 100);
    DataTransmitter data(p);
    int symbols = 0;
    constexpr int kBefore = 100 + 128 + 16 + 288 + kTrn;
    const auto samples = static_cast<size_t>((kBefore + kDataSymbols) * 8000 / symbol_rate_hz(c.rate));
    auto line =
        modulate(m, samples, [&] { return symbols++ < kBefore ? training() : data.next(tx_port, data.b1_sent()); });
    if (c.channel != nullptr) line = filtered(line, c.channel);
    if (c.ppm != 0) line = clocked(line, c.ppm);
    if (c.hz != 0) line = shifted(line, c.hz);
    double power = 0;
    for (size_t n = line.size() / 4; n < line.size() / 2; ++n) power += static_cast<double>(line[n]) * line[n];
    add_noise(&line, c.snr_db, 5, std::sqrt(power / static_cast<double>(line.size() / 2 - line.size() / 4)));

    Receiver receiver;
    receiver.init(band(c.rate, c.carrier), kPp);
    receiver.set_task(Receiver::Task::kTrain);
    ReceiveSignals signals(kGpa);
    DataReceiver data_rx;
    bool following = false, in_data = false;
    double error = 0, size = 0;
    int counted = 0;
    for (const float v : line) {
      const bool symbol = receiver.process(v);
      if (receiver.take_event() == Receiver::Event::kSBar) {
        signals.start(receiver.symbols_skipped(), true, TrainingPoints::k4, 512);
        receiver.set_task(Receiver::Task::kFollow);
        following = true;
        continue;
      }
      if (!symbol || !following) continue;
      const Complex y = receiver.symbol();
      if (in_data) {
        const Complex sent_point = data_rx.decide(y);
        receiver.adapt(sent_point);
        data_rx.put(tx_port, true);
        if (++counted > 2000) {
          error += data_rx.variance() * 2;
          size += p.mean_energy();
        }
        continue;
      }
      const Complex point = signals.decide(y);
      receiver.adapt(point);
      signals.put(y);
      if (signals.trn_symbols() == kTrn) {
        o.training_snr_db = 10 * std::log10(receiver.snr());
        if (pass == 0) {
          Complex filter[qam::NoisePredictor::kOrder];
          o.after_whitening_db = -10 * std::log10(receiver.noise().solve(filter));
          if (c.precoder) h = to_coefficients(filter);
        }
        receiver.set_format(p.format());
        data_rx = DataReceiver(p);
        in_data = true;
      }
    }
    o.data_snr_db = 10 * std::log10(size / error);
    o.bits = port.received.size();
    o.errors = 0;
    for (size_t k = 0; k < port.received.size() && k < sent.size(); ++k) o.errors += port.received[k] != sent[k];
  }
  return o;
}

void print(const Case& c, const Outcome& o) {
  std::printf(
      "%5u at %.0f, SNR %.0f dB, %-16s %4d ppm %4.1f Hz%s%s: training %.1f dB (whitened %.1f), data %.1f dB, %llu "
      "errors in %llu\n",
      c.bit_rate, symbol_rate_hz(c.rate), c.snr_db, c.channel == nullptr ? "no filter" : c.channel, c.ppm, c.hz,
      c.precoder ? " precoder" : "", c.nonlinear ? " non-linear" : "", o.training_snr_db, o.after_whitening_db,
      o.data_snr_db, static_cast<unsigned long long>(o.errors), static_cast<unsigned long long>(o.bits));
}

TEST(V34Data, CleanLineAtEverySymbolRatesHighestRate) {
  const Case cases[] = {{SymbolRate::k2400, Carrier::kLow, 21600, 60},
                        {SymbolRate::k2743, Carrier::kHigh, 26400, 60},
                        {SymbolRate::k2800, Carrier::kLow, 26400, 60},
                        {SymbolRate::k3000, Carrier::kHigh, 28800, 60},
                        {SymbolRate::k3200, Carrier::kLow, 31200, 60},
                        {SymbolRate::k3429, Carrier::kLow, 33600, 60},
                        {SymbolRate::k3429, Carrier::kLow, 33600, 60, nullptr, 100, 7},
                        {SymbolRate::k3429, Carrier::kLow, 33600, 60, nullptr, -100, -7, false, true}};
  for (const Case& c : cases) {
    const Outcome o = run(c);
    print(c, o);
    EXPECT_GT(o.bits, 60000u);
    EXPECT_EQ(o.errors, 0u);
  }
}

TEST(V34Data, ThirtyThreeSixAtThirtyEightDecibels) {
  const Case c{SymbolRate::k3429, Carrier::kLow, 33600, 38};
  const Outcome o = run(c);
  print(c, o);
  EXPECT_LT(static_cast<double>(o.errors), 1e-3 * static_cast<double>(o.bits));
}

// A channel that falls at the band's edge colours the noise; the precoder recovers part of the loss. V34-9.6.2-5, -6.
TEST(V34Data, ThePrecoderWinsWhatTheNoisePredictorForetold) {
  for (const bool nonlinear : {false, true}) {
    Case c{SymbolRate::k3200, Carrier::kHigh, 24000, 42, "v56bis-ad6-edd1", 50, 1, false, nonlinear};
    const Outcome without = run(c);
    print(c, without);
    c.precoder = true;
    const Outcome with = run(c);
    print(c, with);
    EXPECT_EQ(with.errors, 0u);
    EXPECT_GT(with.bits, 60000u);
    EXPECT_GT(with.data_snr_db, without.data_snr_db + 0.6);
    EXPECT_NEAR(with.data_snr_db, with.after_whitening_db, 1);
  }
}

TEST(V34Data, ChannelsOfTheNetwork) {
  for (const char* name : {"flat", "v56bis-ad1-edd1", "v56bis-ad6-edd1"}) {
    const Case c{SymbolRate::k3200, Carrier::kLow, 19200, 45, name, 30, 0};
    const Outcome o = run(c);
    print(c, o);
    EXPECT_EQ(o.errors, 0u) << name;
  }
}

}  // namespace
}  // namespace offhook::v34
