// SPDX-License-Identifier: MIT
#include "src/lab/analysis/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace offhook;

namespace {
std::vector<RunOutcome> runs(int complete, double seconds, int lost) {
  std::vector<RunOutcome> out(static_cast<std::size_t>(complete), {true, seconds});
  out.resize(out.size() + static_cast<std::size_t>(lost));
  return out;
}
}  // namespace

TEST(Verdict, SufficientNeedsEveryRunCompleteAndInTime) {
  EXPECT_EQ(classify(runs(10, 36.4, 0), 36.37).verdict, Verdict::kSufficient);
  EXPECT_EQ(classify(runs(9, 36.4, 1), 36.37).verdict, Verdict::kMarginal);
  EXPECT_EQ(classify(runs(10, 36.37 * 1.06, 0), 36.37).verdict, Verdict::kMarginal);
  EXPECT_EQ(classify(runs(10, 36.37 * 1.04, 0), 36.37).verdict, Verdict::kSufficient);
}

TEST(Verdict, InsufficientWhenNoRunCompletes) {
  const VerdictResult result = classify(runs(0, 0, 10), 36.37);
  EXPECT_EQ(result.verdict, Verdict::kInsufficient);
  EXPECT_FALSE(result.slower.has_value());
}

TEST(Verdict, PublishedMarginalRowsAreMarginal) {  // Table 3: 2/14 and 3/16
  EXPECT_EQ(classify(runs(2, 65.172, 8), 36.367).verdict, Verdict::kMarginal);
  EXPECT_EQ(classify(runs(9, 110.523, 1), 36.367).verdict, Verdict::kMarginal);
}

TEST(Verdict, StatisticsAreOfTheCompleteRuns) {
  const std::vector<RunOutcome> outcomes = {{true, 2}, {false, 99}, {true, 4}};
  const VerdictResult result = classify(outcomes, 2.0);
  EXPECT_EQ(result.complete, 2u);
  EXPECT_DOUBLE_EQ(result.mean_s, 3);
  EXPECT_DOUBLE_EQ(result.min_s, 2);
  EXPECT_DOUBLE_EQ(result.max_s, 4);
  EXPECT_DOUBLE_EQ(result.deviation_s, std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(*result.slower, 0.5);
}

TEST(Verdict, WithoutAReferenceCompleteRunsAreSufficient) {
  EXPECT_EQ(classify(runs(3, 1000, 0), {}).verdict, Verdict::kSufficient);
}

TEST(Verdict, NamesAreReadAsTheyAreWritten) {
  for (const Verdict v : {Verdict::kSufficient, Verdict::kMarginal, Verdict::kInsufficient})
    EXPECT_EQ(verdict_named(to_string(v)), v);
  EXPECT_FALSE(verdict_named("sufficent"));
}
