// SPDX-License-Identifier: MIT
//
// Rows that compare: which of them a published value 20 % off would change.
#include "src/lab/reproduce/claim.h"

#include <gtest/gtest.h>

namespace offhook::reproduce {
namespace {

TEST(Row, OneThatAnotherPublishedValueWouldChangeIsSharp) {
  EXPECT_TRUE(within("period", "ms", 12.5, 12.5, 0.05).sharp);
  EXPECT_TRUE(within_share("mean", "s", 36.4, 35.0, 0.05).sharp);
  EXPECT_TRUE(within_share("mean", "s", 36.4, 580.0, 0.30).sharp);  // it disagrees
  EXPECT_TRUE(at_most("pending", "samples", 30, 26).sharp);         // 24 would be too few
  EXPECT_TRUE(between("mean time", "min", 45, 75, 68).sharp);       // 36 to 60 would not hold it
  EXPECT_TRUE(same("class", "marginal", "marginal").sharp);         // a claim in words: it can fail
}

TEST(Row, OneThatAgreesWithAnythingNearbyIsNot) {
  EXPECT_FALSE(at_least("time in the handler against the limit of PC 99", "us", 100, 3301).sharp);
  EXPECT_FALSE(within_share("stolen", "%", 1.1, 1.065, 0.3).sharp);
  EXPECT_FALSE(within("stolen", "%", 10, 10, 4).sharp);
}

}  // namespace
}  // namespace offhook::reproduce
