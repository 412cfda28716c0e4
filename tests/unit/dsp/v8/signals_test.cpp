// SPDX-License-Identifier: MIT
// The signals of V.8 and their passive receivers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "dsp/blocks/level.h"
#include "dsp/v8/answer_tone.h"
#include "dsp/v8/fsk.h"

namespace offhook::v8 {
namespace {

constexpr double kPi = 3.14159265358979323846;

double mean_square(const std::vector<float>& x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v) * static_cast<double>(v);
  return sum / static_cast<double>(x.size());
}

std::vector<float> ansam(double seconds, bool reversals = true) {
  AnsamGenerator generator(-12, reversals);
  std::vector<float> x(static_cast<size_t>(seconds * 8000));
  for (float& v : x) v = generator.next();
  return x;
}

// Checklist V8-1: frequency, modulation, reversals, spectrum of ANSam.
TEST(V8Signals, V8_1_AnsamHasTheFrequencyTheModulationAndTheReversalsOfTheText) {
  const std::vector<float> x = ansam(3.6);
  EXPECT_NEAR(mean_square_to_dbm0(mean_square(x)), -12, 0.05);

  // Baseband by averages over 80 samples (21 whole periods of 2100 Hz).
  std::vector<std::complex<double>> y;
  for (size_t n = 0; n + 80 <= x.size(); n += 20) {
    std::complex<double> sum = 0;
    for (size_t k = n; k < n + 80; ++k) {
      sum += static_cast<double>(x[k]) * std::polar(1., -2 * kPi * 2100 * static_cast<double>(k) / 8000);
    }
    y.push_back(sum / 40.);
  }
  std::vector<double> reversal_s;
  double mean = 0, low = 1e9, high = 0;
  int count = 0;
  for (size_t k = 4; k < y.size(); ++k) {
    const double turn = std::abs(std::arg(y[k] * std::conj(y[k - 4])));
    if (turn > 2 && (reversal_s.empty() || static_cast<double>(k) / 400 > reversal_s.back() + 0.1))
      reversal_s.push_back(static_cast<double>(k) / 400);
    if (turn > 0.01) continue;  // no change of phase except the reversals, so the frequency is exact
    if (k > 8 && k + 8 < y.size() && std::abs(std::arg(y[k + 8] * std::conj(y[k - 8]))) > 0.01) continue;
    const double envelope = std::abs(y[k]);
    mean += envelope, ++count;
    low = std::min(low, envelope), high = std::max(high, envelope);
  }
  mean /= count;
  EXPECT_NEAR(low / mean, 0.8, 0.01);
  EXPECT_NEAR(high / mean, 1.2, 0.01);
  ASSERT_EQ(reversal_s.size(), 7u);  // in 3.6 s
  for (size_t k = 1; k < reversal_s.size(); ++k) EXPECT_NEAR(reversal_s[k] - reversal_s[k - 1], 0.45, 0.003);
}

TEST(V8Signals, V8_1_AnsamHasNoPowerBesides24dBBelowOutside200Hz) {
  const std::vector<float> x = ansam(7.2);
  // The power outside a 400 Hz band around 2100 Hz: sum over 1 Hz steps of a DFT over 0.9 s, two reversal periods.
  const size_t length = 7200;
  double total = 0, inside = 0;
  for (size_t k = 0; k < length; ++k) total += static_cast<double>(x[3600 + k]) * static_cast<double>(x[3600 + k]);
  for (int bin = 1710; bin <= 2070; ++bin) {  // 1900 to 2300 Hz in 8000 / 7200 Hz
    std::complex<double> sum = 0;
    for (size_t k = 0; k < length; ++k) {
      sum += static_cast<double>(x[3600 + k]) *
             std::polar(1., -2 * kPi * static_cast<double>(bin * k % length) / static_cast<double>(length));
    }
    inside += 2 * std::norm(sum) / static_cast<double>(length);
  }
  EXPECT_LT(10 * std::log10((total - inside) / total), -24);
}

struct Heard {
  AnswerTone tone;
  int reversals;
  double after_s;
  float depth;
};
Heard listen(const std::vector<float>& x, double snr_db = 100, unsigned seed = 1) {
  AnswerToneDetector detector;
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, static_cast<float>(std::sqrt(mean_square(x)) * std::pow(10, -snr_db / 20)));
  Heard heard{AnswerTone::kNone, 0, 0, 0};
  for (size_t n = 0; n < x.size(); ++n) {
    detector.put(x[n] + noise(random));
    if (detector.tone() >= AnswerTone::kAns && heard.tone != detector.tone()) {
      heard = {detector.tone(), 0, static_cast<double>(n) / 8000, detector.depth()};
    }
  }
  heard.reversals = detector.reversals();
  return heard;
}

