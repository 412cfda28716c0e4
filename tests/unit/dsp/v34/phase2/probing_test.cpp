// SPDX-License-Identifier: MIT
#include "dsp/v34/phase2/probing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace offhook::v34 {
namespace {

TEST(V34Probing, SumOfCosinesIsThatOfTable17) {
  const double at9600[] = {5.0000,  5.0268, 2.6965, -3.2322, -1.1003, 1.4294,
                           -4.8238, 0.0964, 1.7071, -3.7998, 2.7530,  -0.2887};
  for (int n = 0; n < 12; ++n) EXPECT_NEAR(probing_sum(n / 64.0), at9600[n], 5e-5) << n;
  double peak = 0;
  double square = 0;
  constexpr int kPoints = 6400;
  for (int n = 0; n < kPoints; ++n) {
    const double v = probing_sum(n / static_cast<double>(kPoints));
    peak = std::max(peak, std::abs(v));
    square += v * v / kPoints;
  }
  EXPECT_NEAR(square, 10.5, 1e-9);
  EXPECT_NEAR(20 * std::log10(peak / std::sqrt(square)), 3.97, 0.005);  // crest factor
}

TEST(V34Probing, TableHoldsTheTonesAndNothingElse) {
  double power = 0;
  for (const float v : kProbingTable.sample) power += v * v / kProbingSamples;
  EXPECT_NEAR(power, 1, 1e-6);
  const double amplitude = std::sqrt(2.0 / 21);
  for (int bin = 0; bin <= 80; ++bin) {  // 50 Hz apart
    std::complex<double> sum = 0;
    for (int n = 0; n < kProbingSamples; ++n) {
      sum += std::polar(2.0 * kProbingTable.sample[n] / kProbingSamples,
                        -2 * std::numbers::pi * bin * n / kProbingSamples);
    }
    const int hz = 50 * bin;
    const bool tone = hz % 150 == 0 && hz >= 150 && hz <= 3750 && hz != 900 && hz != 1200 && hz != 1800 && hz != 2400;
    const bool inverted = hz == 300 || hz == 1650 || hz == 2250 || hz == 2700 || (hz >= 3000 && hz <= 3450);
    EXPECT_NEAR(sum.real(), tone ? (inverted ? -amplitude : amplitude) : 0, 1e-6) << hz;
    EXPECT_NEAR(sum.imag(), 0, 1e-6) << hz;
  }
}

}  // namespace
}  // namespace offhook::v34
