// SPDX-License-Identifier: MIT
#include "dsp/blocks/hum_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>

namespace offhook {
namespace {

constexpr double kPeak = 3000;

float tone(double hz, int n, double peak = kPeak) {
  return static_cast<float>(peak * std::cos(2 * std::numbers::pi * hz * n / 8000));
}

/// AA, or AC, with reversals every 0.3 s.
float aa(int n) {
  return (n / 2400 % 2 != 0 ? -1.f : 1.f) * tone(1800, n);
}
float ac(int n) {
  return (n / 2400 % 2 != 0 ? -0.5f : 0.5f) * (tone(607, n) + tone(3007, n));
}

/// @return whether it removed anything within a second of searching
bool finds(const std::function<float(int)>& signal) {
  HumFilter filter(kHighPassFrom220);
  filter.search();
  bool found = false;
  for (int n = 0; n < 8000; ++n) {
    filter.process(signal(n));
    found |= filter.removes();
  }
  return found;
}

TEST(HumFilter, PassesStartUpSignalsUnchanged) {
  std::mt19937 random(1);
  std::normal_distribution<float> noise(0, static_cast<float>(kPeak / std::sqrt(2) * std::pow(10, -15. / 20)));
  const std::function<float(int)> signals[] = {aa,
                                               ac,
                                               [](int n) { return aa(n) + ac(n); },
                                               [](int n) { return tone(2100, n); },
                                               [&](int n) { return aa(n) + noise(random); },
                                               [](int) { return 0.f; }};
  for (const auto& signal : signals) {
    EXPECT_FALSE(finds(signal)) << &signal - signals;
  }
}

TEST(HumFilter, ChangesNoSampleOfALineWithoutHum) {
  HumFilter filter(kHighPassFrom220);
  filter.search();
  for (int n = 0; n < 8000; ++n) ASSERT_EQ(filter.process(ac(n)), ac(n));
}

TEST(HumFilter, FindsDcAndTheMainsUpTo20dBBelowTheTones) {
  for (const double hz : {0., 50., 60., 100.}) {
    for (const double db : {-20., 0., 12.}) {
      const double peak = kPeak * std::pow(10, db / 20) * (hz == 0 ? std::sqrt(0.5) : 1);
      EXPECT_TRUE(finds([&](int n) { return aa(n) + tone(hz, n, peak); })) << hz << ' ' << db;
      EXPECT_TRUE(finds([&](int n) { return ac(n) + tone(hz, n, peak); })) << hz << ' ' << db;
    }
  }
}

TEST(HumFilter, TheDecisionStaysAfterTheSearch) {
  HumFilter filter(kHighPassFrom220);
  filter.search();
  for (int n = 0; n < 1600; ++n) filter.process(aa(n) + 300);
  filter.settle();
  double last = 0;
  for (int n = 1600; n < 9600; ++n) {
    const float y = filter.process(300);
    if (n >= 8000) last = std::max(last, static_cast<double>(std::abs(y)));
  }
  EXPECT_TRUE(filter.removes());
  EXPECT_LT(last, 0.1);
  filter.set(nullptr);
  EXPECT_EQ(filter.process(300), 300);
  for (int n = 0; n < 8000; ++n) filter.process(300);
  EXPECT_FALSE(filter.removes());
}

// A retrain searches again: hum that has ended is no longer removed.
TEST(HumFilter, ANewSearchReplacesTheDecision) {
  HumFilter filter(kHighPassFrom220);
  for (const bool hum : {true, false, true}) {
    filter.search();
    for (int n = 0; n < 1600; ++n) filter.process(aa(n) + (hum ? tone(50, n) : 0));
    filter.settle();
    EXPECT_EQ(filter.removes(), hum);
  }
}

}  // namespace
}  // namespace offhook
