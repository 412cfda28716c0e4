// SPDX-License-Identifier: MIT
#include "driver/core/logged_instrument.h"

#include <gtest/gtest.h>

namespace offhook {
namespace {

/// A reader of the log treats the 24 bits as two's complement.
std::int32_t hundredths(float value) {
  const std::uint32_t bits = logged_hundredths(value);
  EXPECT_LE(bits, 0xffffffu);
  return static_cast<std::int32_t>(bits << 8) >> 8;
}

TEST(LoggedInstrument, IsTheNearestHundredthOfEitherSign) {
  EXPECT_EQ(hundredths(0), 0);
  EXPECT_EQ(hundredths(-14.5f), -1450);
  EXPECT_EQ(hundredths(36.126f), 3613);
  EXPECT_EQ(hundredths(-0.004f), 0);
  EXPECT_EQ(hundredths(3429.f), 342'900);
}

TEST(LoggedInstrument, BeyondItsBitsItIsCutAndKeepsItsSign) {
  EXPECT_EQ(hundredths(83'000.f), 8'300'000);
  for (const float beyond : {83'001.f, 84'000.f, 1e6f, 1e30f}) {
    EXPECT_EQ(hundredths(beyond), 8'300'000) << beyond;
    EXPECT_EQ(hundredths(-beyond), -8'300'000) << beyond;
  }
}

}  // namespace
}  // namespace offhook
