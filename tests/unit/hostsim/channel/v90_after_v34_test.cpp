// SPDX-License-Identifier: MIT
//
// A V.90 call that fell back to V.34 in Phase 2, and trains again.
#include <gtest/gtest.h>

#include "dsp/v90/session/analogue_modem.h"
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

/// Gives access to a retrain that the modem's own count of failures does not see, such as that of another make.
struct Uncounted : v90::AnalogueModem {
  static void retrain(AnalogueModem& modem) { (modem.*&Uncounted::train_again)(); }
};
v90::AnalogueModem& analogue_modem(V90Call& call) {
  constexpr size_t kHead = 64;  // of the pump
  return *reinterpret_cast<v90::AnalogueModem*>(static_cast<unsigned char*>(call.analogue()) + kHead);
}

// 9.3.2.4 without a term for the round trip. This analogue modem repeats no INFO0, and always chooses V.90 if it can:
// after two trainings the digital modem offers V.34 only.
TEST(V90AfterV34, AnAnalogueModemThatWaitsOnlyFor1500msGetsV34AfterTwoTrainings) {
  for (const double one_way_ms : {300., 450.}) {
    for (const bool v92 : {false, true}) {
      SCOPED_TRACE(testing::Message() << one_way_ms << " ms, V.92 " << v92);
      V90Call::Options o = V90Call::from_phase2_on();
      o.trunk.delay_ms = one_way_ms;
      o.digital_v92 = v92;
      V90Call call(o);
      v90::AnalogueModem& modem = analogue_modem(call);
      unsigned waited = 0;
      const auto connected = [&call] {
        return call.analogue_status().state == OH_PUMP_DATA && call.digital_status().state == OH_PUMP_DATA;
      };
      while (call.seconds() < 85 && !connected()) {
        call.step();
        waited = modem.procedure().state() == v90::AnalogueState::kSendJa ? waited + 1 : 0;
        if (waited < 1500 * 8) continue;
        Uncounted::retrain(modem);
        waited = 0;
        while (modem.procedure().state() == v90::AnalogueState::kSendJa && call.seconds() < 85 && !connected()) {
          call.step();
        }
      }
      ASSERT_TRUE(connected());
      EXPECT_EQ(call.analogue_status().modulation, OH_MODULATION_V34);
      EXPECT_EQ(call.digital_status().modulation, OH_MODULATION_V34);
      EXPECT_EQ(call.analogue_status().rx_bit_rate, 33600u);
      EXPECT_LE(call.digital_status().retrains, 3u);
      call.run(3);
      EXPECT_EQ(call.down().errors() + call.up().errors(), 0u);
    }
  }
}

}  // namespace
}  // namespace offhook
