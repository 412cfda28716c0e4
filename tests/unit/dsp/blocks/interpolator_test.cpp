// SPDX-License-Identifier: MIT
#include "dsp/blocks/interpolator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "dsp/blocks/lowpass.h"

namespace offhook {
namespace {

// A tap is the sinc of the corner under a Kaiser window of beta 6, computed here by separate formulas.
TEST(Interpolator, LowpassIsASincUnderAKaiserWindowInEachPhase) {
  constexpr double kCarrierHz = 1800, kBandwidthHz = 1500, kCornerHz = kBandwidthHz + 240, kBeta = 6;
  const Interpolator::Lowpass lowpass = make_lowpass(kCarrierHz, kBandwidthHz);
  for (int p = 0; p <= Interpolator::kPhases; ++p) {
    double sum = 0;
    for (int k = 0; k < Interpolator::kTaps; ++k) {
      const double t = k - Interpolator::kTaps / 2 + static_cast<double>(p) / Interpolator::kPhases;  // samples
      const double turns = 2 * std::numbers::pi * kCornerHz / 8000;
      const double sinc = t == 0 ? 2 * kCornerHz / 8000 : std::sin(turns * t) / (std::numbers::pi * t);
      const double u = t / (Interpolator::kTaps / 2);
      const double window = std::cyl_bessel_i(0, kBeta * std::sqrt(1 - u * u)) / std::cyl_bessel_i(0, kBeta);
      EXPECT_NEAR(lowpass.tap[p][k], 2 * sinc * window, 2e-7) << p << ' ' << k;
      sum += static_cast<double>(lowpass.tap[p][k]);
    }
    EXPECT_NEAR(sum, 2, 0.002) << p;  // half of a real signal's power is at the carrier
  }
}

// If there is no room for the transition, the corner is limited by the mirror image.
TEST(Interpolator, LowpassEndsWhereTheMirrorImageBegins) {
  const Interpolator::Lowpass low = make_lowpass(1600, 2000), same = make_lowpass(1600, 1360);
  const Interpolator::Lowpass high = make_lowpass(2200, 2000), same_high = make_lowpass(2200, 1560);
  for (int k = 0; k < Interpolator::kTaps; ++k) {
    EXPECT_EQ(low.tap[5][k], same.tap[5][k]);
    EXPECT_EQ(high.tap[5][k], same_high.tap[5][k]);
  }
}

}  // namespace
}  // namespace offhook