TEST(V8Signals, AnsamIsToldFromAnsDownTo10dB) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Heard with = listen(ansam(2.2), 10, seed);
    EXPECT_EQ(with.tone, AnswerTone::kAnsam);
    EXPECT_LT(with.after_s, 0.3);
    EXPECT_NEAR(static_cast<double>(with.depth), 0.2, 0.04);
    EXPECT_EQ(with.reversals, 4);

    std::vector<float> plain(17600);
    for (size_t n = 0; n < plain.size(); ++n) {
      const bool reversed = n / 3600 % 2;
      plain[n] =
          static_cast<float>((reversed ? -5000 : 5000) * std::cos(2 * kPi * 2099.67 * static_cast<double>(n) / 8000));
    }
    const Heard without = listen(plain, 10, seed);  // as ANSpcm sounds
    EXPECT_EQ(without.tone, AnswerTone::kAns);
    EXPECT_LT(without.after_s, 0.5);
    EXPECT_EQ(without.reversals, 4);
  }
}

// The limit is relative to the RMS of the tone, so 1 leaves an envelope of 0.95 to 1.05.
TEST(V8Signals, AnsamThatTheLineLimitsIsStillAnsam) {
  for (const double limit : {1.4, 1., 0.75, 0.5}) {
    for (const bool reversals : {true, false}) {
      std::vector<float> x = ansam(2.2, reversals);
      const auto peak = static_cast<float>(limit * std::sqrt(mean_square(x)));
      for (float& v : x) v = std::round(std::clamp(v, -peak, peak));
      for (unsigned seed = 1; seed <= 5; ++seed) {
        const Heard heard = listen(x, 37, seed);  // the noise of G.711
        EXPECT_EQ(heard.tone, AnswerTone::kAnsam) << limit;
        EXPECT_LT(heard.after_s, 0.7) << limit;
      }
    }
  }
}

TEST(V8Signals, PlainAnsInNoiseIsNeverAnsam) {
  for (const double snr_db : {5., 10., 20., 40.}) {
    int wrong = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
      std::vector<float> plain(8000);
      for (size_t n = 0; n < plain.size(); ++n) {
        plain[n] = static_cast<float>(5000 * std::cos(2 * kPi * 2100 * static_cast<double>(n) / 8000));
      }
      wrong += listen(plain, snr_db, seed).tone == AnswerTone::kAnsam;
    }
    EXPECT_EQ(wrong, 0) << snr_db;
  }
}

TEST(V8Signals, OtherTonesAndNoiseAreNoAnswerTone) {
  for (const int hz : {440, 1300, 1650, 1850, 2000, 2050, 2150, 2200, 2225, 2250, 2400}) {
    std::vector<float> x(16000);
    for (size_t n = 0; n < x.size(); ++n) {
      x[n] = static_cast<float>(5000 * std::cos(2 * kPi * hz * static_cast<double>(n) / 8000));
    }
    EXPECT_EQ(listen(x, 30).tone, AnswerTone::kNone) << hz;
  }
  std::vector<float> noise(80000);
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 3000);
  for (float& v : noise) v = normal(random);
  EXPECT_EQ(listen(noise).tone, AnswerTone::kNone);
}

// All octets through noise, with a strong signal of the other channel and clocks that differ by 2 %.
struct FskCase {
  double snr_db;
  double other_db;  // the other channel's level above this one
  double clock;
};
int errors(Channel channel, FskCase c, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> sent(300);
  for (uint8_t& v : sent) v = static_cast<uint8_t>(random());
  FskModulator own(channel, -20), other(channel == Channel::kLow ? Channel::kHigh : Channel::kLow, -20 + c.other_db);
  std::vector<float> x;
  const size_t length = (12 * sent.size() + 30) * 8000 / 300;
  size_t bit = 0;
  std::normal_distribution<double> noise(0, dbm0_to_rms(-20 - c.snr_db));
  for (size_t n = 0; n < length; ++n) {
    const float y = own.next([&]() -> int {
      const size_t k = bit++;
      if (k < 20 || k >= 20 + 12 * sent.size()) return 1;
      const size_t at = (k - 20) % 12;  // two idle bits between octets
      return at == 0 ? 0 : at >= 9 ? 1 : sent[(k - 20) / 12] >> (at - 1) & 1;
    });
    x.push_back(y + other.next([&] { return static_cast<int>(random() & 1); }) + static_cast<float>(noise(random)));
  }
  FskReceiver receiver(channel);
  std::vector<uint8_t> received;
  Octet octet;
  for (double t = 0; t + 1 < static_cast<double>(x.size()); t += c.clock) {
    const auto k = static_cast<size_t>(t);
    const float part = static_cast<float>(t - static_cast<double>(k));
    // Before the first octet there are 67 ms of ones; the effect of switching on does not count.
    if (receiver.put(x[k] + part * (x[k + 1] - x[k]), &octet) && k > 800) received.push_back(octet.value);
  }
  int wrong = received.size() == sent.size() ? 0 : 1000;
  for (size_t k = 0; k < sent.size() && k < received.size(); ++k) wrong += sent[k] != received[k];
  return wrong;
}

