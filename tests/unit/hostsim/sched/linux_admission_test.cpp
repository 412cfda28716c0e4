// SPDX-License-Identifier: MIT
#include "hostsim/sched/linux_admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace offhook::hostsim {
namespace {

using Asked = std::vector<DeadlineAdmission::Asked>;

constexpr Ns kMs = 1'000'000;

TEST(DeadlineAdmission, OneCpuTakes95PercentAnd90WithTheFairServer) {
  const DeadlineAdmission before{1, false}, since{1, true};
  EXPECT_EQ(before.problem(Asked{{"a", 95 * kMs, 100 * kMs}}), "");
  EXPECT_NE(before.problem(Asked{{"a", 96 * kMs, 100 * kMs}}), "");
  EXPECT_NE(before.problem(Asked{{"a", 100 * kMs, 100 * kMs}}), "");
  EXPECT_EQ(since.problem(Asked{{"a", 90 * kMs, 100 * kMs}}), "");
  EXPECT_NE(since.problem(Asked{{"a", 91 * kMs, 100 * kMs}}), "");
}

// The answers of sched_setattr() on two CPUs with Linux 6.18.
TEST(DeadlineAdmission, TwoCpusTakeWhatLinux618Took) {
  const DeadlineAdmission two{2, true};
  EXPECT_EQ(two.problem(Asked{{"a", 96 * kMs, 100 * kMs}}), "");
  EXPECT_EQ(two.problem(Asked{{"a", 100 * kMs, 100 * kMs}}), "");
  EXPECT_EQ(two.problem(Asked{{"a", 90 * kMs, 100 * kMs}, {"b", 90 * kMs, 100 * kMs}}), "");
  EXPECT_EQ(
      two.problem(Asked{{"a", 90 * kMs, 100 * kMs}, {"b", 90 * kMs, 100 * kMs}, {"c", 5 * kMs, 100 * kMs}}),
      "sched_setattr of 'c' fails with EBUSY: SCHED_DEADLINE admits at most 180 % for 2 CPUs together (95 % of each, "
      "less 5 % for the fair server); it asks for 5 % and others have 180 %");
}

}  // namespace
}  // namespace offhook::hostsim
