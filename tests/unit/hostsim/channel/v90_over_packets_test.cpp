// SPDX-License-Identifier: MIT
//
// V.90's two modems over a packet network: lost packets, slips and jumps of the playout.
#include <gtest/gtest.h>

#include <vector>

#include "tests/v90_call.h"

namespace offhook {
namespace {

V90Call::Options clean() {
  V90Call::Options o;
  o.trunk.noise_dbm0 = -85;
  return o;
}

// A packet network: what is lost and moved costs retrains, never the call.
TEST(V90OverDigitalTrunk, LostPacketsSlipsAndPlayoutJumpsAreSurvived) {
  struct Case {
    const char* name;
    hostsim::NetworkFaults network;
  };
  const Case cases[] = {
      {"0.1 % lost, silence", {.packet_ms = 20, .packet_loss = 0.001, .concealment = false}},
      {"jumps of 10 ms", {.packet_ms = 20, .jump_every_s = 30, .jump_ms = 10}},
      {"jumps of 20 ms, silence", {.packet_ms = 20, .concealment = false, .jump_every_s = 30, .jump_ms = 20}},
      {"slips", {.slip_every_s = 40}},
  };
  for (const Case& k : cases) {
    V90Call::Options o = clean();
    o.v8 = false;
    o.trunk.network = k.network;
    V90Call call(o);
    ASSERT_TRUE(call.connect(60)) << k.name;
    call.run(65);
    ASSERT_NE(call.analogue_status().state, OH_PUMP_FAILED) << k.name;
    ASSERT_TRUE(call.connect(60)) << k.name;
    EXPECT_EQ(call.analogue_status().modulation, OH_MODULATION_V90) << k.name;
    EXPECT_EQ(call.digital_status().modulation, OH_MODULATION_V90) << k.name;
  }
}

// Octets too many or too few in the midst of data: both ends find their place again, and nobody trains.
TEST(V90OverDigitalTrunk, JumpsAndSlipsInDataModeCostASecondAndNoTraining) {
  struct Case {
    const char* name;
    hostsim::NetworkFaults network;
  };
  const Case cases[] = {
      {"10 ms", {.packet_ms = 20, .jump_every_s = 12, .jump_ms = 10}},
      {"20 ms", {.packet_ms = 20, .jump_every_s = 12, .jump_ms = 20}},
      {"slips", {.slip_every_s = 12}},
  };
  for (const Case& k : cases) {
    V90Call::Options o = clean();
    o.v8 = false;
    o.hdlc = true;
    o.trunk.network = k.network;
    V90Call call(o);
    ASSERT_TRUE(call.connect(11)) << k.name;
    call.run(1);
    const uint64_t down = call.down().blocks(), up = call.up().blocks();
    const uint64_t bad_down = call.down().bad_blocks(), bad_up = call.up().bad_blocks();
    const double seconds = 50;
    call.run(seconds);  // four faults, of a circuit in both directions
    const double lost = static_cast<double>(call.down().bad_blocks() - bad_down) /
                        static_cast<double>(call.down().blocks() - down) * seconds,
                 lost_up = static_cast<double>(call.up().bad_blocks() - bad_up) /
                           static_cast<double>(call.up().blocks() - up) * seconds;
    EXPECT_GT(lost + lost_up, 0.3) << k.name << ": there was nothing to mend";
    EXPECT_LT(lost, 4) << k.name;
    EXPECT_LT(lost_up, 8) << k.name;
    EXPECT_EQ(call.analogue_status().state, OH_PUMP_DATA) << k.name;
    EXPECT_EQ(call.analogue_status().retrains + call.digital_status().retrains, 0u) << k.name;
    EXPECT_LE(call.digital_instruments().renegotiations, 1u) << k.name;
  }
}

// The taken bits stay in their intervals, the data frames do not: the points have to be chosen anew, and that is all.
TEST(V90OverDigitalTrunk, AJumpBeneathRobbedBitsCostsARenegotiation) {
  V90Call::Options o = clean();
  o.v8 = false;
  o.hdlc = true;
  o.trunk.robbed_bits = 1;
  o.trunk.network = {.packet_ms = 20, .jump_every_s = 12, .jump_ms = 20};  // the first is downstream
  V90Call call(o);
  ASSERT_TRUE(call.connect(11));
  const uint32_t renegotiations = call.analogue_instruments().renegotiations;
  call.run(8);
  EXPECT_EQ(call.analogue_status().state, OH_PUMP_DATA);
  EXPECT_GE(call.analogue_instruments().renegotiations, renegotiations + 1);
  EXPECT_EQ(call.analogue_status().retrains + call.digital_status().retrains, 0u);
  EXPECT_GE(call.analogue_status().rx_bit_rate, 50'000u);
  const uint64_t bad = call.down().bad_blocks();
  call.run(3);
  EXPECT_LE(call.down().bad_blocks(), bad + 1);
}

}  // namespace
}  // namespace offhook
