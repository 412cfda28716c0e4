// SPDX-License-Identifier: MIT
// INFO modem, tones and line probe: what is sent, and what the receivers make of it in noise.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <memory>
#include <random>
#include <vector>

#include "dsp/blocks/level.h"
#include "dsp/v34/phase2/info_detector.h"
#include "dsp/v34/phase2/line_probe.h"
#include "dsp/v34/phase2/tones.h"

namespace offhook::v34 {
namespace {

/// The line in between: frequency shift (by the analytic signal of a narrow-band test signal), gain, white noise.
class Noise {
 public:
  Noise(double rms, unsigned seed) : random_(seed), normal_(0, static_cast<float>(rms)) {}
  float operator()() { return normal_(random_); }

 private:
  std::mt19937 random_;
  std::normal_distribution<float> normal_;
};

std::vector<float> send(int carrier_hz, const std::vector<uint8_t>& bits, int lead = 400) {
  DpskModulator modulator(phase2_signal(carrier_hz, -12, -7));
  std::vector<float> x(static_cast<size_t>(lead), 0.f);
  size_t at = 0;
  modulator.bits();
  const size_t length = x.size() + bits.size() * 40 / 3 + 400;
  while (x.size() < length) x.push_back(modulator.next([&] { return at < bits.size() ? bits[at++] : -1; }));
  return x;
}

std::vector<uint8_t> info0_bits(const Info0& info) {
  std::vector<uint8_t> bits(Info0::kBits);
  encode(info, bits.data());
  return bits;
}

const Info0 kSome = {true, false, true, true, false, true, true, true, false, 3, false, true, TransmitClock::kInternal,
                     true};

// Checklist V34-10.1.2.3-1: one reference point, then a turn of 180 degrees for each one bit; V5's phases.
TEST(V34Dpsk, V34_10_1_2_3_1_PhasesAreThoseOfVectorV5) {
  const std::string want = "01010010111001010101010011000000101100001000101010";
  const Info0 all = {true, true, true, true, true, true, true, true, true, 5, false, true, TransmitClock::kInternal,
                     false};
  const std::vector<float> x = send(kDpskCallHz, info0_bits(all), 0);
  // The symbols' middles: kDelaySamples after the start of each; matched filter there, relative to the first carrier.
  std::string got;
  for (size_t k = 0; k < want.size(); ++k) {
    const double middle = DpskModulator::kDelaySamples + static_cast<double>(k) * 40 / 3;
    std::complex<double> sum = 0;
    for (size_t n = 0; n < x.size(); ++n) {
      const double t = (static_cast<double>(n) - middle) * kDpskBaud / 8000;
      if (std::abs(t) >= 4) continue;
      sum += static_cast<double>(x[n]) * dpsk_pulse(t + 1e-7) *
             std::polar(1., -2 * M_PI * kDpskCallHz * static_cast<double>(n) / 8000);
    }
    got += sum.real() > 0 ? '0' : '1';
  }
  EXPECT_EQ(got, want);
}

// Checklist V34-10.1.2.3-2: the mask of Figure 13, relative to the level at the carrier.
TEST(V34Dpsk, V34_10_1_2_3_2_SpectrumOfRandomBitsIsWithinTheMask) {
  std::mt19937 random(1);
  std::vector<uint8_t> bits(60000);
  for (uint8_t& b : bits) b = random() & 1;
  const std::vector<float> x = send(kDpskCallHz, bits);
  const auto density = [&](double hz) {  // Welch, 50 Hz wide, Hann
    constexpr size_t kLength = 320;
    double sum = 0;
    for (size_t from = 800; from + kLength < x.size() - 800; from += kLength / 2) {
      std::complex<double> bin = 0;
      for (size_t n = 0; n < kLength; ++n) {
        const double window = 0.5 - 0.5 * std::cos(2 * M_PI * static_cast<double>(n) / kLength);
        bin +=
            window * static_cast<double>(x[from + n]) * std::polar(1., -2 * M_PI * hz * static_cast<double>(n) / 8000);
      }
      sum += std::norm(bin);
    }
    return 10 * std::log10(sum);
  };
  const double at_carrier = density(kDpskCallHz);
  const struct {
    double hz, upper, lower;
  } mask[] = {{125, 0.75, -0.75}, {300, -2, -4}, {400, -5, -9}, {450, -9, -100}, {550, -20, -100}};
  for (const auto& point : mask) {
    for (const double side : {-1., 1.}) {
      const double db = density(kDpskCallHz + side * point.hz) - at_carrier;
      EXPECT_LE(db, point.upper) << side * point.hz;
      EXPECT_GE(db, point.lower) << side * point.hz;
    }
  }
}

TEST(V34Dpsk, V34_10_1_2_3_1_LevelsOfInfoAndGuardTone) {
  std::mt19937 random(1);
  std::vector<uint8_t> bits(20000);
  for (uint8_t& b : bits) b = random() & 1;
  for (const bool answer : {false, true}) {
    const std::vector<float> x = send(answer ? kDpskAnswerHz : kDpskCallHz, bits);
    double sum = 0, guard_sum = 0;
    std::complex<double> guard = 0;
    const size_t from = 1000, count = 240000;
    for (size_t n = from; n < from + count; ++n) {
      sum += static_cast<double>(x[n]) * static_cast<double>(x[n]) / count;
      guard += static_cast<double>(x[n]) * std::polar(1., -2 * M_PI * kGuardHz * static_cast<double>(n) / 8000);
    }
    guard_sum = 2 * std::norm(guard) / count / count;
    EXPECT_NEAR(mean_square_to_dbm0(sum - guard_sum), answer ? -13 : -12, 0.1);
    if (answer) {
      EXPECT_NEAR(mean_square_to_dbm0(guard_sum), -19, 0.1);
    }
  }
}

TEST(V34Dpsk, InfoComesThrough10dBOfNoiseBesideTheOwnStrongerEcho) {
  for (const bool answer : {false, true}) {
    const int hz = answer ? kDpskAnswerHz : kDpskCallHz;
    int found = 0, wrong = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
      const std::vector<float> x = send(hz, info0_bits(kSome));
      // This end's signal meanwhile, 10 dB above: bits on the other carrier.
      std::mt19937 random(seed);
      std::vector<uint8_t> own(80);
      for (uint8_t& b : own) b = random() & 1;
      const std::vector<float> echo = send(answer ? kDpskCallHz : kDpskAnswerHz, own);
      DpskReceiver receiver(hz);
      auto detector = std::make_unique<InfoDetector<Info0>>();
      Noise noise(dbm0_to_rms(-22), seed);
      DpskDecision decision;
      for (size_t n = 0; n < x.size(); ++n) {
        const float e = n < echo.size() ? 3.16f * echo[n] : 0;
        if (!receiver.put(x[n] + e + noise(), &decision) || !detector->put(decision)) continue;
        ++found;
        wrong += !(detector->found().info == kSome);
      }
    }
    EXPECT_GE(found, 196) << hz;  // of 200; a lost one is sent again
    EXPECT_EQ(wrong, 0) << hz;
  }
}

TEST(V34Dpsk, NoSequenceInTenMinutesOfNoise) {
  DpskReceiver receiver(kDpskCallHz);
  auto info0 = std::make_unique<InfoDetector<Info0>>();
  auto info1c = std::make_unique<InfoDetector<Info1c>>();
  InfoMarksDetector marks;
  Noise noise(3000, 1);
  DpskDecision decision;
  int found = 0;
  for (int n = 0; n < 120 * 8000; ++n) {
    if (receiver.put(noise(), &decision)) found += info0->put(decision) + info1c->put(decision) + marks.put(decision);
  }
  EXPECT_EQ(found, 0);
}

struct ReversalError {
  double mean_ms, rms_ms;
  int found;
};
ReversalError reversals(double snr_db, double offset_hz, bool echo) {
  ReversalError result{0, 0, 0};
  for (unsigned seed = 1; seed <= 100; ++seed) {
    ToneDetector detector(kToneAHz);
    Noise noise(dbm0_to_rms(-12 - snr_db), seed);
    Oscillator own(kToneBHz), guard(kGuardHz);
    const double at = 2000 + 0.37 * seed;
    const double peak = dbm0_to_rms(-12) * std::sqrt(2.);
    for (int n = 0; n < 2400; ++n) {
      // A reversal as changed by the line: 1 ms from one phase to the other.
      const double u = std::clamp((n - at) / 4, -1., 1.);
      double x = -std::sin(u * M_PI / 2) * peak * std::cos(2 * M_PI * (kToneAHz + offset_hz) * n / 8000 + seed);
      x += peak * static_cast<double>(guard.next().re);  // the guard tone at its highest level
      if (echo) x += 5 * peak * static_cast<double>(own.next().re);
      if (detector.put(static_cast<float>(x) + noise()) != ToneEvent::kReversal) continue;
      if (detector.steady_before_reversal_ms() < 30) continue;
      const double error = (detector.reversal_time() - at) / 8;
      result.mean_ms += error;
      result.rms_ms += error * error;
      ++result.found;
    }
  }
  result.mean_ms /= result.found;
  result.rms_ms = std::sqrt(result.rms_ms / result.found);
  return result;
}

// Checklist V34-10.1.2.2-1: bias of the time of a reversal under 1 ms.
TEST(V34Tone, V34_10_1_2_2_1_ReversalsAreTimedTo300MicrosecondsAt10dBWithOffsetAndEcho) {
  for (const double offset : {-7., 0., 7.}) {
    for (const bool echo : {false, true}) {
      const ReversalError clean = reversals(60, offset, echo);
      EXPECT_EQ(clean.found, 100);
      EXPECT_LT(std::abs(clean.mean_ms), 0.05);
      EXPECT_LT(clean.rms_ms, 0.15);
      const ReversalError noisy = reversals(10, offset, echo);
      EXPECT_GE(noisy.found, 99);
      EXPECT_LT(noisy.rms_ms, 0.3);
    }
  }
}

TEST(V34Tone, ProbingSignalsAndTheOtherTonesAreNotHeard) {
  for (const int hz : {kToneAHz, kToneBHz}) {
    ToneDetector detector(hz);
    Oscillator guard(kGuardHz), other(hz == kToneAHz ? kToneBHz : kToneAHz);
    double most = 0;
    for (int n = 0; n < 16000; ++n) {
      detector.put(10000 * kProbingTable.sample[n % kProbingSamples] + 10000 * (guard.next().re + other.next().re));
      if (n > 800 && n % 8 == 7) most = std::max(most, static_cast<double>(magnitude(detector.average())));
    }
    EXPECT_LT(most, 10) << hz;  // 60 dB
    EXPECT_FALSE(detector.present());
  }
}

// Checklist V34-RT-2 and -4.
TEST(V34Tone, V34_RT_2_4_ABurstOf49msIsNoRetrainAndOneOf60msIs) {
  for (const int hz : {kToneAHz, kToneBHz}) {
    for (const double snr_db : {40., 15.}) {
      for (const double ms : {40., 49., 60., 80.}) {
        int heard = 0;
        for (unsigned seed = 1; seed <= 50; ++seed) {
          RetrainDetector detector(hz);
          Noise noise(dbm0_to_rms(-12 - snr_db), seed);
          Oscillator tone(hz);
          bool retrain = false;
          for (int n = 0; n < 4000; ++n) {
            const float x = n >= 1600 && n < 1600 + ms * 8 ? 5000 * tone.next().re : 0;
            retrain |= detector.put(x + noise());
          }
          heard += retrain;
        }
        EXPECT_EQ(heard, ms > 50 ? 50 : 0) << hz << " Hz, " << ms << " ms, " << snr_db << " dB";
      }
    }
  }
}

// Checklist V34-RT-6: an hour of data, 5 minutes at each symbol rate and carrier.
TEST(V34Tone, V34_RT_6_AnHourOfRandomDataIsNoRetrain) {
  int heard = 0;
  for (int s = 0; s < kSymbolRates; ++s) {
    for (const Carrier c : {Carrier::kLow, Carrier::kHigh}) {
      const double rate = symbol_rate_hz(static_cast<SymbolRate>(s)),
                   carrier = carrier_hz(static_cast<SymbolRate>(s), c);
      // 16 points with pulses of a raised-cosine in time, one symbol and a half long: wider than V.34's spectrum, which
      // is a harder test.
      std::mt19937 random(static_cast<unsigned>(2 * s + static_cast<int>(c)));
      RetrainDetector a(kToneAHz), b(kToneBHz);
      std::complex<float> symbol[2];
      double clock = 0, phase = 0;
      for (int n = 0; n < 300 * 8000; ++n) {
        clock += rate / 8000;
        if (clock >= 1) {
          clock -= 1;
          symbol[1] = symbol[0];
          const auto r = static_cast<uint32_t>(random());
          symbol[0] = {static_cast<float>(static_cast<int>(r & 3) * 2 - 3),
                       static_cast<float>(static_cast<int>(r >> 2 & 3) * 2 - 3)};
        }
        phase += carrier / 8000;
        phase -= std::floor(phase);
        const Complex w = kOscillatorTable.at[static_cast<int>(phase * OscillatorTable::kSize)];
        const auto t = static_cast<float>(clock);
        const std::complex<float> y = t * symbol[0] + (1 - t) * symbol[1];
        const float x = 1000 * (y.real() * w.re - y.imag() * w.im);
        heard += a.put(x) + b.put(x);
      }
    }
  }
  EXPECT_EQ(heard, 0);
}

// Checklist V34-RT-6: other signals on a line. Tones of exchanges do not contain 1200 or 2400 Hz; voices contain them
// among others. DTMF with 1209 Hz is not included, because that is tone B with an offset of 9 Hz.
TEST(V34Tone, V34_RT_6_TonesOfExchangesAndVoicesAreNoRetrain) {
  const std::vector<std::vector<double>> tones = {
      {350, 440}, {440, 480},  {480, 620},   {425},       {400},        {2100},           {1100},
      {1300},     {980, 1180}, {1650, 1850}, {941, 1477}, {2130, 2750}, {950, 1400, 1800}};
  for (const auto& hz : tones) {
    RetrainDetector a(kToneAHz), b(kToneBHz);
    int heard = 0;
    for (int n = 0; n < 10 * 8000; ++n) {
      double x = 0;
      for (const double f : hz) x += 4000 * std::sin(2 * M_PI * f * n / 8000);
      if (n / 4000 % 2 != 0) x = 0;  // half a second on, half a second off
      heard += a.put(static_cast<float>(x)) + b.put(static_cast<float>(x));
    }
    EXPECT_EQ(heard, 0) << hz.front();
  }
  // Two minutes of pulses at a wandering pitch through three wandering resonances, with syllables.
  RetrainDetector a(kToneAHz), b(kToneBHz);
  int heard = 0;
  double pitch_turn = 0;
  for (int n = 0; n < 120 * 8000; ++n) {
    const double t = n / 8000., pitch = 140 + 40 * std::sin(2 * M_PI * 0.7 * t) + 25 * std::sin(2 * M_PI * 2.3 * t);
    pitch_turn += pitch / 8000;
    const double formants[] = {500 + 250 * std::sin(2 * M_PI * 1.3 * t), 1500 + 700 * std::sin(2 * M_PI * 1.9 * t),
                               2500 + 200 * std::sin(2 * M_PI * 0.9 * t)};
    double x = 0;
    for (int h = 1; h * pitch < 3400; ++h) {
      double gain = 0;
      for (const double f : formants) gain += 1 / (1 + std::pow((h * pitch - f) / 100, 2));
      x += gain * std::sin(2 * M_PI * h * pitch_turn);
    }
    const auto y = static_cast<float>(4000 * x * std::max(0., std::sin(2 * M_PI * 3.7 * t)));
    heard += a.put(y) + b.put(y);
  }
  EXPECT_EQ(heard, 0);
}

// Checklist V34-RT-6: tones of exchanges whose second, third or sixth harmonic is tone A or B, 10 dB below them, so it
// is a small part of the received power.
TEST(V34Tone, V34_RT_6_AHarmonicOfAnExchangesToneIsNoRetrain) {
  for (const int hz : {400, 600, 800, 1200}) {
    for (const int tone : {kToneAHz, kToneBHz}) {
      if (tone % hz != 0 || tone == hz) continue;
      RetrainDetector detector(tone);
      int heard = 0;
      for (int n = 0; n < 8000; ++n) {
        const double t = 2 * M_PI * n / 8000;
        heard +=
            detector.put(static_cast<float>(4000 * (std::sin(hz * t) + std::pow(10, -10 / 20.) * std::sin(tone * t))));
      }
      EXPECT_EQ(heard, 0) << hz << ' ' << tone;
    }
  }
}

// Checklist V34-RT-4; 10.1.2.1: tone A comes with a guard tone of 1800 Hz, which is 1 dB above it as printed.
TEST(V34Tone, V34_RT_2_ToneABesideItsGuardToneIsARetrain) {
  RetrainDetector detector(kToneAHz);
  bool retrain = false;
  for (int n = 0; n < 800; ++n) {
    const double t = 2 * M_PI * n / 8000;
    retrain |= detector.put(
        static_cast<float>(3000 * (std::pow(10, -1 / 20.) * std::sin(kToneAHz * t) + std::sin(kGuardHz * t))));
  }
  EXPECT_TRUE(retrain);
}

/// Probing signal through a gain that falls linearly in dB, with white noise.
std::unique_ptr<LineProbe> probe(double slope_db_per_khz, double snr_db, double offset_hz = 0, unsigned seed = 1) {
  auto result = std::make_unique<LineProbe>();
  result->start();
  Noise noise(dbm0_to_rms(-12 - snr_db), seed);
  for (int n = 0; n < 3080; ++n) {
    double x = 0;
    for (const ProbingTone& tone : kProbingTone) {
      const double hz = tone.multiple * kProbingSpacingHz;
      const double gain = db_to_gain(-slope_db_per_khz * hz / 1000) * dbm0_to_rms(-12) / std::sqrt(10.5);
      x += (tone.inverted ? -gain : gain) * std::cos(2 * M_PI * (hz + offset_hz) * n / 8000);
    }
    result->put(static_cast<float>(x) + noise());
  }
  result->analyse();
  return result;
}

TEST(V34LineProbe, GainAndNoiseAreThoseOfTheLine) {
  for (const double snr_db : {10., 20., 30., 40.}) {
    for (const double offset : {0., 7.}) {
      double noise_db = 0;
      for (unsigned seed = 1; seed <= 10; ++seed) {
        const auto p = probe(5, snr_db, offset, seed);
        EXPECT_EQ(p->windows(), 5);
        for (int band = 1; band < 22; ++band) {
          const double hz = (band + 1) * 150;
          const double want = -12 - 10 * std::log10(21.) - 5 * hz / 1000;
          if (want > -12 - snr_db - 8) {
            EXPECT_NEAR(mean_square_to_dbm0(static_cast<double>(p->tone_power(band))), want, 1.6) << hz;
          }
          noise_db += mean_square_to_dbm0(static_cast<double>(p->noise_power(band))) / 210;
        }
      }
      EXPECT_NEAR(noise_db, -12 - snr_db + 10 * std::log10(150. / 4000), 0.5) << snr_db << " dB, offset " << offset;
    }
  }
}

// Checklist V34-INFO-2.
TEST(V34LineProbe, V34_INFO_2_OffsetOf3HzGivesAFieldOf150) {
  EXPECT_NEAR(probe(0, 40, 3)->offset_field(), 150, 1);
  EXPECT_NEAR(probe(0, 40, -7)->offset_field(), -350, 1);
  for (unsigned seed = 1; seed <= 20; ++seed) EXPECT_NEAR(probe(3, 10, 3, seed)->offset_field(), 150, 12);
  EXPECT_EQ(probe(0, -20, 3)->offset_field(), kOffsetUnknown);
}

TEST(V34LineProbe, ProjectedRateIsCapacityWithTheGapOnAFlatLine) {
  for (const double snr_db : {10., 20., 30.}) {
    const auto p = probe(0, snr_db);
    for (int s = 0; s < kSymbolRates; ++s) {
      const auto symbol_rate = static_cast<SymbolRate>(s);
      const double rate = symbol_rate_hz(symbol_rate);
      // The signal's power is in `rate` Hz, the noise's in 4000.
      const double snr = std::pow(10, snr_db / 10) * 4000 / rate;
      const double want = rate * std::log2(1 + snr / std::pow(10, 0.6));
      EXPECT_NEAR(p->projected_rate(symbol_rate, Carrier::kLow, 0), want, 0.06 * want);
    }
  }
}

TEST(V34LineProbe, TheCarrierAwayFromTheWeakEdgeIsChosen) {
  const auto p = probe(12, 30);  // 12 dB for each kHz
  EXPECT_EQ(p->best(SymbolRate::k2400, Info0{}, true).carrier, Carrier::kLow);
  EXPECT_EQ(p->best(SymbolRate::k3429, Info0{}, true).max_rate, 0) << "the far transmitter may not";
}

}  // namespace
}  // namespace offhook::v34
