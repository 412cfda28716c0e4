// SPDX-License-Identifier: MIT
#include "dsp/v34/session/call_memory.h"

#include <gtest/gtest.h>

namespace offhook::v34 {
namespace {

constexpr uint64_t minutes(double m) {
  return static_cast<uint64_t>(m * 60 * 8000);
}

CallMemory::Ended untrained(uint64_t at, SymbolRate s = SymbolRate::k3429) {
  return {at, s, true, false, 0, {}};
}

TEST(V34CallMemory, ASymbolRateThatFailedIsAvoidedForFiveMinutesThenTwiceAsLong) {
  CallMemory memory;
  EXPECT_EQ(memory.avoided(0), 0);
  memory.put(untrained(minutes(1)));
  constexpr SymbolRates k3429Only = 1u << static_cast<int>(SymbolRate::k3429);
  EXPECT_EQ(memory.avoided(minutes(5.9)), k3429Only);
  EXPECT_EQ(memory.avoided(minutes(6.1)), 0);
  memory.put(untrained(minutes(7)));
  EXPECT_EQ(memory.avoided(minutes(16.9)), k3429Only);
  EXPECT_EQ(memory.avoided(minutes(17.1)), 0);
}

TEST(V34CallMemory, WhatDataLostIsHalvedEveryFiveMinutes) {
  CallMemory memory;
  CallMemory::Ended ended{minutes(1), SymbolRate::k3200, false, false, minutes(1), {}};
  ended.rates.loss = 9;
  memory.put(ended);
  EXPECT_EQ(memory.rates(minutes(2)).loss, 9);
  EXPECT_EQ(memory.rates(minutes(6.1)).loss, 5);
  EXPECT_EQ(memory.rates(minutes(11.1)).loss, 3);
  EXPECT_EQ(memory.rates(minutes(600)).loss, 1);
  memory.put(untrained(minutes(2)));  // without data, nothing is learnt about them
  EXPECT_EQ(memory.rates(minutes(2)).loss, 9);
}

TEST(V34CallMemory, TrainingsWithoutLastingDataAreCounted) {
  CallMemory memory;
  for (int n = 1; n <= 3; ++n) {
    memory.put(untrained(0));
    EXPECT_EQ(memory.in_vain(), n);
  }
  memory.put({0, SymbolRate::k3200, false, false, 9 * 8000, {}});
  EXPECT_EQ(memory.in_vain(), CallMemory::kTrainingsInVain);
  memory.put({0, SymbolRate::k3200, false, false, 10 * 8000, {}});
  EXPECT_EQ(memory.in_vain(), 0);
}

}  // namespace
}  // namespace offhook::v34
