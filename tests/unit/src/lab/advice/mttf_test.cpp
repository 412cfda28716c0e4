// SPDX-License-Identifier: MIT
#include "src/lab/advice/mttf.h"

#include <gtest/gtest.h>

#include <cmath>

namespace offhook {
namespace {

using hostsim::LatencyDistribution;

// Garwood's interval from tables: 0 -> [0, 3.689], 1 -> [0.0253, 5.572], 10 -> [4.795, 18.39], 100 -> [81.36, 121.63].
TEST(PoissonInterval, IsTheTabledOne) {
  EXPECT_EQ(poisson_interval(0).low, 0);
  EXPECT_NEAR(poisson_interval(0).high, 3.689, 1e-3);
  EXPECT_NEAR(poisson_interval(1).low, 0.0253, 1e-4);
  EXPECT_NEAR(poisson_interval(1).high, 5.572, 1e-3);
  EXPECT_NEAR(poisson_interval(10).low, 4.795, 1e-3);
  EXPECT_NEAR(poisson_interval(10).high, 18.39, 1e-2);
  EXPECT_NEAR(poisson_interval(100).low, 81.36, 1e-2);
  EXPECT_NEAR(poisson_interval(100).high, 121.63, 1e-2);
}

TEST(Mttf, IsTheCycleTimeOverTheFrequencyOfLatenciesAboveTheSlack) {
  const LatencyDistribution d({{1, 1}, {0.001, 10}, {0.0001, 30}});
  const Buffering b{5, 3, 0};
  EXPECT_EQ(b.tolerance_ms(), 10);
  EXPECT_NEAR(published_mttf_s(d, b), 0.010 / 0.001, 1e-9);
  EXPECT_NEAR(mttf_s(d, b), 0.005 / 0.001, 1e-9);
  EXPECT_TRUE(std::isinf(mttf_s(d, {20, 3, 0})));
}

// With double buffering both formulas and the simulation give the same number.
TEST(Mttf, SimulationAgreesWithTheFormulaForDoubleBuffering) {
  const LatencyDistribution d({{1, 0.02}, {1e-4, 20}, {1e-5, 40}});
  const Buffering b{16, 2, 4};
  const UnderrunRun run = simulate_underruns(d, b, 1e7, 2000, 3);
  EXPECT_EQ(run.underruns, 2000u);
  const Interval i = run.mttf_interval_s();
  EXPECT_LT(i.low, published_mttf_s(d, b));
  EXPECT_GT(i.high, published_mttf_s(d, b));
}

TEST(Mttf, ALongLatencySpoilsTheNextBuffersTooAndIsOneUnderrun) {
  // Every wait takes 9 ms: the buffers of 0, 4 and 8 ms wait together. Tolerance 4 ms, cost 1 ms: done at 10, 11, 12:
  // more than 4 ms late, except the last, which meets 12 = 8 + 4. Then 12 waits until 21 ...
  const LatencyDistribution d({{1, 9}});
  const UnderrunRun run = simulate_underruns(d, {4, 2, 1}, 0.012, 1000, 1);
  EXPECT_EQ(run.buffers, 3u);
  EXPECT_EQ(run.missed, 2u);
  EXPECT_EQ(run.underruns, 1u);
}

TEST(Mttf, TheSameSeedGivesTheSameUnderruns) {
  const LatencyDistribution d({{1, 0.02}, {1e-3, 20}});
  const auto count = [&](std::uint64_t seed) { return simulate_underruns(d, {4, 2, 1}, 3600, 1 << 30, seed).missed; };
  EXPECT_EQ(count(5), count(5));
  EXPECT_NE(count(5), count(6));
}

}  // namespace
}  // namespace offhook
