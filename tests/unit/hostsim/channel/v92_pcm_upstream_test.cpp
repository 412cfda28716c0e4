// SPDX-License-Identifier: MIT
//
// V.92 with PCM upstream over a simulated trunk: whole calls, with the codec's quantisation and the echo of the
// downstream in it.
#include <gtest/gtest.h>

#include "tests/realtime/realtime_guard.h"
#include "tests/v90_call.h"

namespace offhook {
namespace {

V90Call::Options with_upstream() {
  V90Call::Options o = V90Call::from_phase2_on();
  o.digital_v92 = o.analogue_v92 = true;
  return o;
}

TEST(V92PcmUpstream, CarriesMoreThanV34OverACleanTrunk) {
  V90Call::Options o = with_upstream();
  o.v8 = true;
  V90Call call(o);
  ASSERT_TRUE(call.connect(20));
  EXPECT_EQ(call.analogue_status().rx_bit_rate, 56000u);
  EXPECT_GE(call.digital_status().rx_bit_rate, 40000u);
  EXPECT_EQ(call.analogue_status().tx_bit_rate, call.digital_status().rx_bit_rate);
  EXPECT_EQ(call.digital_instruments().upstream_symbol_rate_hz, 8000);
  call.run(5);
  EXPECT_GT(call.up().blocks(), 190u);
  EXPECT_LE(call.up().bad_blocks(), 1u);
  EXPECT_EQ(call.down().errors(), 0u);
  EXPECT_EQ(call.analogue_status().retrains + call.digital_status().retrains, 0u);
}

TEST(V92PcmUpstream, FollowsLossNoiseLawPadAndClock) {
  struct Case {
    const char* name;
    void (*make)(hostsim::DigitalTrunkConfig& t);
    unsigned least;
  };
  const Case cases[] = {
      {"loss", [](hostsim::DigitalTrunkConfig& t) { t.loss_db = 20; }, 28000},
      {"noise", [](hostsim::DigitalTrunkConfig& t) { t.noise_dbm0 = -60; }, 33333},
      {"a-law", [](hostsim::DigitalTrunkConfig& t) { t.law = t.codec = "a-law", t.pad_db = 6; }, 36000},
      {"clock", [](hostsim::DigitalTrunkConfig& t) { t.clock_ppm = 100; }, 38666},
  };
  for (const Case& k : cases) {
    SCOPED_TRACE(k.name);
    V90Call::Options o = with_upstream();
    k.make(o.trunk);
    V90Call call(o);
    ASSERT_TRUE(call.connect(15));
    EXPECT_GE(call.digital_status().rx_bit_rate, k.least);
    call.run(4);
    EXPECT_GT(call.up().blocks(), 80u);
    EXPECT_LE(call.up().bad_blocks(), 1u);
  }
}

// Fewer than one bad block in 1000, over all trunks together. v92_upstream_bench has more time and more trunks.
TEST(V92PcmUpstream, KeepsTheBlockErrorLimit) {
  struct Case {
    const char* name;
    void (*make)(hostsim::DigitalTrunkConfig& t);
  };
  const Case cases[] = {
      {"clean", [](hostsim::DigitalTrunkConfig&) {}},
      {"noise", [](hostsim::DigitalTrunkConfig& t) { t.noise_dbm0 = -70; }},
      {"pad 3 dB", [](hostsim::DigitalTrunkConfig& t) { t.pad_db = 3; }},
      {"pad 6 dB", [](hostsim::DigitalTrunkConfig& t) { t.pad_db = 6; }},
      {"robbed bits", [](hostsim::DigitalTrunkConfig& t) { t.robbed_bits = 1; }},
      {"three robbed bits", [](hostsim::DigitalTrunkConfig& t) { t.robbed_bits = 0b010101; }},
      {"a-law", [](hostsim::DigitalTrunkConfig& t) { t.law = t.codec = "a-law"; }},
      {"two laws", [](hostsim::DigitalTrunkConfig& t) { t.codec = "a-law"; }},
      {"loop 12 dB", [](hostsim::DigitalTrunkConfig& t) { t.loss_db = 12; }},
      {"clock", [](hostsim::DigitalTrunkConfig& t) { t.clock_ppm = 50; }},
      {"slow clock", [](hostsim::DigitalTrunkConfig& t) { t.clock_ppm = -100; }},
  };
  uint64_t bad = 0, blocks = 0;
  for (const Case& k : cases) {
    SCOPED_TRACE(k.name);
    V90Call::Options o = with_upstream();
    o.trunk.noise_dbm0 = -80;
    k.make(o.trunk);
    V90Call call(o);
    ASSERT_TRUE(call.connect(15));
    EXPECT_EQ(call.digital_instruments().upstream_symbol_rate_hz, 8000);
    call.run(15);
    EXPECT_GT(call.up().blocks(), 450u);
    EXPECT_LE(call.up().bad_blocks(), 3u);
    bad += call.up().bad_blocks();
    blocks += call.up().blocks();
  }
  EXPECT_LT(1000 * bad, blocks);
}

TEST(V92PcmUpstream, RenegotiatesAndRetrainsFromEitherEnd) {
  V90Call call(with_upstream());
  ASSERT_TRUE(call.connect(15));
  call.keep();
  for (const bool digital : {false, true}) {
    for (const bool retrain : {false, true}) {
      SCOPED_TRACE(testing::Message() << digital << retrain);
      call.take_up(0);
      void* end = digital ? call.digital() : call.analogue();
      if (retrain) {
        oh_v90_retrain(end);
      } else {
        oh_v90_renegotiate(end);
      }
      call.run(0.2);
      EXPECT_EQ(call.digital_status().state, OH_PUMP_TRAINING);
      ASSERT_TRUE(call.connect(retrain ? 15 : 4));
      EXPECT_GE(call.digital_status().rx_bit_rate, 40000u);
      const uint64_t before = call.up().bad_blocks();
      call.run(2);
      // A few of the first data are wrong, about 85 blocks.
      EXPECT_LE(call.up().bad_blocks() - before, 6u);
    }
  }
}

TEST(V92PcmUpstream, FallsBackToV34UpstreamIfEitherEndHasOnlyV90) {
  for (const bool digital : {false, true}) {
    V90Call::Options o = V90Call::from_phase2_on();
    (digital ? o.digital_v92 : o.analogue_v92) = true;
    V90Call call(o);
    ASSERT_TRUE(call.connect(15)) << digital;
    EXPECT_EQ(call.digital_status().rx_bit_rate, 33600u) << digital;
  }
}

TEST(V92PcmUpstream, FallsBackToV34UpstreamIfTheLineCarriesNone) {
  V90Call::Options o = with_upstream();
  o.trunk.loss_db = 28;
  o.trunk.noise_dbm0 = -60;
  V90Call call(o);
  ASSERT_TRUE(call.connect(40));
  EXPECT_LT(call.digital_instruments().upstream_symbol_rate_hz, 4000);
  EXPECT_GT(call.digital_status().rx_bit_rate, 4800u);
}

// Phases 2 to 4, lost samples, renegotiations and retrains from either end.
TEST(V92PcmUpstream, AllocatesLocksAndCallsNothingFromPhase2ToData) {
  V90Call call(with_upstream());
  const auto body = [&call] {
    call.run(12);
    call.lose(40);
    call.run(1);
    oh_v90_renegotiate(call.digital());
    call.run(4);
    oh_v90_renegotiate(call.analogue());
    call.run(4);
    oh_v90_retrain(call.digital());
    call.run(12);
    oh_v90_retrain(call.analogue());
    call.run(12);
    return call.digital_instruments().upstream_symbol_rate_hz == 8000 ? call.up().bits() : 0;
  };
  const test::RealtimeRun run = test::run_realtime(body);
  if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
  EXPECT_EQ(run.violation, "");
  EXPECT_GT(run.value, 250'000u) << "bits upstream";
  EXPECT_EQ(body(), run.value);  // again, here, to see what it went through
  EXPECT_GE(call.digital_status().retrains, 2u);
}

TEST(V92PcmUpstream, ACleardownReleasesBothEnds) {
  V90Call call(with_upstream());
  ASSERT_TRUE(call.connect(15));
  oh_v92_type()->hang_up(call.analogue());
  call.run(4);
  EXPECT_EQ(call.digital_status().state, OH_PUMP_IDLE);
  EXPECT_EQ(call.analogue_status().state, OH_PUMP_IDLE);
}

}  // namespace
}  // namespace offhook
