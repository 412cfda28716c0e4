// SPDX-License-Identifier: MIT
//
// A V.90 call that fell back to V.34 in Phase 2, and trains again.
#include <gtest/gtest.h>

#include "tests/v90_call.h"

namespace offhook {
namespace {

// 9.2.1.1.8, 9.2.2.1.9: a retrain goes by V.90's Phase 2 whatever was chosen before, and the analogue modem chooses
// anew.
TEST(V90AfterV34, ARetrainThatTheOwnerAsksForReturnsToV90WhereTheNoiseHasGone) {
  for (const bool analogue_asks : {true, false}) {
    V90Call call(V90Call::from_phase2_on());
    call.added_noise(600);
    ASSERT_TRUE(call.connect(40));
    ASSERT_EQ(call.analogue_status().modulation, OH_MODULATION_V34);
    call.added_noise(0);
    call.run(3);
    const uint64_t down = call.analogue_status().bits_received, up = call.digital_status().bits_received;
    EXPECT_GT(down, 0u);
    oh_v90_retrain(analogue_asks ? call.analogue() : call.digital());
    call.run(0.5);
    EXPECT_NE(call.analogue_status().state, OH_PUMP_DATA);
    ASSERT_TRUE(call.connect(20));
    // The digital modem cannot say what it wants, and of a route that has shown no levels nothing is known.
    const oh_modulation expected = analogue_asks ? OH_MODULATION_V90 : OH_MODULATION_V34;
    EXPECT_EQ(call.analogue_status().modulation, expected);
    EXPECT_EQ(call.digital_status().modulation, expected);
    EXPECT_EQ(call.analogue_status().rx_bit_rate == 56000u, analogue_asks);
    EXPECT_EQ(call.analogue_status().retrains, 2u);
    EXPECT_EQ(call.digital_status().retrains, 2u);
    call.run(0.5);  // what the change left in the checkers
    EXPECT_GT(call.analogue_status().bits_received, down) << "those of V.34 count";
    EXPECT_GT(call.digital_status().bits_received, up);
    const uint64_t errors = call.down().errors() + call.up().errors();
    call.run(3);
    EXPECT_EQ(call.down().errors() + call.up().errors(), errors);
  }
}

// Where a DIL has shown the levels of a digital route, any retrain will do.
TEST(V90AfterV34, ARetrainOfEitherEndReturnsToV90WhereTheRouteIsKnownAsDigital) {
  V90Call call(V90Call::from_phase2_on());
  ASSERT_TRUE(call.connect(15));
  ASSERT_EQ(call.analogue_status().modulation, OH_MODULATION_V90);
  call.added_noise(600);
  call.run(1);
  for (double end = call.seconds() + 120; call.seconds() < end;) {
    call.run(1);
    if (call.analogue_status().modulation == OH_MODULATION_V34 && call.analogue_status().state == OH_PUMP_DATA) break;
  }
  ASSERT_EQ(call.analogue_status().modulation, OH_MODULATION_V34);
  ASSERT_TRUE(call.connect(5));
  call.added_noise(0);
  call.run(2);
  oh_v90_retrain(call.digital());
  call.run(0.5);
  ASSERT_TRUE(call.connect(20));
  EXPECT_EQ(call.analogue_status().modulation, OH_MODULATION_V90);
  EXPECT_EQ(call.digital_status().modulation, OH_MODULATION_V90);
  EXPECT_EQ(call.analogue_status().rx_bit_rate, 56000u);
}

TEST(V90AfterV34, WhereV90FailsAgainV34ComesBackWithTheNextTraining) {
  V90Call::Options o = V90Call::from_phase2_on();
  o.trunk.converters = true;
  V90Call call(o);
  ASSERT_TRUE(call.connect(40));
  ASSERT_EQ(call.analogue_status().modulation, OH_MODULATION_V34);
  call.run(1);
  for (const unsigned retrains : {3u, 5u}) {
    oh_v90_retrain(call.analogue());
    call.run(0.5);
    EXPECT_NE(call.analogue_status().state, OH_PUMP_DATA);
    ASSERT_TRUE(call.connect(30));
    EXPECT_EQ(call.analogue_status().modulation, OH_MODULATION_V34);
    EXPECT_EQ(call.analogue_status().retrains, retrains) << "one to V.90, and one from it";
    call.run(0.5);  // what the change left in the checkers
    const uint64_t bad = call.down().bad_blocks() + call.up().bad_blocks();
    call.run(2);
    EXPECT_LE(call.down().bad_blocks() + call.up().bad_blocks(), bad);
  }
}

}  // namespace
}  // namespace offhook
