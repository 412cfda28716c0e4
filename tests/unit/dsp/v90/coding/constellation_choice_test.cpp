// SPDX-License-Identifier: MIT
#include "dsp/v90/coding/constellation_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "dsp/v90/coding/data_frame.h"

namespace offhook::v90 {
namespace {

// What arrives where the last bit of the octets of some intervals is set to one by signalling.
LearntLevels levels(Law law, unsigned robbed, double pad_db = 0) {
  LearntLevels l{};
  const double gain = std::pow(10., -pad_db / 20);
  for (int i = 0; i < kFrameIntervals; ++i) {
    for (int u = 0; u < kUcodes; ++u) {
      uint8_t octet = octet_of(law, {static_cast<uint8_t>(u), true});
      if (pad_db > 0) octet = nearest_octet(law, static_cast<int>(std::lround(gain * linear_of(law, u))));
      if (robbed >> i & 1) octet |= 1;
      l.level[i][u] = static_cast<float>(linear_of(law, pcm_of(law, octet)));
    }
  }
  return l;
}

// The least distance between two points of an interval, or twice that from zero.
float least_distance(const LearntLevels& l, const LabelledPoints& p) {
  float least = 1e9f;
  for (int i = 0; i < kFrameIntervals; ++i) {
    for (int a = 0; a < p.count[i]; ++a) {
      const float x = l.level[i][p.ucode[i][a]];
      least = std::min(least, 2 * x);
      for (int b = 0; b < a; ++b) least = std::min(least, std::fabs(x - l.level[i][p.ucode[i][b]]));
    }
  }
  return least;
}

TEST(V90ConstellationChoice, KeepsTheDistanceAndThePowerLimitOnAnyTrunk) {
  for (const Law law : {Law::kMu, Law::kA}) {
    for (const unsigned robbed : {0u, 1u, 5u, 63u}) {
      for (const double pad : {0., 3., 6.}) {
        for (const int max_power : {11, 17, 23, 29}) {
          const LearntLevels l = levels(law, robbed, pad);
          ConstellationLimits limits;
          limits.law = law;
          limits.max_power = static_cast<uint8_t>(max_power);
          limits.least_distance = 60;
          Cp cp{};
          const float distance = choose_rate(l, limits, &cp);
          FrameParameters p;
          ASSERT_TRUE(frame_parameters(cp, law, &p)) << robbed << " " << pad << " " << max_power;
          EXPECT_GE(distance, 60);
          EXPECT_GE(least_distance(l, p.points), distance * 0.9999f);
          EXPECT_TRUE(is_within_limit(p.k, law, p.points, max_power));
        }
      }
    }
  }
}

// 8.5.2. Both have the largest distance that the same limit of power allows, so that they cannot be far apart.
TEST(V90ConstellationChoice, ThePowerOfTheDataIsAtMost3DbAboveThatOfTheTraining) {
  constexpr int kTrainingBits = 12;
  for (const Law law : {Law::kMu, Law::kA}) {
    for (const unsigned robbed : {0u, 1u, 5u, 63u}) {
      for (const double pad : {0., 3., 6., 9.}) {
        for (int max_power = 0; max_power < 32; ++max_power) {
          for (const float distance : {30.f, 60.f, 200.f, 600.f, 1500.f}) {
            const LearntLevels l = levels(law, robbed, pad);
            ConstellationLimits limits;
            limits.law = law;
            limits.max_power = static_cast<uint8_t>(max_power);
            limits.least_distance = distance;
            Cp cp{}, cpt{};
            FrameParameters data, training;
            if (choose_rate(l, limits, &cp) == 0) continue;
            ASSERT_GT(choose_training(l, limits, kTrainingBits, &cpt), 0);
            ASSERT_TRUE(frame_parameters(cp, law, &data) && frame_parameters(cpt, law, &training));
            const double above = 10 * std::log10(average_power(data.k, law, data.points) /
                                                 average_power(training.k, law, training.points));
            EXPECT_LE(above, 3) << robbed << " " << pad << " " << max_power << " " << distance;
          }
        }
      }
    }
  }
}

TEST(V90ConstellationChoice, RateFallsWithPowerNoiseAndRobbedBitsAndNeverRises) {
  const auto rate = [](unsigned robbed, int max_power, float distance) {
    ConstellationLimits limits;
    limits.max_power = static_cast<uint8_t>(max_power);
    limits.least_distance = distance;
    Cp cp{};
    choose_rate(levels(Law::kMu, robbed), limits, &cp);
    return cp.drn;
  };
  EXPECT_EQ(rate(0, 11, 8), Cp::kMaxDrn);
  for (int power = 1; power < 32; ++power) EXPECT_LE(rate(0, power, 60), rate(0, power - 1, 60));
  for (float d = 8; d < 2000; d *= 1.3f) EXPECT_LE(rate(0, 23, d * 1.3f), rate(0, 23, d));
  for (unsigned n = 1, robbed = 1; n <= 6; ++n, robbed = robbed << 1 | 1) {
    EXPECT_LE(rate(robbed, 17, 30), rate(robbed >> 1, 17, 30));
  }
  EXPECT_LT(rate(63, 17, 12), rate(0, 17, 12));
  EXPECT_EQ(rate(0, 31, 30000), 0);
}

// All the choices there are of two intervals' worth of few points: none carries more, or with a larger distance.
TEST(V90ConstellationChoice, NoOtherSetOfEqualIntervalsDoesBetter) {
  LearntLevels l = levels(Law::kMu, 0);
  for (auto& interval : l.level) {
    for (int u = 0; u < kUcodes; ++u) {
      if (u < 60 || u >= 72) interval[u] = -1;
    }
  }
  ConstellationLimits limits;
  limits.max_power = 20;
  Cp cp{};
  const int k = 12;  // four points each
  const float distance = choose_training(l, limits, k, &cp);
  float best = 0;
  for (unsigned set = 0; set < 1u << 12; ++set) {
    if (std::popcount(set) != 4) continue;
    UcodeMask mask{};
    for (int u = 0; u < 12; ++u) {
      if (set >> u & 1) mask.add(60 + u);
    }
    const uint8_t interval[6] = {};
    const LabelledPoints p = labelled_points(&mask, interval);
    if (is_within_limit(k, Law::kMu, p, limits.max_power)) best = std::max(best, least_distance(l, p));
  }
  EXPECT_NEAR(distance, best, 0.01);
  FrameParameters p;
  EXPECT_TRUE(frame_parameters(cp, Law::kMu, &p));
  EXPECT_EQ(p.k, k);
}

TEST(V90ConstellationChoice, EqualIntervalsShareAConstellation) {
  ConstellationLimits limits;
  limits.least_distance = 60;
  limits.max_power = 23;
  Cp cp{};
  choose_rate(levels(Law::kMu, 0), limits, &cp);
  const int plain = cp.constellations();
  EXPECT_LE(plain, 3);  // trimming leaves intervals one point apart
  choose_rate(levels(Law::kMu, 1), limits, &cp);
  EXPECT_LE(cp.constellations(), plain + 2);
}

}  // namespace
}  // namespace offhook::v90
