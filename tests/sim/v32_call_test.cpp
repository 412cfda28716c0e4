// SPDX-License-Identifier: MIT
//
// Whole V.32bis calls: two pumps under V.42 over simulated lines, and in every context.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "dsp/blocks/level.h"
#include "dsp/v32/pump.h"
#include "tests/sim/calls.h"
#include "tests/sim/v34_call.h"

namespace offhook {
namespace {

using hostsim::LineConfig;

constexpr double kReceivedDbm0 = -22;  // sent -12, loss 10

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
      : V34Call(line, seed, max_bit_rate, oh_v32bis_type()) {}
  static oh_v32bis_instruments seen(modem::Modem& end) {
    oh_v32bis_instruments i;
    oh_v32bis_get_instruments(end.pump_memory(), &i);
    return i;
  }
  std::uint32_t renegotiations() { return std::max(seen(near()).renegotiations, seen(far()).renegotiations); }
  std::uint32_t rate() { return near().pump_status().rx_bit_rate; }
  /// Bytes that arrive within this many seconds.
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
  EXPECT_GT(call.arriving(5), 2u * 5 * 1600);  // 1800 bytes per second on the line in each direction
  EXPECT_EQ(call.retrains(), 0u);
  EXPECT_EQ(call.renegotiations(), 0u);
  call.expect_every_byte();
}

// Clause 8, begun by either end: down to the requested rate, and up again automatically.
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
  EXPECT_EQ(call.seen(call.near()).cause, OH_RETRAIN_OWN);
  EXPECT_EQ(call.seen(call.far()).cause, OH_RETRAIN_FAR);
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
    modem::Modem& first = caller ? call.near() : call.far();
    modem::Modem& other = caller ? call.far() : call.near();
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

// 6: an answer tone without V.8 at either end, at both, or without a tone.
TEST(V32bisCall, StartsWithoutV8) {
  enum Start { kV8, kAnswerTone, kAtOnce };
  for (const Start caller : {kV8, kAnswerTone}) {
    for (const Start answerer : {kV8, kAnswerTone, kAtOnce}) {
      SCOPED_TRACE(testing::Message() << caller << " calls " << answerer);
      LineConfig line = clean();
      line.noise_dbm0 = -55;
      line.near_echo_db = 12;
      V32bisCall call(line);
      if (caller == kAnswerTone) oh_v32bis_without_v8(call.near().pump_memory());
      if (answerer == kAnswerTone) oh_v32bis_without_v8(call.far().pump_memory());
      if (answerer == kAtOnce) oh_v32bis_begin(call.far().pump_memory(), 0);
      ASSERT_TRUE(call.connect());
      call.run(3);
      EXPECT_EQ(call.rate(), 14400u);
      EXPECT_EQ(call.retrains(), 0u);
      call.expect_every_byte();
    }
  }
}

// V.32: no B4, or no B8. With trellis coding and without, at either end.
TEST(V32bisCall, MeetsV32Modems) {
  const struct {
    bool caller, trellis;
    std::uint32_t max, rate;
  } cases[] = {{true, true, 0, 9600},   {true, false, 0, 9600},    {false, true, 0, 9600},
               {false, false, 0, 9600}, {true, false, 4800, 4800}, {false, false, 4800, 4800}};
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.caller << c.trellis << c.max);
    V32bisCall call(clean(), 1, c.max);
    modem::Modem& old = c.caller ? call.near() : call.far();
    modem::Modem& ours = c.caller ? call.far() : call.near();
    oh_v32bis_only_v32(old.pump_memory(), c.trellis);
    ASSERT_TRUE(call.connect());
    EXPECT_EQ(call.rate(), c.rate);
    EXPECT_EQ(V32bisCall::seen(ours).far_v32, 1);
    EXPECT_GT(call.arriving(4), 2 * 3 * c.rate / 10);
    oh_v32bis_renegotiate(ours.pump_memory(), 4800);  // not with such a far end
    oh_v32bis_retrain(ours.pump_memory());
    call.run(1);
    ASSERT_TRUE(call.data(20));
    EXPECT_EQ(call.rate(), c.rate);
    EXPECT_EQ(call.renegotiations(), 0u);
    call.expect_every_byte();
  }
}

