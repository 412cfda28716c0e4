// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/sd_detector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace offhook::v90 {
namespace {

constexpr int kSd = 64 * SdDetector::kGroup;  // 8.4.4: 64 times six symbols

struct Heard {
  int sure_at = -1;  // after so many samples
  int age = 0;
  double clock = 0;
  bool in_sd = false;  // ever
};

/// Sd from sample `from` on, as a line that passes nothing of 4000 Hz gives it, then Sd-bar.
Heard hear(double rms, double noise_rms, double clock, int from, double groups_a_turn = 1) {
  std::mt19937 random{11};
  std::normal_distribution<double> noise(0, noise_rms > 0 ? noise_rms : 1);
  SdDetector detector;
  Heard heard;
  for (int n = 0; n < from + 2 * kSd && heard.sure_at < 0; ++n) {
    const double turns = (n - from) * (1 + clock) / SdDetector::kGroup / groups_a_turn;
    double u = noise_rms > 0 ? noise(random) : 0;
    const double sign = turns * groups_a_turn < kSd / double{SdDetector::kGroup} ? 1 : -1;
    if (n >= from) u += sign * rms * std::numbers::sqrt2 * std::cos(2 * std::numbers::pi * (turns + 0.1));
    const bool sure = detector.put(static_cast<float>(u));
    heard.in_sd |= detector.in_sd();
    if (sure) heard = {n + 1, detector.age(), detector.clock(), true};
  }
  return heard;
}

TEST(V90SdDetector, FindsTheChangeOfSignAndTheClock) {
  for (const double clock : {0., 1e-4, -2e-4}) {
    for (const int from : {0, 100, 105}) {
      for (const double noise : {0., 10.}) {
        SCOPED_TRACE(testing::Message() << clock << ", from " << from << ", noise " << noise);
        const Heard heard = hear(500, noise, clock, from);
        ASSERT_GT(heard.sure_at, 0);
        EXPECT_NEAR(heard.age, heard.sure_at - (from + kSd / (1 + clock)), 3);
        EXPECT_NEAR(heard.clock, clock, noise > 0 ? 3e-5 : 1e-5);
      }
    }
  }
}

TEST(V90SdDetector, TakesNeitherNoiseNorOtherTonesNorWhatIsTooQuietForSd) {
  EXPECT_FALSE(hear(0, 500, 0, 0).in_sd);
  EXPECT_FALSE(hear(500, 0, 0, 0, 4. / 3).in_sd) << "1000 Hz";
  EXPECT_FALSE(hear(4, 0, 0, 0).in_sd) << "20 and less is the power of no Sd";
  EXPECT_TRUE(hear(5, 0, 0, 0).in_sd);
  EXPECT_FALSE(hear(500, 500, 0, 0).in_sd) << "half of the power";
  EXPECT_TRUE(hear(500, 250, 0, 0).in_sd) << "four fifths of the power";
}

}  // namespace
}  // namespace offhook::v90
