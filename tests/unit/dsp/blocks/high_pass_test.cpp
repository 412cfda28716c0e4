// SPDX-License-Identifier: MIT
#include "dsp/blocks/high_pass.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace offhook {
namespace {

double gain_db(double hz, const HighPassDesign& design = kHighPassFrom220) {
  HighPass filter(design);
  double in = 0, out = 0;
  for (int n = 0; n < 32'000; ++n) {
    const auto x = static_cast<float>(10'000 * std::cos(2 * std::numbers::pi * hz * n / 8000));
    const float y = filter.process(x);
    if (n < 16'000) continue;
    in += static_cast<double>(x) * static_cast<double>(x);
    out += static_cast<double>(y) * static_cast<double>(y);
  }
  return 10 * std::log10(out / in);
}

TEST(HighPass, TakesDcAndTheMainsAway) {
  for (const double hz : {0., 49.8, 50., 50.2, 59.8, 60., 60.2}) EXPECT_LT(gain_db(hz), -80) << hz;
  EXPECT_LT(gain_db(100), -34);
  EXPECT_LT(gain_db(120), -22);
}

TEST(HighPass, LeavesTheBandOfEverySymbolRate) {
  for (const double hz : {229., 245., 300., 1000., 1800., 3400., 3674.}) EXPECT_NEAR(gain_db(hz), 0, 1.2) << hz;
  for (const double hz : {1800., 2400., 3674.}) EXPECT_NEAR(gain_db(hz), 0, 0.1) << hz;
}

TEST(HighPass, TheSteepOneTakesTheHarmonicsToo) {
  for (const double hz : {0., 50., 60., 100., 150., 180., 250., 300.})
    EXPECT_LT(gain_db(hz, kHighPassFrom450), -35) << hz;
  for (const double hz : {450., 600., 1800., 3000., 3400.}) EXPECT_NEAR(gain_db(hz, kHighPassFrom450), 0, 0.2) << hz;
}

// The middle between two tones 2 Hz apart moves by the delay.
TEST(HighPass, DelaysReversalsAsItSays) {
  for (const HighPassDesign* design : {&kHighPassFrom220, &kHighPassFrom450}) {
    for (const double hz : {600., 1800., 2100.}) {
      HighPass filter(*design);
      double beat_re = 0, beat_im = 0;
      for (int n = 0; n < 16'000; ++n) {
        const double t = n / 8000., a = 2 * std::numbers::pi;
        const float y =
            filter.process(static_cast<float>(1000 * (std::cos(a * (hz - 1) * t) + std::cos(a * (hz + 1) * t))));
        if (n < 8000) continue;
        const double power = static_cast<double>(y) * static_cast<double>(y);  // a beat of 2 Hz
        beat_re += power * std::cos(a * 2 * t), beat_im += power * std::sin(a * 2 * t);
      }
      const double delay = std::atan2(beat_im, beat_re) / (2 * std::numbers::pi * 2) * 8000;
      EXPECT_NEAR(filter.delay_samples(hz), delay, 0.1) << hz;
    }
  }
}

}  // namespace
}  // namespace offhook
