// SPDX-License-Identifier: MIT
//
// Modem-on-hold (V.92 9.10) by AT commands.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "driver/tty/dce.h"
#include "tests/unit/driver/tty/desk.h"

namespace offhook::modem {
namespace {

TEST(Dce, OnHoldNothingThatIsHeardOrNotEndsTheCall) {
  Desk desk;
  desk.bring_to(State::kOnHold);
  EXPECT_EQ(desk.line.orders, std::vector{OH_HOLD_REQUEST});
  EXPECT_NE(desk.dce.state_text().find("on hold"), std::string::npos);
  desk.line.now.progress = Progress::kBusy;
  desk.line.now.pump.rx_level_dbm0 = -90;
  desk.work(100);
  EXPECT_EQ(desk.dce.state(), State::kOnHold);
  EXPECT_EQ(desk.say("AT\r"), "OK") << "commands are taken";
  desk.line.now.progress = Progress::kNothing;
  EXPECT_EQ(desk.say("ATO\r"), "");
  EXPECT_EQ(desk.line.orders, (std::vector{OH_HOLD_REQUEST, OH_HOLD_RESUME}));
  desk.on_hold(OH_HOLD_NONE, OH_PUMP_TRAINING);
  desk.line.now.pump.rx_level_dbm0 = -20;
  desk.work(12);
  EXPECT_EQ(desk.heard(), "");
  desk.on_hold(OH_HOLD_NONE, OH_PUMP_DATA);
  desk.work();
  EXPECT_EQ(desk.heard(), "CONNECT 28800");
}

// 9.10 of V.92, at the other end.
TEST(Dce, WhatTheFarEndAsksIsGrantedAsPmhtSaysAndWaitedFor) {
  for (const bool enabled : {false, true}) {
    Desk desk;
    desk.say(enabled ? "ATE0+PMH=0;+PMHT=5\r" : "ATE0+PMHT=5\r");
    desk.say("ATD5\r");
    desk.work(0.3);
    EXPECT_EQ(desk.line.config.hold_timeout, enabled ? 5u : 0u);
    desk.far_end(OH_PUMP_DATA, 3);
    desk.work();
    desk.on_hold(OH_HOLD_WAITING, OH_PUMP_TRAINING);
    desk.line.now.pump.rx_level_dbm0 = -90;
    desk.work(50);
    EXPECT_EQ(desk.dce.state(), State::kOnline);
    EXPECT_NE(desk.dce.state_text().find("held by the far end"), std::string::npos);
  }
}

// The response of a V.92 modem if the call has no V.92.
TEST(Dce, ModemOnHoldIsNotAvailableInACallAndAnErrorWithoutOne) {
  Desk desk;
  desk.line.knows_hold = false;
  desk.say("ATE0+PMH=0\r");
  EXPECT_EQ(desk.say("AT+PMHR\r"), "ERROR");
  desk.say("ATD5\r");
  desk.say("");
  desk.far_end(OH_PUMP_DATA, 3);
  desk.work(1.2);
  desk.say("+++");
  desk.work(1.2);
  desk.heard();
  ASSERT_EQ(desk.dce.state(), State::kOnlineCommand);
  EXPECT_EQ(desk.say("AT+PMHR\r"), "+PMHR: 0OK");
  EXPECT_EQ(desk.dce.state(), State::kOnlineCommand);
}

}  // namespace
}  // namespace offhook::modem
