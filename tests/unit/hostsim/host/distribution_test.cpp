// SPDX-License-Identifier: MIT
#include "hostsim/host/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "hostsim/engine/random.h"

namespace offhook::hostsim {
namespace {

constexpr std::array<double, 3> kWorst = {45, 58, 84}, kWaits = {87840, 307440, 2152080};

LatencyDistribution games() {
  return LatencyDistribution::through_worst_cases(0.02, kWorst, kWaits);
}

TEST(LatencyDistribution, PassesThroughTheWorstCaseOfEachNumberOfWaits) {
  for (std::size_t i = 0; i < 3; i++) {
    EXPECT_NEAR(games().latency_ms(1 / kWaits[i]), kWorst[i], 1e-9);
    if (i < 2) {
      EXPECT_NEAR(games().longer_than(kWorst[i]) * kWaits[i], 1, 1e-9);
    }
  }
  EXPECT_NEAR(games().latency_ms(1), 0.02, 1e-15);
}

TEST(LatencyDistribution, KnowsNothingBeyondTheWorstThatWasMeasured) {
  EXPECT_EQ(games().longer_than(84), 0);
  EXPECT_EQ(games().latency_ms(1e-12), 84);
  EXPECT_EQ(games().longer_than(0.019), 1);
}

TEST(LatencyDistribution, BetweenTwoPointsIsAStraightLineInLogLog) {
  EXPECT_NEAR(games().latency_ms(std::sqrt(1 / kWaits[0] / kWaits[1])), std::sqrt(45.0 * 58.0), 1e-9);
  for (double x : {0.03, 1.0, 44.9, 50.0, 83.0}) EXPECT_NEAR(games().latency_ms(games().longer_than(x)), x, 1e-9 * x);
}

TEST(LatencyDistribution, DrawsHaveItsFrequenciesAndItsMean) {
  const LatencyDistribution d = games();
  const Random random(11, 3);
  constexpr int kDraws = 2'000'000;
  double sum = 0;
  std::array<int, 3> longer{};
  constexpr std::array<double, 3> kAt = {0.1, 1, 10};
  for (int i = 0; i < kDraws; i++) {
    const double x = d.latency_ms(random.uniform(static_cast<std::uint64_t>(i)));
    sum += x;
    for (std::size_t k = 0; k < 3; k++) longer[k] += x > kAt[k];
  }
  for (std::size_t k = 0; k < 3; k++) {
    const double expected = kDraws * d.longer_than(kAt[k]);
    EXPECT_NEAR(longer[k], expected, 5 * std::sqrt(expected)) << kAt[k];
  }
  EXPECT_NEAR(sum / kDraws, d.mean_ms(), 0.01 * d.mean_ms());
}

TEST(LatencyDistribution, ADayAsBadAsAWeekIsAStep) {
  const std::array<double, 3> worst = {21, 24, 24};
  const auto d = LatencyDistribution::through_worst_cases(0.02, worst, kWaits);
  EXPECT_NEAR(d.longer_than(23.999) * kWaits[1], 1, 1e-2);
  EXPECT_EQ(d.longer_than(24), 0);
  EXPECT_NEAR(d.latency_ms(1 / kWaits[1]), 24, 1e-12);
}

TEST(LatencyDistribution, LeastMeanAndGreatestAreKept) {
  for (const auto& [least, mean, greatest] :
       {std::array{0.9, 2.9, 9.1}, {1.9, 2.8, 5.7}, {14.8, 38.2, 54.3}, {12.9, 28.7, 163.3}, {9.6, 26.4, 55.6}}) {
    const auto d = LatencyDistribution::through_moments(least, mean, greatest, 20000);
    EXPECT_EQ(d.points().front().latency_ms, least);
    EXPECT_NEAR(d.mean_ms(), mean, 1e-6);
    EXPECT_EQ(d.worst_ms(), greatest);
  }
}

TEST(LatencyDistribution, MoreOftenMultipliesTheRareOnes) {
  const LatencyDistribution with = games().more_often(165);
  EXPECT_NEAR(with.longer_than(50) / games().longer_than(50), 165, 1e-6);
  EXPECT_EQ(with.worst_ms(), 84);
  EXPECT_EQ(with.longer_than(0.01), 1);
}

TEST(LatencyDistribution, RefusesPointsThatAreNone) {
  EXPECT_THROW(LatencyDistribution({}), std::invalid_argument);
  EXPECT_THROW(LatencyDistribution({{0.5, 1}}), std::invalid_argument);
  EXPECT_THROW(LatencyDistribution({{1, 0}}), std::invalid_argument);
  EXPECT_THROW(LatencyDistribution({{1, 1}, {0.5, 0.9}}), std::invalid_argument);
  EXPECT_THROW(LatencyDistribution({{1, 1}, {1, 2}}), std::invalid_argument);
  EXPECT_THROW(LatencyDistribution({{1, 1}, {0.5, std::nan("")}}), std::invalid_argument);
  EXPECT_THROW(LatencyDistribution::through_moments(1, 1, 2, 100), std::invalid_argument);
}

}  // namespace
}  // namespace offhook::hostsim
