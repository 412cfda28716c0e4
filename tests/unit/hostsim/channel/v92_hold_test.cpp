// SPDX-License-Identifier: MIT
//
// Modem-on-hold (V.92 9.10) between our two modems over a simulated trunk: asked for by either, granted, denied, run
// out, and the connection that comes after it.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>

#include "dsp/v8/v8.h"
#include "dsp/v90/coding/quick_connect.h"
#include "dsp/v90/coding/ucode.h"
#include "tests/v90_call.h"

namespace offhook {
namespace {

constexpr uint8_t kTenSeconds = 1, kThirtySeconds = 3;  // codes of Table 33

V90Call::Options with_hold(uint8_t timeout) {
  V90Call::Options o = V90Call::from_phase2_on();
  o.analogue.hold_timeout = o.digital.hold_timeout = timeout;
  return o;
}

/// A call whose two ends are distinguished by which one asks.
class HoldCall {
 public:
  HoldCall(const V90Call::Options& o, bool analogue_asks) : call_(o), analogue_asks_(analogue_asks) {
    connected_ = call_.connect(20);
    if (connected_) call_.run(1);
  }
  bool connected() const { return connected_; }
  V90Call& call() { return call_; }
  void* asker() { return analogue_asks_ ? call_.analogue() : call_.digital(); }
  void* asked() { return analogue_asks_ ? call_.digital() : call_.analogue(); }
  oh_hold_state state(void* modem) {
    timeout_ = 0;
    return oh_v90_hold_state(modem, &timeout_);
  }
  uint8_t timeout() const { return timeout_; }
  oh_pump_state pump_state(void* modem) {
    return (modem == call_.analogue() ? call_.analogue_status() : call_.digital_status()).state;
  }
  /// @return false if the time ran out
  bool until(void* modem, oh_hold_state wanted, double seconds) {
    for (const double end = call_.seconds() + seconds; call_.seconds() < end;) {
      call_.run(0.01);
      if (state(modem) == wanted) return true;
    }
    return false;
  }
  bool until_both_idle(double seconds) {
    for (const double end = call_.seconds() + seconds; call_.seconds() < end;) {
      call_.run(0.01);
      if (pump_state(asker()) == OH_PUMP_IDLE && pump_state(asked()) == OH_PUMP_IDLE) return true;
    }
    return false;
  }
  /// Data in both directions, without an error.
  void expect_data() {
    const auto down = call_.down().bits(), up = call_.up().bits();
    const auto wrong = call_.down().errors() + call_.up().errors();
    call_.run(2);
    EXPECT_GT(call_.down().bits(), down + 50000);
    EXPECT_GT(call_.up().bits(), up + 20000);
    EXPECT_EQ(call_.down().errors() + call_.up().errors(), wrong);
  }

