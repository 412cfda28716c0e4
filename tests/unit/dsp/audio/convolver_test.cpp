// SPDX-License-Identifier: MIT
#include "dsp/audio/convolver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "tests/unit/dsp/audio/audio_signal.h"

namespace offhook::audio {
namespace {

// Products and sums of 24 bits: noise of one rounding per stage of two transforms, and of the sum of partitions.
constexpr double kTolerance = 1e-6;

TEST(AudioConvolver, EqualsDirectConvolutionForEveryPartitionAndLength) {
  for (int partition = Convolver::kLeast; partition <= Convolver::kMost; partition *= 2) {
    for (const int n : {1, 31, partition, partition + 1, 3000, Convolver::kMostTaps}) {
      const auto taps = test::noise(n, 1, 1), x = test::noise(12 * 1024, 2, 1);
      const auto convolver = std::make_unique<Convolver>(partition, taps.data(), n);
      EXPECT_LT(test::difference(test::run(*convolver, x), test::convolved(taps, x)), kTolerance)
          << n << " taps, partitions of " << partition;
    }
  }
}

TEST(AudioConvolver, TheLastTapIsOneOfTheFilter) {
  std::vector<float> taps(Convolver::kMostTaps), x(10 * 1024);
  taps.back() = 1;
  x[100] = 1;
  const auto convolver = std::make_unique<Convolver>(64, taps.data(), Convolver::kMostTaps);
  const auto y = test::run(*convolver, x);
  for (int i = 0; i < static_cast<int>(y.size()); ++i)
    EXPECT_NEAR(y[i], i == 100 + Convolver::kMostTaps - 1 ? 1 : 0, 1e-6) << i;
}

TEST(AudioConvolver, ResultsMayOverwriteTheInput) {
  const auto taps = test::noise(100, 1, 1), x = test::noise(1024, 2, 1);
  const auto apart = std::make_unique<Convolver>(32, taps.data(), 100),
             in_place = std::make_unique<Convolver>(32, taps.data(), 100);
  const auto expected = test::run(*apart, x);
  auto y = x;
  for (std::size_t i = 0; i < y.size(); i += 32) in_place->process(y.data() + i, y.data() + i);
  EXPECT_EQ(y, expected);
}

TEST(AudioEqualiser, EqualsTheDifferenceEquations) {
  constexpr double kGains[Equaliser::kBands] = {6, -12, 3, 0, -3, 12, -6, 1, -1, 9};
  for (const double rate_hz : {48'000., 96'000.}) {
    auto x = test::noise(20'000, 3, 1);
    const auto expected = test::equalised({x.begin(), x.end()}, rate_hz, kGains);
    Equaliser equaliser(kGains, rate_hz);
    for (std::size_t i = 0; i < x.size(); i += 100) equaliser.process(x.data() + i, 100);
    EXPECT_LT(test::difference(x, expected), 1e-6) << rate_hz;
  }
}

TEST(AudioEqualiser, EachBandHasItsGainAtItsCentre) {
  for (int band = 0; band < Equaliser::kBands; ++band) {
    double gains[Equaliser::kBands] = {};
    gains[band] = 12;
    Equaliser equaliser(gains, 48'000);
    std::vector<float> x(96'000);
    const double centre_hz = 31.25 * (1 << band);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(std::sin(2 * M_PI * centre_hz / 48'000 * static_cast<double>(i)));
    equaliser.process(x.data(), static_cast<int>(x.size()));
    double power = 0;
    for (std::size_t i = 48'000; i < x.size(); ++i) power += x[i] * x[i] / 48'000;
    EXPECT_NEAR(10 * std::log10(2 * power), 12, 0.01) << band;
  }
}

TEST(AudioEqualiser, IsAtRestAfterSilence) {
  double gains[Equaliser::kBands] = {};
  gains[0] = 12;
  Equaliser equaliser(gains, 96'000);
  std::vector<float> x(96'000);
  x[0] = 1;
  equaliser.process(x.data(), static_cast<int>(x.size()));
  for (int s = 0; s < 20; ++s) {
    x.assign(x.size(), 0);
    equaliser.process(x.data(), static_cast<int>(x.size()));
  }
  EXPECT_EQ(x.back(), 0);
}

}  // namespace
}  // namespace offhook::audio
