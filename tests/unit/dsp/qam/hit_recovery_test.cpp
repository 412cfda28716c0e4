// SPDX-License-Identifier: MIT
#include "dsp/qam/hit_recovery.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "dsp/blocks/nco.h"

namespace offhook::qam {
namespace {

constexpr int kSymbols = HitRecovery::kSymbols;
constexpr Complex kNoWhitening[3]{};

TEST(HitRecovery, NearestPointsAreOfTheGrid) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> at(-9, 9);
  for (int n = 0; n < 1000; ++n) {
    const Complex y{at(random), at(random)};
    const Complex odd = nearest_on(Grid::kOdd, y), sum = nearest_on(Grid::kOddSum, y);
    EXPECT_EQ(std::abs(std::remainder(odd.re, 2.f)), 1);
    EXPECT_EQ(std::abs(std::remainder(odd.im, 2.f)), 1);
    EXPECT_LE(std::max(std::abs(y.re - odd.re), std::abs(y.im - odd.im)), 1.0001f);
    EXPECT_EQ(std::abs(std::remainder(sum.re + sum.im, 2.f)), 1);
    EXPECT_LE(std::abs(y.re - sum.re) + std::abs(y.im - sum.im), 1.0001f);
  }
}

/// Symbols of 960 points of the odd grid with noise of 0.15 per dimension, with or without a hit from the start.
struct Hit {
  static constexpr float kScale = 25;
  std::mt19937 random{1};
  HitRecovery recovery;
  std::vector<Complex> recent;

  Complex point() {
    std::uniform_int_distribution<int> at(-16, 15);
    for (;;) {
      const Complex p{2.f * static_cast<float>(at(random)) + 1, 2.f * static_cast<float>(at(random)) + 1};
      if (norm(p) < 1200) return p;
    }
  }
  /// @return whether the search became due
  bool run(int symbols, float turns, float gain) {
    std::normal_distribution<float> noise(0, std::sqrt(0.15f));
    const Complex hit = gain * unit_phasor(phase_of(turns));
    bool due = false;
    for (int n = 0; n < symbols; ++n) {
      const Complex y = point() * hit + Complex{noise(random), noise(random)};
      recent.push_back(1 / kScale * y);
      due = recovery.put(norm(y - nearest_on(Grid::kOdd, y)));
      if (due) return true;
    }
    return false;
  }
  HitRecovery::Found search() {
    return recovery.search(Grid::kOdd, recent.data() + recent.size() - kSymbols, kScale, 0, kNoWhitening);
  }
};

TEST(HitRecovery, FindsTurnAndGainWithin256Symbols) {
  for (const float degrees : {0.f, 5.f, -10.f}) {
    for (const float db : {0.f, 0.5f, -1.f, 3.f}) {
      if (degrees == 0 && db == 0) continue;
      Hit hit;
      ASSERT_FALSE(hit.run(20 * kSymbols, 0, 1));
      ASSERT_FALSE(hit.recovery.waiting());
      const float gain = std::pow(10.f, db / 20);
      ASSERT_TRUE(hit.run(2 * kSymbols, degrees / 360, gain)) << degrees << " degrees, " << db << " dB";
      const HitRecovery::Found found = hit.search();
      EXPECT_TRUE(found.found) << degrees << " degrees, " << db << " dB";
      EXPECT_NEAR(found.turns * 360, degrees, 0.3);
      EXPECT_NEAR(found.gain, gain, 0.01f);
      EXPECT_FALSE(hit.recovery.waiting());
    }
  }
}

// A short gap damages symbols but not the loops. An estimate of turn and gain would add its noise.
TEST(HitRecovery, ChangesNothingAfterAGap) {
  Hit hit;
  ASSERT_FALSE(hit.run(20 * kSymbols, 0, 1));
  for (int n = 0; n < kSymbols; ++n) {
    const bool gap = n < 27;  // 8 ms at 3429 symbols/s
    ASSERT_FALSE(gap ? hit.recovery.put(200) : hit.run(1, 0, 1));
  }
  ASSERT_TRUE(hit.recovery.waiting());
  ASSERT_TRUE(hit.run(kSymbols, 0, 1));
  const HitRecovery::Found found = hit.search();
  EXPECT_TRUE(found.found);
  EXPECT_EQ(found.turns, 0);
  EXPECT_EQ(found.gain, 1);
  EXPECT_FALSE(hit.recovery.waiting());
}

TEST(HitRecovery, TakesNoNoiseForAHitAndGivesUpWhereNoTurnHelps) {
  Hit hit;
  ASSERT_FALSE(hit.run(2000 * kSymbols, 0, 1));
  // A completely different signal: the grid turns continuously.
  std::uniform_real_distribution<float> any(-25, 25);
  for (int tries = 0; tries < 4; ++tries) {
    bool due = false;
    while (!due) {
      const Complex y{any(hit.random), any(hit.random)};
      hit.recent.push_back(1 / Hit::kScale * y);
      due = hit.recovery.put(norm(y - nearest_on(Grid::kOdd, y)));
    }
    EXPECT_FALSE(hit.search().found);
    EXPECT_EQ(hit.recovery.waiting(), tries < 3);
  }
}

}  // namespace
}  // namespace offhook::qam
