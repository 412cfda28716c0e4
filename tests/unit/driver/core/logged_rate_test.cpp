// SPDX-License-Identifier: MIT
#include "driver/core/logged_rate.h"

#include <gtest/gtest.h>

namespace offhook {
namespace {

TEST(LoggedRate, EveryRateThatAModemOrAnAdslPayloadHasComesBack) {
  for (std::uint32_t bit_rate = 2400; bit_rate <= 33'600; bit_rate += 2400)
    EXPECT_EQ(rate_logged(logged_rate(bit_rate)), bit_rate);
  for (std::uint32_t steps = 21; steps <= 42; ++steps)  // V.90
    EXPECT_EQ(rate_logged(logged_rate(steps * 4000 / 3)), steps * 4000 / 3);
  for (const std::uint32_t bit_rate : {0u, 75u, 300u, 1200u}) EXPECT_EQ(rate_logged(logged_rate(bit_rate)), bit_rate);
  for (std::uint32_t payload = 1; payload <= 254; ++payload)
    EXPECT_EQ(rate_logged(logged_rate(32'000 * payload)), 32'000 * payload);
}

TEST(LoggedRate, WhatHasNoCodeFitsItsSixteenBits) {
  for (const std::uint32_t bit_rate : {3'251'199u, 3'251'201u, 9'400'000u, 0xffffffffu})
    EXPECT_LT(logged_rate(bit_rate), 0x8000u);
}

}  // namespace
}  // namespace offhook
