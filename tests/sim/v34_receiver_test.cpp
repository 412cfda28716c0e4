// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "dsp/qam/receiver.h"
#include "dsp/v34/coding/framing.h"
#include "dsp/v34/coding/pre_emphasis.h"
#include "hostsim/channel/channel.h"
#include "tests/unit/dsp/v34/modem_line.h"

namespace offhook::v34 {
namespace {

std::vector<float> training(SymbolRate rate, Carrier carrier, size_t samples, int pre_emphasis = 0, bool pp = true) {
  Modulator m;
  m.init(band(rate, carrier), kTestRms, {pre_emphasis_db, pre_emphasis});
  TrainingSource source(kGpa, pp, 100);
  return modulate(m, samples, source);
}

Heard train(SymbolRate rate, Carrier carrier, const std::vector<float>& line, Receiver* receiver,
            const Kernels& kernels = best_kernels()) {
  receiver->init(band(rate, carrier), kPp, kernels);
  receiver->set_task(Receiver::Task::kTrain);
  return hear(*receiver, line, kGpa, true);
}

// V34-S, V34-PP, V34-TRN: found at their positions, with each symbol of TRN in its place from the first one on.
TEST(V34Receiver, V34_PP_OpensTheEyeAtEverySymbolRateAndCarrier) {
  for (int s = 0; s < kSymbolRates; ++s) {
    for (const Carrier c : {Carrier::kLow, Carrier::kHigh}) {
      const auto rate = static_cast<SymbolRate>(s);
      Receiver receiver;
      const Heard h = train(rate, c, training(rate, c, 16000), &receiver);
      EXPECT_EQ(h.s_bar, 1);
      EXPECT_GT(h.symbols, 4000);
      EXPECT_EQ(h.wrong, 0) << "the first symbol given out is the first of TRN";
      EXPECT_GT(h.snr_db, 70) << symbol_rate_hz(rate) << ", the receiver's own noise on a clean line";
    }
  }
}

TEST(V34Receiver, MeasuresAndFollowsClockAndCarrier) {
  for (const int ppm : {-160, -100, 100, 160}) {
    for (const double hz : {-7.0, 7.0}) {
      Receiver receiver;
      const auto line = shifted(clocked(training(SymbolRate::k3200, Carrier::kHigh, 24000), ppm), hz);
      const Heard h = train(SymbolRate::k3200, Carrier::kHigh, line, &receiver);
      EXPECT_EQ(h.wrong, 0);
      EXPECT_GT(h.snr_db, 50) << ppm << " ppm, " << hz << " Hz";
      EXPECT_NEAR(receiver.clock_ppm(), ppm, 1);
      // The far clock also changes the far carrier.
      EXPECT_NEAR(receiver.carrier_offset_hz(), hz + 1920e-6 * ppm, 0.05);
    }
  }
}

// White noise over the whole band: the error is the noise in the symbol's own bandwidth, within half a decibel.
TEST(V34Receiver, LosesLessThanHalfADecibelToNoise) {
  for (const double snr_db : {15.0, 25.0, 38.0}) {
    Receiver receiver;
    auto line = training(SymbolRate::k3429, Carrier::kLow, 32000);
    add_noise(&line, snr_db, 3);
    const Heard h = train(SymbolRate::k3429, Carrier::kLow, line, &receiver);
    const double ideal_db = snr_db + 10 * std::log10(3400 / symbol_rate_hz(SymbolRate::k3429));
    EXPECT_EQ(h.wrong, 0);
    EXPECT_GT(h.snr_db, ideal_db - 0.5) << snr_db;
    EXPECT_LT(h.snr_db, ideal_db + 0.5) << snr_db << ": too good to be true";
    EXPECT_NEAR(10 * std::log10(receiver.snr()), ideal_db, 1);
  }
}

// The telephone channel ends within the band of 3429 symbols/s. Taps from least squares over the whole signal reach
// 27.65 and 35.56 dB (96 taps, exact solution). LMS alone reaches 26.3 and 32 dB after as many symbols.
TEST(V34Receiver, FindsTheEqualiserOfATelephoneChannelWithinTheTrn) {
  const hostsim::ChannelFilter channel = hostsim::design_channel(hostsim::channel_characteristic("flat"));
  for (const auto& [snr_db, optimum_db] : {std::pair{28.0, 27.65}, std::pair{36.0, 35.56}}) {
    const auto sent = training(SymbolRate::k3429, Carrier::kLow, 8800);
    std::vector<float> line(sent.size());
    double power = 0;
    for (size_t n = 0; n < line.size(); ++n) {
      for (size_t k = 0; k < channel.in_phase.size() && k <= n; ++k) line[n] += channel.in_phase[k] * sent[n - k];
      power += line[n] * line[n] / static_cast<double>(line.size());
    }
    add_noise(&line, snr_db, 3, std::sqrt(power));
    Receiver receiver;
    const Heard h = train(SymbolRate::k3429, Carrier::kLow, line, &receiver);
    EXPECT_LT(h.symbols, 3300) << "of which the last 1000 count";
    EXPECT_EQ(h.wrong, 0);
    EXPECT_GT(h.snr_db, optimum_db - 0.6) << snr_db;
  }
}

TEST(V34Receiver, UndoesEveryPreEmphasis) {
  for (const int index : {5, 10}) {
    Receiver receiver;
    const auto line = training(SymbolRate::k3000, Carrier::kLow, 16000, index);
    EXPECT_GT(train(SymbolRate::k3000, Carrier::kLow, line, &receiver).snr_db, 60) << index;
  }
}

// The far end's Phase 4, or a renegotiation: the signal was absent, and carrier and clock have changed.
TEST(V34Receiver, ResumesOnSWithoutPp) {
  for (const double hz : {0.0, 3.0}) {
    for (const int silence : {300, 3001, 6002}) {
      Modulator m;
      m.init(band(SymbolRate::k3200, Carrier::kHigh), kTestRms);
      TrainingSource first(kGpa, true, 100);
      TrainingSource second(kGpa, false, silence);
      auto line = modulate(m, 12000, first);
      const auto rest = modulate(m, 24000, second);
      line.insert(line.end(), rest.begin(), rest.end());
      line = shifted(clocked(line, 100), hz);
      add_noise(&line, 30, 5);
      const auto cut = line.begin() + 12000 + 200;
      Receiver receiver;
      EXPECT_EQ(train(SymbolRate::k3200, Carrier::kHigh, {line.begin(), cut - 400}, &receiver).wrong, 0);
      receiver.set_task(Receiver::Task::kHold);
      for (auto at = cut - 400; at != cut; ++at) receiver.process(*at);
      receiver.set_task(Receiver::Task::kResume);
      const Heard h = hear(receiver, {cut, line.end()}, kGpa, false);
      EXPECT_EQ(h.s_bar, 1);
      EXPECT_GT(h.symbols, 1000);
      EXPECT_EQ(h.wrong, 0) << silence << " symbols of silence, " << hz << " Hz";
      EXPECT_GT(h.snr_db, 28);
    }
  }
}

TEST(V34Receiver, NeitherNoiseNorTonesAreS) {
  Random random(1, 1);
  for (const double hz : {0.0, 1200.0, 1800.0, 2100.0, 2400.0}) {
    Receiver receiver;
    receiver.init(band(SymbolRate::k3000, Carrier::kLow), kPp);
    receiver.set_task(Receiver::Task::kTrain);
    int events = 0;
    for (int n = 0; n < 40000; ++n) {
      const double tone = hz > 0 ? 3000 * std::cos(2 * std::numbers::pi * hz * n / 8000) : 3000 * random.gaussian();
      receiver.process(static_cast<float>(tone + 3 * random.gaussian()));
      events += receiver.take_event() != Receiver::Event::kNone;
    }
    EXPECT_EQ(events, 0) << hz;
  }
}

TEST(V34Receiver, SurvivesAGapOf20Ms) {
  for (const int lost : {40, 160}) {
    auto line = clocked(training(SymbolRate::k3429, Carrier::kLow, 40000), 100);
    Receiver receiver;
    EXPECT_EQ(train(SymbolRate::k3429, Carrier::kLow, {line.begin(), line.begin() + 16000}, &receiver).wrong, 0);
    int given = 0, wrong = 0, erased = 0;
    ReceiveSignals signals(kGpa);
    // The reference is TRN, known by its number; finds the number at which hear() stopped.
    Receiver twin = receiver;
    TrainingEncoder trn(kGpa, TrainingPoints::k4);
    std::vector<Point> known;
    for (int n = 0; n < 20000; ++n) known.push_back(trn.trn());
    std::vector<int> decided;
    for (size_t n = 16000; n < 17000; ++n) {
      if (twin.process(line[n])) decided.push_back((twin.symbol().re > 0) + 2 * (twin.symbol().im > 0));
    }
    size_t at = 0;
    for (; at < 10000; ++at) {
      bool same = true;
      for (size_t k = 0; k < decided.size() && same; ++k) {
        same = decided[k] == (known[at + k].re > 0) + 2 * (known[at + k].im > 0);
      }
      if (same) break;
    }
    ASSERT_LT(at, 10000u);
    for (size_t n = 16000; n < line.size(); ++n) {
      const bool gap = n >= 20000 && n < 20000 + static_cast<size_t>(lost);
      if (gap ? receiver.process_lost() : receiver.process(line[n])) {
        const Point p = known[at++];
        const Complex y = receiver.symbol();
        ++given;
        if (receiver.erased()) {
          ++erased;
        } else {
          wrong += !(y.re * static_cast<float>(p.re) > 0 && y.im * static_cast<float>(p.im) > 0);
        }
        receiver.adapt({static_cast<float>(p.re), static_cast<float>(p.im)});
      }
    }
    EXPECT_GT(given, 9000);
    EXPECT_EQ(wrong, 0) << lost;
    EXPECT_LT(erased, (lost + 400) * 3 / 7);
    EXPECT_GT(10 * std::log10(receiver.snr()), 45);
  }
}

TEST(V34Receiver, InstructionSetsGiveTheSame) {
  auto line = training(SymbolRate::k3429, Carrier::kLow, 16000);
  add_noise(&line, 38, 4);
  Receiver usual;
  const Heard expected = train(SymbolRate::k3429, Carrier::kLow, line, &usual);
  for (const InstructionSet set : kInstructionSets) {
    if (!cpu_has(set)) continue;
    Receiver receiver;
    EXPECT_EQ(train(SymbolRate::k3429, Carrier::kLow, line, &receiver, kernels_for(set)).snr_db, expected.snr_db);
    EXPECT_EQ(receiver.clock_ppm(), usual.clock_ppm());
  }
}

// 9.6.2: noise coloured by an all-pole filter is whitened by that filter.
TEST(V34NoisePredictor, FindsTheFilterThatColouredTheNoise) {
  const Complex h[3] = {{-0.6f, 0.2f}, {0.3f, -0.1f}, {-0.05f, 0.01f}};
  qam::NoisePredictor predictor;
  Random random(1, 2);
  Complex last[3]{};
  for (int n = 0; n < 200000; ++n) {
    Complex e{static_cast<float>(random.gaussian()), static_cast<float>(random.gaussian())};
    for (int k = 0; k < 3; ++k) e = e - h[k] * last[k];
    predictor.put(e);
    last[2] = last[1], last[1] = last[0], last[0] = e;
  }
  Complex found[3];
  const float left = predictor.solve(found);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(found[k].re, h[k].re, 0.08);
    EXPECT_NEAR(found[k].im, h[k].im, 0.08);
  }
  EXPECT_LT(left, predictor.power());
  EXPECT_NEAR(left, 2, 0.2);
}

}  // namespace
}  // namespace offhook::v34
