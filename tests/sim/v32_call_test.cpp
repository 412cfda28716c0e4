// SPDX-License-Identifier: MIT
//
// Whole V.32bis calls: two pumps under V.42 over simulated lines, and in every context.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "dsp/v32/pump.h"
#include "hostsim/line/levels.h"
#include "tests/sim/calls.h"
#include "tests/sim/v34_call.h"

namespace offhook {
namespace {

using hostsim::LineConfig;

LineConfig clean() {
  LineConfig c;
  c.near_echo_db = c.far_echo_db = 200;
  c.noise_dbm0 = -90;
  c.codec = "none";
  return c;
}

class V32bisCall : public test::V34Call {
 public:
  explicit V32bisCall(const LineConfig& line, std::uint64_t seed = 1, std::uint32_t max_bit_rate = 0)
      : V34Call(line, seed, max_bit_rate, oh_v32bis_ops()) {}
  static oh_v32bis_instruments seen(hostsim::ModemEnd& end) {
    oh_v32bis_instruments i;
    oh_v32bis_get_instruments(end.pump_memory(), &i);
    return i;
  }
  std::uint32_t renegotiations() { return std::max(seen(near()).renegotiations, seen(far()).renegotiations); }
  std::uint32_t rate() { return near().pump_status().rx_bit_rate; }
  /// Bytes that arrive within so many seconds.
  std::uint64_t arriving(double seconds) {
    const std::uint64_t before = arrived();
    run(seconds);
    return arrived() - before;
  }
  void expect_every_byte(double seconds = 20) {
    for (const double end = now_s() + seconds; now_s() < end && (missing() > 0 || now_s() + seconds == end);) drain(1);
    EXPECT_EQ(missing(), 0u);
    EXPECT_TRUE(intact());
  }
};

TEST(V32bisCall, CleanLineCarries14400BothWaysAndEveryByte) {
  V32bisCall call(clean());
  ASSERT_TRUE(call.connect());
  call.run(3);
  EXPECT_EQ(call.rate(), 14400u);
  EXPECT_EQ(call.far().pump_status().rx_bit_rate, 14400u);
  EXPECT_GT(call.arriving(5), 2u * 5 * 1600);  // 1800 bytes a second on the line, each way
  EXPECT_EQ(call.retrains(), 0u);
  EXPECT_EQ(call.renegotiations(), 0u);
  call.expect_every_byte();
}

// Clause 8, begun by either end: down to what is asked for, and by itself up again.
TEST(V32bisCall, RenegotiatesFromEitherEndWithoutTraining) {
  for (const bool caller : {true, false}) {
    SCOPED_TRACE(caller);
    V32bisCall call(clean());
    ASSERT_TRUE(call.connect());
    call.run(1);
    std::uint32_t before = 0;
    for (const std::uint32_t rate : {4800u, 7200u, 9600u, 12000u}) {
      oh_v32bis_renegotiate((caller ? call.near() : call.far()).pump_memory(), rate);
      call.run(0.05);
      EXPECT_FALSE(call.data(0));
      const double began = call.now_s();
      ASSERT_TRUE(call.data(2)) << rate;
      EXPECT_LT(call.now_s() - began, 0.4) << rate;
      EXPECT_EQ(call.near().pump_status().tx_bit_rate, rate);
      EXPECT_EQ(call.near().pump_status().rx_bit_rate, rate);
      EXPECT_EQ(call.far().pump_status().rx_bit_rate, rate);
      EXPECT_EQ(call.renegotiations(), ++before);
      EXPECT_GT(call.arriving(2), rate / 8) << rate;
    }
    call.run(12);
    EXPECT_EQ(call.rate(), 14400u);
    EXPECT_EQ(call.retrains(), 0u);
    call.expect_every_byte();
  }
}

TEST(V32bisCall, BothEndsRenegotiateAtOnce) {
  V32bisCall call(clean());
  ASSERT_TRUE(call.connect());
  call.run(1);
  oh_v32bis_renegotiate(call.near().pump_memory(), 12000);
  oh_v32bis_renegotiate(call.far().pump_memory(), 7200);
  ASSERT_TRUE(call.data(2));
  EXPECT_EQ(call.rate(), 7200u);
  EXPECT_EQ(call.retrains(), 0u);
  call.expect_every_byte();
}

TEST(V32bisCall, RetrainFromEitherEnd) {
  V32bisCall call(clean());
  ASSERT_TRUE(call.connect());
  call.run(1);
  oh_v32bis_retrain(call.near().pump_memory());
  call.run(1);
  ASSERT_TRUE(call.data(20));
  EXPECT_EQ(call.seen(call.near()).cause, OH_V34_CAUSE_OWN);
  EXPECT_EQ(call.seen(call.far()).cause, OH_V34_CAUSE_FAR);
  call.run(1);
  oh_v32bis_retrain(call.far().pump_memory());
  call.run(1);
  ASSERT_TRUE(call.data(20));
  EXPECT_EQ(call.near().pump_status().retrains, 2u);
  EXPECT_EQ(call.far().pump_status().retrains, 2u);
  EXPECT_EQ(call.rate(), 14400u);
  call.expect_every_byte();
}

TEST(V32bisCall, HangingUpTellsTheFarEnd) {
  for (const bool caller : {true, false}) {
    V32bisCall call(clean());
    ASSERT_TRUE(call.connect());
    call.run(2);
    hostsim::ModemEnd& first = caller ? call.near() : call.far();
    hostsim::ModemEnd& other = caller ? call.far() : call.near();
    first.hang_up();
    EXPECT_FALSE(first.hung_up());
    call.run(3);
    EXPECT_TRUE(first.hung_up()) << caller;
    EXPECT_EQ(other.pump_status().state, OH_PUMP_IDLE) << caller;
    EXPECT_THAT(other.failure(), testing::HasSubstr("cleared down")) << caller;
    EXPECT_EQ(call.retrains(), 0u);
  }
}

TEST(V32bisCall, RoundTripOf1200Ms) {
  LineConfig c = clean();
  c.delay_ms = 600;
  V32bisCall call(c);
  ASSERT_TRUE(call.connect());
  call.run(15);
  EXPECT_NEAR(call.seen(call.near()).round_trip_samples, 9600, 40);
  EXPECT_NEAR(call.seen(call.far()).round_trip_samples, 9600, 40);
  EXPECT_EQ(call.rate(), 14400u);
  EXPECT_GT(call.arrived(), 15'000u);
  call.expect_every_byte();
}

TEST(V32bisCall, TwoWireLineWithEcho) {
  V32bisCall call(LineConfig{});  // near echo 12 dB, far echo, mu-law
  ASSERT_TRUE(call.connect());
  call.run(10);
  EXPECT_GE(call.rate(), 12000u);
  EXPECT_GT(call.seen(call.near()).echo_return_loss_db, 20);
  EXPECT_EQ(call.retrains(), 0u);
  call.expect_every_byte();
}

}  // namespace
}  // namespace offhook
