// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/chen_paths.h"

#include <gtest/gtest.h>

namespace offhook::reproduce {
namespace {

constexpr CrossingCosts kCosts{100, 30, 1000};

TEST(ChenPaths, CrossingsAreCountedOnTheWay) {
  EXPECT_EQ(run_path(monolithic_path(), kCosts, 7).crossings, 2);
  EXPECT_EQ(run_path(server_path(), kCosts, 7).crossings, 6);
  Path short_way = server_path();  // a server that answers automatically
  short_way.server = {Step::kLeave, Step::kEnter, Step::kHandOver};
  EXPECT_EQ(run_path(short_way, kCosts, 7).crossings, 4);
}

TEST(ChenPaths, ACallTakesItsStepsAndNothingElse) {
  EXPECT_DOUBLE_EQ(run_path(monolithic_path(), kCosts, 50).elapsed_us, 0.13);
  EXPECT_DOUBLE_EQ(run_path(server_path(), kCosts, 50).elapsed_us, 0.39);
  const PathResult modes = run_path(mode_change_path(6), kCosts, 50);
  EXPECT_DOUBLE_EQ(modes.elapsed_us, 6);
  EXPECT_EQ(modes.mode_changes, 6);
  EXPECT_EQ(modes.crossings, 0);
}

}  // namespace
}  // namespace offhook::reproduce
