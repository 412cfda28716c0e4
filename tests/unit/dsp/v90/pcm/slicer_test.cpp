// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/slicer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace offhook::v90 {
namespace {

TEST(V90Slicer, FindsWhatLookingAtEveryLevelFinds) {
  std::mt19937 random(1);
  for (int points = 1; points <= 128; ++points) {
    std::vector<float> level(static_cast<size_t>(points));
    float next = 0;
    for (int n = points - 1; n >= 0; --n) level[static_cast<size_t>(n)] = next += 1 + static_cast<float>(random() % 60);
    for (int k = 0; k < 500; ++k) {
      const float magnitude = static_cast<float>(random() % 2000) / 1999 * (next + 50);
      int nearest = 0;
      for (int n = 1; n < points; ++n) {
        const auto apart = [&](int m) { return std::fabs(magnitude - level[static_cast<size_t>(m)]); };
        if (apart(n) < apart(nearest)) nearest = n;
      }
      EXPECT_EQ(nearest_label(magnitude, points, [&](int n) { return level[static_cast<size_t>(n)]; }), nearest)
          << points << " points, " << magnitude;
    }
  }
}

TEST(V90Slicer, HalfWayIsTheGreaterLevelAndNoNumberIsSomeLabel) {
  constexpr float kLevels[] = {30, 20, 10};
  const auto level = [&](int n) { return kLevels[n]; };
  EXPECT_EQ(nearest_label(15, 3, level), 1);
  EXPECT_EQ(nearest_label(25, 3, level), 0);
  EXPECT_EQ(nearest_label(1000, 3, level), 0);
  EXPECT_EQ(nearest_label(0, 3, level), 2);
  const int label = nearest_label(NAN, 3, level);
  EXPECT_GE(label, 0);
  EXPECT_LT(label, 3);
}

}  // namespace
}  // namespace offhook::v90