 private:
  V90Call call_;
  bool analogue_asks_;
  bool connected_ = false;
  uint8_t timeout_ = 0;
};

class V92Hold : public ::testing::TestWithParam<bool> {};

TEST_P(V92Hold, IsGrantedAndLeftByPhase1WithTheRolesItGives) {
  HoldCall hold(with_hold(kThirtySeconds), GetParam());
  ASSERT_TRUE(hold.connected());
  ASSERT_EQ(oh_v90_hold(hold.asker(), OH_HOLD_REQUEST), 0);
  EXPECT_EQ(hold.state(hold.asker()), OH_HOLD_ASKED);
  ASSERT_TRUE(hold.until(hold.asker(), OH_HOLD_AWAY, 3));
  EXPECT_EQ(hold.timeout(), kThirtySeconds);
  EXPECT_EQ(hold.state(hold.asked()), OH_HOLD_WAITING);
  EXPECT_EQ(hold.timeout(), kThirtySeconds);
  hold.call().run(20);
  EXPECT_EQ(hold.state(hold.asked()), OH_HOLD_WAITING);
  EXPECT_EQ(hold.pump_state(hold.asked()), OH_PUMP_TRAINING);
  ASSERT_EQ(oh_v90_hold(hold.asker(), OH_HOLD_RESUME), 0);
  const double ordered_s = hold.call().seconds();
  ASSERT_TRUE(hold.call().connect(20));
  std::printf("data %.2f s after the order to return\n", hold.call().seconds() - ordered_s);
  EXPECT_EQ(hold.state(hold.asker()), OH_HOLD_NONE);
  EXPECT_EQ(hold.state(hold.asked()), OH_HOLD_NONE);
  for (void* modem : {hold.asker(), hold.asked()}) EXPECT_EQ(oh_v90_was_quick(modem), 1) << "by Quick Connect";
  hold.call().run(0.5);
  hold.expect_data();
}

// offhook/pump.h: the rules for pumps of any kind.
TEST_P(V92Hold, IsOrderedAllowedAndSeenByThePumpsType) {
  HoldCall hold(with_hold(0), GetParam());
  ASSERT_TRUE(hold.connected());
  const oh_pump_type* type = oh_v90_type();
  ASSERT_TRUE(oh_pump_has_hold(type));
  EXPECT_NE(oh_pump_allow_hold(type, hold.asked(), 14), 0) << "a reserved code";
  ASSERT_EQ(oh_pump_allow_hold(type, hold.asked(), kThirtySeconds), 0);
  ASSERT_EQ(oh_pump_hold(type, hold.asker(), OH_HOLD_REQUEST), 0);
  ASSERT_TRUE(hold.until(hold.asker(), OH_HOLD_AWAY, 3));
  for (void* modem : {hold.asker(), hold.asked()}) {
    oh_pump_status status;
    type->status(modem, &status);
    EXPECT_EQ(status.hold, modem == hold.asker() ? OH_HOLD_AWAY : OH_HOLD_WAITING);
    EXPECT_EQ(status.hold_timeout, kThirtySeconds);
  }
  // A caller that knows the status of the previous version gets only that.
  oh_pump_status older;
  older.struct_size = offsetof(oh_pump_status, hold);
  older.hold = OH_HOLD_DENIED;
  type->status(hold.asker(), &older);
  EXPECT_EQ(older.hold, OH_HOLD_DENIED);
  ASSERT_EQ(oh_pump_hold(type, hold.asker(), OH_HOLD_RESUME), 0);
  EXPECT_NE(oh_pump_hold(type, hold.asker(), OH_HOLD_RESUME), 0) << "not away any more";
}

TEST_P(V92Hold, EndsTheCallWhenT1IsOver) {
  HoldCall hold(with_hold(kTenSeconds), GetParam());
  ASSERT_TRUE(hold.connected());
  ASSERT_EQ(oh_v90_hold(hold.asker(), OH_HOLD_REQUEST), 0);
  ASSERT_TRUE(hold.until(hold.asker(), OH_HOLD_AWAY, 3));
  hold.call().run(8);
  EXPECT_EQ(hold.state(hold.asked()), OH_HOLD_WAITING);
  EXPECT_TRUE(hold.until_both_idle(3));
}

TEST_P(V92Hold, DeniedIsFollowedByAFastReconnect) {
  HoldCall hold(with_hold(0), GetParam());
  ASSERT_TRUE(hold.connected());
  ASSERT_EQ(oh_v90_hold(hold.asker(), OH_HOLD_REQUEST), 0);
  ASSERT_TRUE(hold.until(hold.asker(), OH_HOLD_DENIED, 3));
  ASSERT_TRUE(hold.call().connect(20));
  EXPECT_EQ(hold.state(hold.asker()), OH_HOLD_DENIED);
  EXPECT_EQ(hold.state(hold.asked()), OH_HOLD_NONE);
  hold.call().run(0.5);
  hold.expect_data();
}

TEST_P(V92Hold, ReconnectsFastWhenAskedTo) {
  HoldCall hold(with_hold(0), GetParam());
  ASSERT_TRUE(hold.connected());
  ASSERT_EQ(oh_v90_hold(hold.asker(), OH_HOLD_RECONNECT), 0);
  hold.call().run(1);
  EXPECT_NE(hold.pump_state(hold.asked()), OH_PUMP_DATA);
  ASSERT_TRUE(hold.call().connect(20));
  hold.call().run(0.5);
  hold.expect_data();
}

TEST_P(V92Hold, ClearsDownForACall) {
  for (const oh_hold_order order : {OH_HOLD_CLEAR_INCOMING, OH_HOLD_CLEAR_OUTGOING, OH_HOLD_CLEAR_OTHER}) {
    HoldCall hold(with_hold(0), GetParam());
    ASSERT_TRUE(hold.connected());
    ASSERT_EQ(oh_v90_hold(hold.asker(), order), 0);
    EXPECT_TRUE(hold.until_both_idle(3));
  }
}

// CM without any modulation, 9.10.2.1.
TEST_P(V92Hold, IsEndedByAHangUp) {
  HoldCall hold(with_hold(kThirtySeconds), GetParam());
  ASSERT_TRUE(hold.connected());
  ASSERT_EQ(oh_v90_hold(hold.asker(), OH_HOLD_REQUEST), 0);
  ASSERT_TRUE(hold.until(hold.asker(), OH_HOLD_AWAY, 3));
  hold.call().run(1);
  oh_v90_type()->hang_up(hold.asker());
  EXPECT_TRUE(hold.until_both_idle(6));
}

// 9.10.2.1: QC whose UQTS has the code 1111, from an analogue modem that is away. None of our modems sends it.
TEST(V92HoldEnds, WhereTheOneWhoIsAwaySaysSoByQc) {
  for (const bool clears : {true, false}) {
    HoldCall hold(with_hold(kThirtySeconds), true);
    ASSERT_TRUE(hold.connected());
    ASSERT_EQ(oh_v90_hold(hold.asker(), OH_HOLD_REQUEST), 0);
    ASSERT_TRUE(hold.until(hold.asker(), OH_HOLD_AWAY, 3));
    v8::Config away;
    away.quick.sync = v90::kSyncQuickConnect;
    away.quick.octet = v90::encode_qc1({false, false, false, clears ? uint8_t{0} : uint8_t{78}, 0});
    away.quick.understands = [](uint8_t octet) {
      v90::QuickConnect qca{};
      return v90::decode_qc1(octet, &qca) && qca.acknowledge;
    };
    v8::V8 caller(away);
    float heard = 0;
    for (int n = 0; n < 8000 * 3 && caller.state() == v8::State::kRunning; ++n) {
      const uint8_t rx = v90::nearest_octet(v90::Law::kMu, static_cast<int>(caller.process(heard)));
      uint8_t tx;
      oh_v90_type()->process(hold.asked(), &rx, &tx, 1);
      heard = static_cast<float>(v90::linear_of(v90::Law::kMu, v90::pcm_of(v90::Law::kMu, tx)));
    }
    EXPECT_EQ(caller.state(), v8::State::kShortPhase1);
    uint8_t rx = 0xFF, tx;
    for (int n = 0; n < 800; ++n) oh_v90_type()->process(hold.asked(), &rx, &tx, 1);
    EXPECT_EQ(hold.pump_state(hold.asked()), clears ? OH_PUMP_IDLE : OH_PUMP_TRAINING);
  }
}

// Both subscribers have a call at the same time: the digital modem yields.
TEST_P(V92Hold, OfBothAtOnceIsTheAnalogueModems) {
  HoldCall hold(with_hold(kThirtySeconds), GetParam());
  ASSERT_TRUE(hold.connected());
  ASSERT_EQ(oh_v90_hold(hold.asker(), OH_HOLD_REQUEST), 0);
  ASSERT_EQ(oh_v90_hold(hold.asked(), OH_HOLD_REQUEST), 0);
  ASSERT_TRUE(hold.until(hold.call().analogue(), OH_HOLD_AWAY, 4));
  EXPECT_EQ(hold.state(hold.call().digital()), OH_HOLD_WAITING);
}

TEST_P(V92Hold, IsOfDataModeAlone) {
  V90Call call(with_hold(kThirtySeconds));
  void* const modem = GetParam() ? call.analogue() : call.digital();
  for (int k = 0; k < 6; ++k) {
    for (const oh_hold_order order : {OH_HOLD_REQUEST, OH_HOLD_RESUME, OH_HOLD_RECONNECT, OH_HOLD_CLEAR_OTHER})
      EXPECT_NE(oh_v90_hold(modem, order), 0);
    call.run(0.9);
  }
  ASSERT_TRUE(call.connect(20));
  EXPECT_NE(oh_v90_hold(modem, OH_HOLD_RESUME), 0);
}

TEST_P(V92Hold, WorksOverLinesThatDiffer) {
  for (const LineOfV92& line : kLinesOfV92) {
    SCOPED_TRACE(line.name);
    V90Call::Options o = with_hold(kThirtySeconds);
    line.make(o.trunk);
    HoldCall hold(o, GetParam());
    ASSERT_TRUE(hold.connected());
    ASSERT_EQ(oh_v90_hold(hold.asker(), OH_HOLD_REQUEST), 0);
    ASSERT_TRUE(hold.until(hold.asker(), OH_HOLD_AWAY, 6));
    hold.call().run(5);
    EXPECT_EQ(hold.state(hold.asked()), OH_HOLD_WAITING);
    ASSERT_EQ(oh_v90_hold(hold.asker(), OH_HOLD_RESUME), 0);
    ASSERT_TRUE(hold.call().connect(40));
    EXPECT_EQ(hold.state(hold.asked()), OH_HOLD_NONE);
  }
}

// A retrain begins with the same tone, but is still a retrain.
TEST_P(V92Hold, IsNoRetrain) {
  HoldCall hold(with_hold(kThirtySeconds), GetParam());
  ASSERT_TRUE(hold.connected());
  oh_v90_retrain(hold.asker());
  hold.call().run(1);
  ASSERT_TRUE(hold.call().connect(20));
  EXPECT_EQ(hold.state(hold.asked()), OH_HOLD_NONE);
  EXPECT_EQ(hold.call().analogue_status().retrains, 1u);
  hold.call().run(0.5);
  hold.expect_data();
}

INSTANTIATE_TEST_SUITE_P(Asker, V92Hold, ::testing::Bool(),
                         [](const auto& asker) { return asker.param ? "Analogue" : "Digital"; });

}  // namespace
}  // namespace offhook
