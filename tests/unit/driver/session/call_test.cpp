// SPDX-License-Identifier: MIT
#include "driver/session/call.h"

#include <gtest/gtest.h>

#include <array>

#include "dsp/spandsp/v22bis.h"

namespace offhook::modem {
namespace {

constexpr std::size_t kBlock = 100;

CallConfig dial(std::string digits) {
  return {.pump = oh_v22bis_type(),
          .role = OH_PUMP_CALL,
          .digits = std::move(digits),
          .plan = {.need_dial_tone = false, .pause_s = 2}};
}

TEST(Call, SamplesLostWhileDiallingAreTheDiallersAndNotThePumps) {
  Call call(dial("5"), 0, nullptr, [] { return 0; });
  std::array<std::int16_t, kBlock> rx{}, tx{};
  const auto process = [&](double seconds) {
    for (double t = 0; t < seconds; t += kBlock / 8000.) call.process(rx.data(), tx.data(), kBlock);
  };
  process(0.5);
  call.fill_in(8000);
  process(0.4);
  EXPECT_TRUE(call.status().dialling) << "1.9 s of the 2 s before the digit";
  process(0.4);
  EXPECT_FALSE(call.status().dialling) << "2 s, and some 0.2 s of the digit";
  EXPECT_LT(call.status().pump.samples, 0.2 * 8000) << "the pump's clock begins with the call's";
  EXPECT_EQ(call.status().pump.filled_in, 0u);
  call.fill_in(80);
  EXPECT_EQ(call.status().pump.filled_in, 80u) << "from then on what is lost is the pump's";
}

}  // namespace
}  // namespace offhook::modem