TEST(V8Signals, V8_5_OctetsComeThroughNoiseTheOtherChannelAndClockDifference) {
  for (const Channel channel : {Channel::kLow, Channel::kHigh}) {
    EXPECT_EQ(errors(channel, {60, -100, 1}, 1), 0);
    EXPECT_EQ(errors(channel, {10, -100, 1}, 2), 0) << "10 dB";
    EXPECT_EQ(errors(channel, {40, 20, 1}, 3), 0) << "own echo 20 dB above";
    EXPECT_EQ(errors(channel, {40, -100, 1.02}, 4), 0) << "+2 %";
    EXPECT_EQ(errors(channel, {40, -100, 0.98}, 5), 0) << "-2 %";
  }
}

// The level, the contrast of the bits, and the idle time before an octet.
TEST(V8Signals, AnOctetCarriesItsLevelItsClarityAndTheRestBeforeIt) {
  constexpr int kRest = 30;
  FskModulator modulator(Channel::kLow, -20);
  FskReceiver receiver(Channel::kLow);
  std::vector<Octet> found;
  Octet octet;
  int bit = 0;
  for (int n = 0; n < 8000 * 5 * (kRest + 10) / 300; ++n) {
    const float x = modulator.next([&] {
      const int at = bit++ % (kRest + 10);
      return at < kRest ? 1 : at == kRest ? 0 : at == kRest + 9 ? 1 : 0x35 >> (at - kRest - 1) & 1;
    });
    if (receiver.put(x, &octet)) found.push_back(octet);
  }
  ASSERT_GE(found.size(), 4u);
  for (size_t k = 1; k < found.size(); ++k) {
    EXPECT_EQ(found[k].value, 0x35);
    EXPECT_NEAR(found[k].ones_before, kRest, 1);
    EXPECT_NEAR(static_cast<double>(found[k].peak), dbm0_to_peak(-20), 0.06 * dbm0_to_peak(-20));
    EXPECT_GT(found[k].clarity, 0.65f);
    EXPECT_LE(found[k].clarity, 1);
  }
}

// A tone counts as ended after 40 ms, and its history
// is discarded; a shorter break is a missed reversal.
TEST(V8Signals, AnAnswerToneEndsAfterFortyMilliseconds) {
  AnswerToneDetector detector;
  for (const float x : ansam(1)) detector.put(x);
  ASSERT_EQ(detector.tone(), AnswerTone::kAnsam);
  EXPECT_NEAR(detector.depth(), 0.197f, 0.01f);
  EXPECT_EQ(detector.reversals(), 2);
  int silent = 0;
  while (detector.tone() != AnswerTone::kNone && silent < 8000) detector.put(0), ++silent;
  EXPECT_GE(silent, 40 * 8);
  EXPECT_LE(silent, 60 * 8);  // plus the time that the detector needs to notice the end of the tone
  EXPECT_EQ(detector.reversals(), 0);
  EXPECT_EQ(detector.depth(), 0);
  for (const float x : ansam(1)) detector.put(x);
  for (int n = 0; n < 30 * 8; ++n) detector.put(0);
  EXPECT_EQ(detector.tone(), AnswerTone::kAnsam);
}

TEST(V8Signals, NoiseAndSilenceAreNoOctets) {
  FskReceiver receiver(Channel::kLow);
  Octet octet;
  int found = 0;
  for (int n = 0; n < 80000; ++n) found += receiver.put(0, &octet);
  EXPECT_EQ(found, 0);
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 1000);
  for (int n = 0; n < 800000; ++n) found += receiver.put(normal(random), &octet);
  EXPECT_LT(found, 2000) << "in 100 s; V.8 requires a synchronization octet and two equal menus";
}

}  // namespace
}  // namespace offhook::v8
