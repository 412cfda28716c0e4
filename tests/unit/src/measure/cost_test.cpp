// SPDX-License-Identifier: MIT
#include "src/measure/cost.h"

#include <gtest/gtest.h>

#include <vector>

namespace offhook::measure {
namespace {

TEST(MeasureCost, TimesEveryBlockOfTheDataModeThatWasAskedFor) {
  CostConfig config;
  config.modem = kV22bis;
  config.block_plan = {80};
  config.data_s = 2;
  std::vector<double> shares;
  const CostResult result = measure_cost(config, [&](double share) {
    shares.push_back(share);
    return true;
  });
  ASSERT_TRUE(result.connected);
  ASSERT_EQ(result.phases.size(), 2u);
  EXPECT_EQ(result.phases[1].blocks, 200u) << "2 s of 8000 samples, 80 a block";
  EXPECT_GT(result.phases[0].blocks, 50u) << "it had to connect";
  EXPECT_GT(shares.size(), 2u);
  EXPECT_GE(shares.front(), 0);
  EXPECT_LT(shares.back(), 1);
  for (const CostPhase& phase : result.phases) {
    EXPECT_EQ(phase.cost.count(), phase.blocks) << phase.name;
    EXPECT_NEAR(phase.ns_per_sample, static_cast<double>(phase.cost.quantile(0.5)) / 80, 1e-9) << phase.name;
    EXPECT_NEAR(phase.share, phase.ns_per_sample * 8000e-9, 1e-12) << phase.name;
  }
}

TEST(MeasureCost, StopsWhenAsked) {
  CostConfig config;
  config.modem = kV22bis;
  const CostResult result = measure_cost(config, [](double) { return false; });
  EXPECT_FALSE(result.connected);
  EXPECT_EQ(result.phases[1].blocks, 0u);
}

}  // namespace
}  // namespace offhook::measure
