// SPDX-License-Identifier: MIT
#include "dsp/dmt/training_signals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "dsp/dmt/modulator.h"
#include "dsp/dmt/receiver.h"

namespace offhook::dmt {
namespace {

TEST(TrainingSignals, MedleyIsTheSumOfTwoSequencesFromOnes) {
  struct Case {
    Band band;
    int ones, first, second;
  };
  for (const Case& c : {Case{kFullDown, 9, 4, 9}, Case{kFullUp, 6, 5, 6}}) {
    Band band = c.band;  // all tones, none of them a pilot
    band.first = 0;
    band.last = band.tones() - 1;
    band.pilot = -1;
    Medley medley(band);
    std::vector<int> d;
    std::vector<Complex> points(band.tones());
    for (int symbol = 0; symbol < 4; ++symbol) {
      medley.next(band, points.data());
      for (const Complex& p : points) {
        d.push_back(p.re < 0);
        d.push_back(p.im < 0);
      }
    }
    std::vector<int> s(23, 1);
    while (s.size() < d.size()) s.push_back(s[s.size() - 18] ^ s[s.size() - 23]);
    for (std::size_t n = 0; n < d.size(); ++n) d[n] ^= s[n];
    for (int n = 0; n < c.ones; ++n) EXPECT_EQ(d[n], 1);
    for (std::size_t n = c.ones; n < d.size(); ++n) ASSERT_EQ(d[n], d[n - c.first] ^ d[n - c.second]) << n;
  }
}

// A fit to a symbol that the previous one predicts would fit the sequence.
TEST(TrainingSignals, ASymbolOfMedleyIsNotTheOneBeforeMovedOn) {
  for (const Band& band : {kFullUp, kFullDown}) {
    Medley medley(band);
    std::vector<Complex> before(band.tones()), now(band.tones());
    double most = 0;
    for (int symbol = 0; symbol < 200; ++symbol) {
      medley.next(band, now.data());
      for (int shift = -2; symbol > 0 && shift <= 2; ++shift) {
        double sum = 0, power = 0;
        for (int k = band.first + 2; k <= band.last - 2; ++k) {
          sum += static_cast<double>(now[k].re * before[k + shift].re + now[k].im * before[k + shift].im);
          power += static_cast<double>(norm(now[k]));
        }
        most = std::max(most, std::abs(sum) / power);
      }
      before = now;
    }
    EXPECT_LT(most, 4.5 / std::sqrt(2 * (band.last - band.first - 3)));
  }
}

TEST(TrainingSignals, OctetsAreOnEveryToneButThePilot) {
  const Band band = kLiteDown;
  std::vector<Complex> r(band.tones()), o(band.tones());
  reverb(band, r.data());
  octet_symbol(band, r.data(), kSegueOctet, o.data());
  for (int k = band.first; k <= band.last; ++k) {
    EXPECT_EQ(o[k].re, k == band.pilot ? r[k].re : -r[k].re);
    EXPECT_EQ(o[k].im, k == band.pilot ? r[k].im : -r[k].im);
  }
  octet_symbol(band, r.data(), 0x01, o.data());  // one pair: a quarter turn of every fourth tone
  for (int k = band.first; k <= band.last; ++k) {
    const Complex expected = k % 4 == 0 && k != band.pilot ? Complex{-r[k].im, r[k].re} : r[k];
    EXPECT_EQ(o[k], expected) << k;
  }
}

TEST(Modulator, ATonesLevelIsTheNominalDensityAndThePrefixRepeatsTheEnd) {
  for (const Band& band : {kLiteDown, kFullDown, kLiteUp, kFullUp}) {
    const Modulator modulator(band);
    std::vector<Complex> points(band.tones());
    points[band.pilot] = kPilotPoint;
    std::vector<std::int16_t> x(band.symbol());
    modulator.symbol(points.data(), true, x.data());
    double power = 0;
    for (int t = band.prefix; t < band.symbol(); ++t) power += x[t] * x[t];
    const double volts = std::sqrt(power / band.points) * static_cast<double>(band.full_scale_volts) / 32768;
    const double dbm_hz = 10 * std::log10(volts * volts / 100 * 1000 / 4312.5);
    EXPECT_NEAR(dbm_hz, static_cast<double>(band.dbm_hz), 0.02);
    for (int t = 0; t < band.prefix; ++t) EXPECT_EQ(x[t], x[t + band.points]);
  }
}

/// REVERB into a receiver with another clock: every sample of the periodic signal from its tones.
TEST(Receiver, FindsReverbAnywhereAndMeasuresTheClock) {
  const Band band = kLiteUp;
  std::vector<Complex> r(band.tones());
  reverb(band, r.data());
  for (const double ppm : {0.0, 60.0, -100.0}) {
    for (const int late : {0, 17, 45}) {
      auto receiver = std::make_unique<Receiver>(band);
      receiver->search();
      int n = 0;
      while (receiver->stage() != Receiver::Stage::kReady && n < 60'000) {
        const double at = (n - late) * (1 + ppm * 1e-6) / band.points;
        double x = 0;
        for (int k = band.first; k <= band.last; ++k) {
          const double w = 6.283185307179586 * std::fmod(k * at, 1.0);
          x += static_cast<double>(r[k].re) * std::cos(w) - static_cast<double>(r[k].im) * std::sin(w);
        }
        receiver->put(static_cast<float>(300 * x));
        ++n;
      }
      ASSERT_EQ(receiver->stage(), Receiver::Stage::kReady);
      EXPECT_LT(n, (Receiver::kTrainingSymbols + 40) * band.points);
      EXPECT_NEAR(receiver->clock_ppm(), ppm, 3);  // the loop has not settled yet; this continues in MEDLEY
    }
  }
}

TEST(Receiver, DoesNotTakeNoiseForReverb) {
  for (const Band& band : {kLiteUp, kLiteDown}) {
    auto receiver = std::make_unique<Receiver>(band);
    receiver->search();
    std::uint64_t z = 1;
    for (int n = 0; n < 4000 * band.points; ++n) {
      z = z * 6364136223846793005u + 1442695040888963407u;
      receiver->put(static_cast<float>(static_cast<std::int32_t>(z >> 33)) * 1e-6f - 1073.0f);
      ASSERT_EQ(receiver->stage(), Receiver::Stage::kSearch) << n / band.points;
    }
  }
}

}  // namespace
}  // namespace offhook::dmt
