// SPDX-License-Identifier: MIT
//
// Calls of two V.34 pumps over lines whose impairments a training does not show, or that a training must know of.
#include <gtest/gtest.h>

#include "driver/user_modem/automode.h"
#include "dsp/v22/pump.h"
#include "dsp/v32/pump.h"
#include "tests/sim/v34_call.h"

namespace offhook::test {
namespace {

// -12 dBm0 sent, -18 dBm0 received, four wires, mu-law: 31,200 or 33,600 bit/s without an impairment.
hostsim::LineConfig mu_law_line() {
  hostsim::LineConfig c;
  c.loss_db = 6;
  c.near_echo_db = c.far_echo_db = 400;
  c.noise_dbm0 = -70;
  return c;
}

std::uint32_t rate(V34Call& call) {
  return std::min(call.near().pump_status().rx_bit_rate, call.far().pump_status().rx_bit_rate);
}

TEST(V34Lines, DcOfOneAndAHalfPercentBelowAWeakSignalIsRemoved) {
  hostsim::LineConfig c = mu_law_line();
  c.loss_db = 16;
  c.dc_percent = 1.5;
  V34Call call(c, 1);
  ASSERT_TRUE(call.connect(15));
  EXPECT_EQ(call.retrains(), 0u);
  EXPECT_GE(rate(call), 28'800u);
}

// The third harmonic is 6 dB, and the fifth 12 dB below the fundamental. With 20 dB of loss they are as loud as the
// signal, or louder.
TEST(V34Lines, HumAsLoudAsTheSignalIsRemoved) {
  struct Case {
    double loss_db, hum_dbm0;
    std::uint32_t least;
  };
  for (const double hz : {50., 60.}) {
    for (const Case& k : {Case{6, -20, 26'400}, Case{20, -32, 21'600}, Case{20, -26, 19'200}, Case{20, -20, 14'400}}) {
      SCOPED_TRACE(testing::Message() << k.loss_db << " dB, " << hz << " Hz at " << k.hum_dbm0);
      hostsim::LineConfig c = mu_law_line();
      c.loss_db = k.loss_db;
      c.hum_dbm0 = k.hum_dbm0;
      c.hum_hz = hz;
      V34Call call(c, 1);
      ASSERT_TRUE(call.connect(15));
      EXPECT_EQ(call.retrains(), 0u);
      call.run(8);
      EXPECT_TRUE(call.intact());
      EXPECT_GE(rate(call), k.least);
    }
  }
}

// Every pump, with the echo of two wires as well. -20 dBm0 of 50 Hz are 12 dB above the signal.
TEST(V34Lines, DcAndHumLeaveThePumpsBelowTheirRate) {
  struct Case {
    double loss_db, dc_percent, hum_dbm0, hum_hz, near_echo_db;
  };
  const Case cases[] = {{16, 1.5, -200, 50, 400}, {16, 5, -200, 50, 400}, {20, 0, -20, 50, 400},
                        {20, 0, -20, 60, 400},    {16, 5, -20, 50, 20},   {6, 5, -18, 60, 12}};
  for (const oh_pump_type* pump : {oh_v32bis_type(), oh_v22bis_type()}) {
    for (const Case& k : cases) {
      SCOPED_TRACE(testing::Message() << pump->name << ' ' << k.loss_db << " dB, " << k.dc_percent << " %, " << k.hum_hz
                                      << " Hz at " << k.hum_dbm0 << " dBm0, echo " << k.near_echo_db);
      hostsim::LineConfig c = mu_law_line();
      c.loss_db = k.loss_db;
      c.dc_percent = k.dc_percent;
      c.hum_dbm0 = k.hum_dbm0;
      c.hum_hz = k.hum_hz;
      c.near_echo_db = k.near_echo_db;
      V34Call call(c, 1, 0, pump);
      ASSERT_TRUE(call.connect(15));
      call.run(8);
      EXPECT_TRUE(call.data(0));
      EXPECT_EQ(call.retrains(), 0u);
      EXPECT_GE(rate(call), pump == oh_v22bis_type() ? 2400u : 4800u);
      EXPECT_TRUE(call.intact());
    }
  }
}

// V.32bis receives -18 dBm0. The tone comes at other moments of the receiver's state each time.
TEST(V34Lines, ACallWaitingToneThatIsLouderThanTheSignalCostsV32bisNoRetrain) {
  for (const double dbm0 : {-16., -13., -10.}) {
    SCOPED_TRACE(dbm0);
    V34Call call(mu_law_line(), 1, 0, oh_v32bis_type());
    ASSERT_TRUE(call.connect(15));
    for (int k = 0; k < 4; ++k) {
      call.run(2.03);
      call.add_tone(440, dbm0);
      call.run(0.3);
      call.add_tone(440, -200);
    }
    call.run(3);
    EXPECT_EQ(call.retrains(), 0u);
    EXPECT_TRUE(call.data(0));
    EXPECT_EQ(rate(call), 14'400u);
    EXPECT_TRUE(call.intact());
  }
}

TEST(V34Lines, AnOverloadedLineIsAskedForLessPower) {
  hostsim::LineConfig clipped = mu_law_line();
  clipped.limit_dbm0 = -15;  // 6 dB above the mean, as a peak
  hostsim::LineConfig loud = mu_law_line();
  loud.loss_db = -12;
  for (const hostsim::LineConfig& c : {clipped, loud}) {
    V34Call call(c, 1);
    ASSERT_TRUE(call.connect(15)) << c.loss_db;
    EXPECT_EQ(call.retrains(), 0u);
    EXPECT_GE(rate(call), 28'800u);
    EXPECT_GE(call.near_instruments().rx_power_reduction_db, 3);
    EXPECT_GE(call.far_instruments().rx_power_reduction_db, 3);
  }
}

// The limit is above the peaks of probing and training.
TEST(V34Lines, ALimitThatOnlyDataReachLowersTheRateWithoutARetrain) {
  hostsim::LineConfig c = mu_law_line();
  c.limit_dbm0 = -12.4;
  V34Call call(c, 1);
  ASSERT_TRUE(call.connect(15));
  call.run(20);
  EXPECT_EQ(call.retrains(), 0u);
  EXPECT_GE(rate(call), 19'200u);
  EXPECT_TRUE(call.intact());
}

// A limit at the RMS of the signal leaves a quarter of ANSam's modulation. V.34 alone has no other start.
TEST(V34Lines, ALimitAtTheMeanOfTheSignalLeavesV34) {
  for (const char* codec : {"mu-law", "a-law"}) {
    hostsim::LineConfig c = mu_law_line();
    c.codec = codec;
    c.limit_dbm0 = -21;
    V34Call call(c, 1);
    ASSERT_TRUE(call.connect(30)) << codec;
    call.run(15);
    EXPECT_TRUE(call.data(0)) << codec;
    EXPECT_GE(rate(call), 9600u) << codec;
    EXPECT_TRUE(call.intact());
  }
}

// 3429 symbols/s need 3670 Hz. On a quiet line the noise without that edge is small, but it is a gap.
TEST(V34Lines, ASteepFilterGetsASymbolRateThatFitsIt) {
  hostsim::LineConfig c = mu_law_line();
  c.codec = "none";
  c.loss_db = 0;
  c.steep_edge_hz = 3350;
  V34Call call(c, 1);
  ASSERT_TRUE(call.connect(15));
  EXPECT_EQ(call.retrains(), 0u);
  EXPECT_GE(rate(call), 28'800u);
  EXPECT_LT(call.near_instruments().rx_symbol_rate_hz, 3400);
}

TEST(V34Lines, HitsOfPhaseAndGainCostNoRetrain) {
  struct Case {
    double db, degrees;
  };
  for (const Case hit : {Case{0.5, 0}, {-0.5, 0}, {0, 5}, {0, 10}, {3, 0}}) {
    SCOPED_TRACE(testing::Message() << hit.db << " dB, " << hit.degrees << " degrees");
    hostsim::LineConfig c = mu_law_line();
    c.gain_hit_db = hit.db;
    c.phase_hit_deg = hit.degrees;
    c.hit_at_s = 15;
    c.hit_ms = 2500;
    c.hit_period_s = 5;
    V34Call call(c, 1);
    ASSERT_TRUE(call.connect(14));
    call.run(22);
    EXPECT_TRUE(call.data(2));
    EXPECT_EQ(call.retrains(), 0u);
    EXPECT_GE(rate(call), 24'000u);
    EXPECT_TRUE(call.intact());
  }
}

TEST(V34Lines, AHitCostsThePumpsBelowNoRetrainEither) {
  for (const oh_pump_type* pump : {oh_v32bis_type(), oh_v22bis_type()}) {
    for (const bool phase : {true, false}) {
      SCOPED_TRACE(testing::Message() << pump->name << (phase ? " phase" : " gain"));
      hostsim::LineConfig c = mu_law_line();
      (phase ? c.phase_hit_deg : c.gain_hit_db) = phase ? 10 : 3;
      c.hit_at_s = 15;
      V34Call call(c, 1, 0, pump);
      ASSERT_TRUE(call.connect(14));
      call.run(10);
      EXPECT_TRUE(call.data(0));
      EXPECT_EQ(call.retrains(), 0u);
      EXPECT_TRUE(call.intact());
    }
  }
}

TEST(V34Lines, AClockThatWandersBy50PpmIsFollowed) {
  hostsim::LineConfig c = mu_law_line();
  c.wander_ppm = 50;
  c.wander_hz = 0.2;
  V34Call call(c, 1);
  ASSERT_TRUE(call.connect(15));
  call.run(25);
  EXPECT_EQ(call.retrains(), 0u);
  EXPECT_GE(rate(call), 26'400u);
  EXPECT_TRUE(call.intact());
}

// hostsim/channel/gateway.h
TEST(V34Lines, GatewaysThatTheAnswerToneDisablesAreNotThere) {
  hostsim::LineConfig suppressor = mu_law_line();
  suppressor.suppressor_db = 30;
  hostsim::LineConfig voice = mu_law_line();
  voice.vad_dbm0 = -40;
  for (const hostsim::LineConfig& c : {suppressor, voice}) {
    V34Call call(c, 1);
    ASSERT_TRUE(call.connect(15));
    EXPECT_EQ(call.retrains(), 0u);
    EXPECT_GE(rate(call), 31'200u);
  }
}

TEST(V34Lines, LostPacketsAndTandemsCostFramesAndNoRetrain) {
  for (const char* concealment : {"repeat", "fade", "silence"}) {
    hostsim::LineConfig c = mu_law_line();
    c.tandem_codecs = 1;
    c.packet_ms = 20;
    c.packet_loss = 0.002;
    c.concealment = concealment;
    V34Call call(c, 1);
    ASSERT_TRUE(call.connect(15)) << concealment;
    call.run(20);
    EXPECT_EQ(call.retrains(), 0u) << concealment;
    EXPECT_TRUE(call.intact());
    EXPECT_GT(call.arrived(), 80'000u) << concealment;
  }
}

// 10 ms, 20 ms and more are packets; 1 and 2 samples are slips of an exchange.
TEST(V34Lines, ASlipOfTheLineCostsFramesAndNoRetrain) {
  V34Call call(mu_law_line(), 1);
  std::size_t behind = V34Call::kPlayout / 2;
  call.set_playout(behind);
  ASSERT_TRUE(call.connect(15));
  call.run(3);
  const std::uint32_t before = rate(call);
  std::uint32_t slips = 0;
  for (const int lost : {80, -80, 160, -160, 40, -40, 1, -1, 2, -2}) {
    SCOPED_TRACE(lost);
    call.set_playout(behind -= static_cast<std::size_t>(lost));
    call.run(1.5);
    EXPECT_EQ(call.near().status().line.slips, ++slips);
    EXPECT_EQ(call.retrains(), 0u);
    EXPECT_EQ(rate(call), before);
    const std::uint64_t then = call.arrived();
    call.run(1.5);
    EXPECT_GT(call.arrived(), then + 6000);
  }
  EXPECT_TRUE(call.intact());
}

// V.8 and Phase 2 succeed, but V.34's Phase 3 does not, because both directions are active at once.
TEST(V34Lines, ASuppressorThatIsNotDisabledLeavesAutomodeV32bis) {
  hostsim::LineConfig c = mu_law_line();
  c.suppressor_db = 30;
  c.tone_disabling = false;
  V34Call call(c, 1, 0, oh_automode_v22bis_type());
  ASSERT_TRUE(call.connect(60));
  call.run(10);
  EXPECT_EQ(call.near().pump_status().modulation, OH_MODULATION_V32BIS);
  EXPECT_GE(rate(call), 9'600u);
  EXPECT_TRUE(call.data(0));
  EXPECT_TRUE(call.intact());
}

}  // namespace
}  // namespace offhook::test