// No retrain could succeed in the noise, so none begins before the noise is over, and at 6 dB none is needed. The far
// end, which receives well, is not disturbed.
TEST(V32bisCall, ComesBackAfterTwoSecondsOfNoise) {
  for (const double db : {0.0, 6.0, 14.0}) {  // over the signal
    SCOPED_TRACE(db);
    V32bisCall call(clean());
    ASSERT_TRUE(call.connect());
    call.run(1);
    call.add_noise(kReceivedDbm0 + db);
    call.run(2);
    EXPECT_EQ(call.retrains(), 0u);
    call.no_noise();
    call.run(1);
    ASSERT_TRUE(call.data(15));
    EXPECT_LE(call.retrains(), 1u);
    EXPECT_GT(call.arriving(6), 8'000u);
    call.expect_every_byte();
  }
}

// The rate follows the line downwards and upwards without training.
TEST(V32bisCall, RenegotiatesWhenTheNoiseChanges) {
  V32bisCall call(clean());
  ASSERT_TRUE(call.connect());
  call.run(1);
  call.add_noise(kReceivedDbm0 - 18);  // 20.2 dB of 2400 Hz
  call.run(8);
  ASSERT_TRUE(call.data(3));
  EXPECT_EQ(call.rate(), 9600u);
  call.no_noise();
  call.run(15);
  EXPECT_EQ(call.rate(), 14400u);
  EXPECT_GE(call.renegotiations(), 2u);
  EXPECT_EQ(call.retrains(), 0u);
  call.expect_every_byte();
}

TEST(V32bisCall, LostSamplesUpTo20MsAreSurvivedWithoutTraining) {
  for (const std::uint32_t samples : {40u, 160u}) {
    V32bisCall call(clean());
    ASSERT_TRUE(call.connect());
    call.run(4);
    call.run(2, samples);
    EXPECT_EQ(call.retrains(), 0u) << samples;
    EXPECT_EQ(call.renegotiations(), 0u) << samples;
    EXPECT_EQ(call.near().pump_status().filled_in, samples);
    call.expect_every_byte();
  }
}

TEST(V32bisCall, AfterAGapOf200MsDataGoOn) {
  V32bisCall call(clean());
  ASSERT_TRUE(call.connect());
  call.run(4, 1600);
  call.run(4);
  ASSERT_TRUE(call.data(20));
  EXPECT_GT(call.arriving(3), 6'000u);
  call.expect_every_byte();
}

TEST(V32bisCall, LinesAsTheyAre) {
  struct Case {
    const char* name;
    LineConfig line;
    std::uint32_t least;
  };
  std::vector<Case> cases;
  const auto add = [&](const char* name, std::uint32_t least, auto change) {
    LineConfig line = clean();
    change(line);
    cases.push_back({name, line, least});
  };
  add("+100 ppm", 14400, [](LineConfig& l) { l.clock_ppm = 100; });
  add("-100 ppm", 14400, [](LineConfig& l) { l.clock_ppm = -100; });
  add("+7 Hz", 14400, [](LineConfig& l) { l.frequency_offset_hz = 7; });
  add("-7 Hz", 14400, [](LineConfig& l) { l.frequency_offset_hz = -7; });
  add("A-law", 14400, [](LineConfig& l) { l.codec = "a-law"; });
  add("mu-law", 14400, [](LineConfig& l) { l.codec = "mu-law"; });
  add("impulses", 9600, [](LineConfig& l) { l.impulse_rate_hz = 1; });
  add("echo", 14400, [](LineConfig& l) { l.near_echo_db = 12, l.far_echo_db = 20, l.delay_ms = 100; });
  add("echo, 3 Hz", 12000,
      [](LineConfig& l) { l.near_echo_db = 12, l.far_echo_db = 30, l.delay_ms = 50, l.frequency_offset_hz = 3; });
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    V32bisCall call(c.line);
    ASSERT_TRUE(call.connect());
    call.run(5);
    EXPECT_GE(call.rate(), c.least);
    EXPECT_EQ(call.retrains(), 0u);
    call.expect_every_byte();
  }
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

// The same bytes, and the same call of the same pump, whenever it is served.
TEST(V32bisCall, TheFileArrivesInEveryContextByteForByte) {
  const auto file = test::random_file(12'000);
  for (const char* context : {"INT", "DPC", "THR 24"}) {
    hostsim::Scenario s = test::scenario(context);
    s.modem = OH_MODULATION_V32BIS;
    s.time_limit_s = 120;
    const test::Recorded recorded = test::run(s, file);
    const auto count = [&](oh_event_kind kind) {
      return std::count_if(recorded.events.begin(), recorded.events.end(),
                           [&](const oh_event& e) { return e.kind == kind; });
    };
    EXPECT_GT(count(OH_EV_PUMP_INSTRUMENT), 100) << context;
    EXPECT_GT(count(OH_EV_PUMP_TAP), 0) << context;
    EXPECT_TRUE(recorded.result.completed) << context << ": " << recorded.result.transfer.failure;
    EXPECT_TRUE(recorded.result.transfer.intact) << context;
    EXPECT_EQ(recorded.result.transfer.bytes_delivered, file.size()) << context;
    EXPECT_EQ(recorded.result.transfer.retrains, 0u) << context;
  }
}

}  // namespace
}  // namespace offhook
