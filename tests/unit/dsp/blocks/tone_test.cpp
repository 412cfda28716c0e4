// SPDX-License-Identifier: MIT
#include "dsp/blocks/tone.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/unit/dsp/v34/random.h"

namespace offhook {
namespace {

float tone(double hz, int n, double peak = 1000) {
  return static_cast<float>(peak * std::cos(2 * std::numbers::pi * hz * n / 8000));
}

TEST(ToneDetector, TellsHowLongAToneHasLastedAndHowStrongItIs) {
  ToneDetector d(2100);
  for (int n = 0; n < 8000; ++n) {
    d.put(tone(2100, n));
    EXPECT_FALSE(n < 60 && d.present()) << n;
  }
  EXPECT_NEAR(d.steady_ms(), 1000, 4);
  EXPECT_NEAR(d.peak(), 1000, 20);
  EXPECT_NEAR(d.share(), 1, 0.05);
  EXPECT_NEAR(d.frequency_offset_hz(), 0, 0.1);
  EXPECT_EQ(d.now(), 8000u);
  for (int n = 0; n < 400; ++n) d.put(0);
  EXPECT_FALSE(d.present());
  EXPECT_EQ(d.steady_ms(), 0);
}

// The turn in 10 ms, divided by 10 ms; any other lag would give another frequency.
TEST(ToneDetector, TellsTheFrequencyWithinItsBand) {
  for (const double offset : {-10.0, -7.0, 7.0, 10.0}) {
    ToneDetector d(1200);
    for (int n = 0; n < 8000; ++n) d.put(tone(1200 + offset, n));
    EXPECT_NEAR(d.frequency_offset_hz(), offset, 0.1);
  }
}

TEST(ToneDetector, FindsEachReversalAndWhenItWas) {
  ToneDetector d(1800);
  v34::Random random(3, 17);
  constexpr int kAt = 4013, kMs = 8;
  int found = 0, told = 0;
  for (int n = 0; n < 8000; ++n) {
    const float sign = n < kAt ? 1 : -1;
    if (d.put(sign * tone(1800, n) + static_cast<float>(50 * random.gaussian())) == ToneEvent::kReversal) {
      ++found;
      told = n;
    }
  }
  EXPECT_EQ(found, 1);
  EXPECT_NEAR(d.reversal_time(), kAt, 1) << "0.1 ms";
  EXPECT_NEAR((told - kAt) / kMs, 6, 4) << "ms after it came";
  EXPECT_NEAR(d.steady_before_reversal_ms(), kAt / kMs, 20);
  EXPECT_NEAR(d.steady_ms(), 1000, 4) << "a reversal is no break";
  EXPECT_NEAR(d.unbroken_ms(), (8000 - kAt) / kMs, 10);
}

// All other frequencies on the grid of 150 Hz are at zeros of its window, however strong.
TEST(ToneDetector, IsDeafToTheGridOf150Hz) {
  ToneDetector d(1200);
  for (int n = 0; n < 4000; ++n) d.put(tone(1050, n, 8000) + tone(1350, n, 8000) + tone(1800, n, 8000));
  EXPECT_FALSE(d.present());
  EXPECT_LT(magnitude(d.average()), 40);
}

TEST(ToneDetector, HearsAToneBesideAnother) {
  ToneDetector d(1200);
  for (int n = 0; n < 4000; ++n) d.put(tone(1200, n) + tone(1800, n));
  EXPECT_TRUE(d.present());
  EXPECT_NEAR(d.share(), 0.5, 0.05);
}

}  // namespace
}  // namespace offhook
