// SPDX-License-Identifier: MIT
#include "src/lab/analysis/confidence.h"

#include <gtest/gtest.h>

#include <cmath>

namespace offhook {
namespace {

// Quantiles of Student's t from tables: 12.706 with 1 degree of freedom, 2.262 with 9, 2.045 with 29.
TEST(MeanInterval, IsStudents) {
  const MeanInterval two = mean_interval({0, 2});
  EXPECT_DOUBLE_EQ(two.mean, 1);
  EXPECT_NEAR(two.half_width, 12.706 * std::sqrt(2.0) / std::sqrt(2.0), 0.001);
  std::vector<double> ten, thirty;
  for (int i = 0; i < 10; ++i) ten.push_back(i);
  for (int i = 0; i < 30; ++i) thirty.push_back(i % 2);
  const MeanInterval of_ten = mean_interval(ten);
  EXPECT_NEAR(of_ten.half_width * std::sqrt(10.0) / of_ten.deviation, 2.262, 0.001);
  const MeanInterval of_thirty = mean_interval(thirty);
  EXPECT_NEAR(of_thirty.half_width * std::sqrt(30.0) / of_thirty.deviation, 2.045, 0.001);
  EXPECT_EQ(mean_interval({5}).half_width, 0);
}

}  // namespace
}  // namespace offhook
