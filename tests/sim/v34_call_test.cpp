// SPDX-License-Identifier: MIT
//
// Whole V.34 calls: two pumps under V.42 over a line, and a pump under its driver in every context.
#include "tests/sim/v34_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "dsp/pump/pump_type.h"
#include "dsp/qam/receiver.h"
#include "tests/realtime/realtime_guard.h"
#include "tests/sim/calls.h"

namespace offhook {
namespace {

using hostsim::LineConfig;
using qam::Receiver;
using test::V34Call;

LineConfig clean() {
  LineConfig c;
  c.near_echo_db = c.far_echo_db = 200;
  c.noise_dbm0 = -70;
  c.codec = "none";
  return c;
}

TEST(V34Call, CleanLineCarries33600BothWaysAndEveryByte) {  // V34-5.1-1
  V34Call call(clean(), 1);
  ASSERT_TRUE(call.connect());
  call.run(16);
  EXPECT_EQ(call.near().pump_status().rx_bit_rate, 33600u);
  EXPECT_EQ(call.far().pump_status().rx_bit_rate, 33600u);
  EXPECT_EQ(call.retrains(), 0u);
  EXPECT_TRUE(call.intact());
  EXPECT_GT(call.arrived(), 100'000u);
  const oh_v34_instruments i = call.near_instruments();
  EXPECT_GT(i.snr_db, 33);
  EXPECT_NEAR(i.clock_ppm, 0, 2);
  EXPECT_EQ(i.rx_trellis_states, 64);
}

TEST(V34Call, ClockOffsetAndCompandingAreFollowed) {
  for (const double ppm : {-100.0, 100.0}) {
    LineConfig c = clean();
    c.clock_ppm = ppm;
    c.frequency_offset_hz = ppm * 0.07;
    c.codec = ppm > 0 ? "a-law" : "mu-law";
    V34Call call(c, 1);
    ASSERT_TRUE(call.connect());
    call.run(8);
    ASSERT_TRUE(call.data());
    EXPECT_GE(call.near().pump_status().rx_bit_rate, 26400u);
    EXPECT_GE(call.far().pump_status().rx_bit_rate, 26400u);
    EXPECT_NEAR(call.near_instruments().clock_ppm, ppm, 3);
    EXPECT_NEAR(call.near_instruments().frequency_offset_hz, ppm * 0.07, 0.4);
    EXPECT_TRUE(call.intact());
    EXPECT_EQ(call.retrains(), 0u);
  }
}

// The edges of the band arrive up to 8 ms after its middle, weakened by up to 25 dB.
TEST(V34Call, TheWorstChannelsOfV56bisCarryMoreThan24000) {
  for (const char* channel : {"v56bis-ad6-edd3", "v56bis-ad7-edd3", "v56bis-ad8-edd3"}) {
    LineConfig line = clean();
    line.channel = channel;
    V34Call call(line, 1);
    ASSERT_TRUE(call.connect(15)) << channel;
    EXPECT_EQ(call.retrains(), 0u) << channel;
    EXPECT_GT(call.near().pump_status().rx_bit_rate, 24000u) << channel;
    EXPECT_GT(call.far().pump_status().rx_bit_rate, 24000u) << channel;
  }
}

// DISC and its answer, then MP with the rate 0 in both directions: 11.7.
TEST(V34Call, HangingUpTellsTheFarEnd) {
  for (const bool caller : {true, false}) {
    V34Call call(clean(), 1);
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

TEST(V34Call, RoundTripOf1200Ms) {  // V34-11-1, V34-11-2
  LineConfig c = clean();
  c.delay_ms = 600;
  V34Call call(c, 1);
  ASSERT_TRUE(call.connect());
  call.run(15);
  EXPECT_NEAR(call.near_instruments().round_trip_samples, 9600, 40);
  EXPECT_GE(call.near().pump_status().rx_bit_rate, 28800u);
  EXPECT_TRUE(call.intact());
  EXPECT_GT(call.arrived(), 30'000u);
}

TEST(V34Call, TwoWireLineWithEcho) {
  LineConfig c;  // the default: near echo 12 dB, far echo, mu-law
  V34Call call(c, 1);
  ASSERT_TRUE(call.connect());
  call.run(10);
  EXPECT_GE(call.near().pump_status().rx_bit_rate, 21600u);
  EXPECT_GE(call.far().pump_status().rx_bit_rate, 21600u);
  EXPECT_GT(call.near_instruments().echo_return_loss_db, 20);
  EXPECT_TRUE(call.intact());
  EXPECT_EQ(call.retrains(), 0u);
}

// An echo of -12 dB after 20 ms: beyond the equaliser, and not visible in the probing. The answer modem's J requests
// sixteen points, which cannot be decoded; the next training has four.
TEST(V34Call, ListenerEchoOf12Db) {
  LineConfig c = clean();
  c.loss_db = 0;
  c.near_echo_db = 12;
  c.far_echo_db = 6;
  V34Call call(c, 1);
  ASSERT_TRUE(call.connect(40));
  call.run(10);
  EXPECT_LE(call.retrains(), 1u);
  EXPECT_GT(call.arrived(), 5000u);
  EXPECT_TRUE(call.intact());
}

// Both ends lose the line and send their tones until it returns; a renegotiation's S would have ended by then.
TEST(V34Call, ALineThatIsSilentForTwoSecondsIsTrainedOnAtOnce) {
  LineConfig c = clean();
  c.interruption_ms = 2000;
  c.interruption_at_s = 16;
  V34Call call(c, 1);
  ASSERT_TRUE(call.connect());
  call.run(16.8 - call.now_s());
  EXPECT_EQ(call.retrains(), 1u) << "while the line is silent";
  call.run(18 - call.now_s());
  ASSERT_TRUE(call.data(8.5)) << "from the line's return";
  EXPECT_EQ(call.near_instruments().renegotiations, 0u);
  EXPECT_EQ(call.retrains(), 1u);
  call.run(3);
  EXPECT_TRUE(call.intact());
}

TEST(V34Call, LostSamplesUpTo20MsAreSurvivedWithoutTraining) {
  for (const std::uint32_t samples : {40u, 160u}) {
    V34Call call(clean(), 1);
    ASSERT_TRUE(call.connect());
    call.run(13);
    const std::uint32_t renegotiations = call.near_instruments().renegotiations;
    call.run(2, samples);
    EXPECT_EQ(call.retrains(), 0u) << samples;
    EXPECT_EQ(call.near_instruments().renegotiations, renegotiations) << samples;
    EXPECT_EQ(call.near().pump_status().filled_in, samples);
    EXPECT_TRUE(call.intact());
  }
}

TEST(V34Call, AfterAGapOf200MsDataGoOn) {
  V34Call call(clean(), 1);
  ASSERT_TRUE(call.connect());
  call.run(4, 1600);
  call.run(4);
  ASSERT_TRUE(call.data());
  const std::uint64_t before = call.arrived();
  call.run(3);
  EXPECT_GT(call.arrived(), before + 10'000);
  EXPECT_TRUE(call.intact());
}

TEST(V34Call, RetrainAndRenegotiationFromEitherEnd) {  // V34-RT-1, -2, -3, -4; V34-RN-1, -2
  V34Call call(clean(), 1);
  ASSERT_TRUE(call.connect());
  call.run(1);
  oh_v34_retrain(call.near().pump_memory());
  call.run(1);
  ASSERT_TRUE(call.data());
  EXPECT_EQ(call.near_instruments().cause, OH_RETRAIN_OWN);
  EXPECT_EQ(call.far_instruments().cause, OH_RETRAIN_FAR);
  oh_v34_retrain(call.far().pump_memory());
  call.run(1);
  ASSERT_TRUE(call.data());
  EXPECT_EQ(call.near().pump_status().retrains, 2u);
  EXPECT_EQ(call.far().pump_status().retrains, 2u);
  const std::uint32_t before = call.near_instruments().renegotiations;
  call.run(1);
  oh_v34_renegotiate(call.far().pump_memory());
  call.run(0.5);
  ASSERT_TRUE(call.data());
  EXPECT_GT(call.near_instruments().renegotiations, before);
  call.run(2);
  EXPECT_TRUE(call.intact());
}

// 200 bit/s in each direction in addition to the user's bytes, whose rate is unchanged.
TEST(V34Call, AuxiliaryChannelCarriesItsBitsWhereBothWantIt) {  // V34-5.1-3, V34-8.3-1
  struct Channel {
    std::uint32_t state;
    std::vector<int> sent, received;
    oh_bit_port port() {
      return {[](void* u) {
                auto& c = *static_cast<Channel*>(u);
                c.state = c.state * 1664525 + 1013904223;
                c.sent.push_back(static_cast<int>(c.state >> 31));
                return c.sent.back();
              },
              [](void* u, int bit) { static_cast<Channel*>(u)->received.push_back(bit); }, this};
    }
  };
  for (const bool both : {true, false}) {
    V34Call call(clean(), 1);
    Channel near{1, {}, {}}, far{2, {}, {}};
    const oh_bit_port near_port = near.port(), far_port = far.port();
    oh_v34_want_auxiliary(call.near().pump_memory(), &near_port);
    if (both) oh_v34_want_auxiliary(call.far().pump_memory(), &far_port);
    ASSERT_TRUE(call.connect());
    call.run(10);
    EXPECT_EQ(call.near_instruments().auxiliary, both);
    EXPECT_EQ(call.far_instruments().auxiliary, both);
    EXPECT_EQ(call.near().pump_status().rx_bit_rate, 33600u);
    EXPECT_TRUE(call.intact());
    EXPECT_GT(call.arrived(), 70'000u);
    if (!both) {
      EXPECT_THAT(near.sent, testing::IsEmpty());
      EXPECT_THAT(near.received, testing::IsEmpty());
      continue;
    }
    for (const auto& [from, to] : {std::pair{&near, &far}, std::pair{&far, &near}}) {
      ASSERT_GT(to->received.size(), 1900u);
      EXPECT_LT(to->received.size(), 2200u);
      const auto first = to->received.end() - 1800;
      EXPECT_NE(std::search(from->sent.begin(), from->sent.end(), first, to->received.end()), from->sent.end());
    }
  }
}

TEST(V34Call, CleardownEndsBothEnds) {  // V34-CD-1, V34-CD-2
  V34Call call(clean(), 1);
  ASSERT_TRUE(call.connect());
  call.run(1);
  oh_v34_cleardown(call.near().pump_memory());
  call.run(2);
  EXPECT_EQ(call.near().pump_status().state, OH_PUMP_IDLE);
  EXPECT_EQ(call.far().pump_status().state, OH_PUMP_IDLE);
}

std::ptrdiff_t count(const test::Recorded& r, oh_event_kind kind) {
  return std::count_if(r.events.begin(), r.events.end(), [&](const oh_event& e) { return e.kind == kind; });
}

TEST(V34Call, TheFileArrivesInEveryContext) {
  const auto file = test::random_file(20'000);
  for (const char* context : {"INT", "DPC", "THR 24", "RES 4/16 strict"}) {
    hostsim::Scenario s = test::scenario(context);
    s.modem = OH_MODULATION_V34;
    s.time_limit_s = 120;
    const test::Recorded recorded = test::run(s, file);
    const auto& r = recorded.result;
    EXPECT_GT(count(recorded, OH_EV_PUMP_INSTRUMENT), 100) << context;
    EXPECT_GT(count(recorded, OH_EV_PUMP_TAP), 0) << context;
    EXPECT_EQ(count(recorded, OH_EV_PUMP_TAP) % Receiver::kTaps, 0) << context;  // each time that data mode begins
    EXPECT_TRUE(r.completed) << context << ": " << r.transfer.failure;
    EXPECT_TRUE(r.transfer.intact) << context;
    EXPECT_EQ(r.transfer.bytes_delivered, file.size()) << context;
    EXPECT_EQ(r.transfer.retrains, 0u) << context;
  }
}

/// A pump that counts bits, connected to another one sample by sample.
struct End {
  std::uint64_t sent = 0, received = 0;
  void* memory;
  explicit End(oh_pump_role role) {
    oh_pump_config c{};
    c.format = kLinear8000;
    c.role = role;
    c.tx_level_dbm0 = -12;
    c.port = {[](void* u) { return static_cast<int>((static_cast<End*>(u)->sent++ * 0x9e3779b97f4a7c15u) >> 63); },
              [](void* u, int) { ++static_cast<End*>(u)->received; }, this};
    const std::size_t size = oh_v34_type()->size(&c);
    memory = std::aligned_alloc(64, size);
    EXPECT_EQ(oh_v34_type()->init(memory, &c), 0);
  }
  ~End() { std::free(memory); }
  oh_pump_status status() const {
    oh_pump_status s;
    oh_v34_type()->status(memory, &s);
    return s;
  }
};

TEST(V34Call, NoAllocationNoLockNoSystemCall) {
  End a(OH_PUMP_CALL), b(OH_PUMP_ANSWER);
  const test::RealtimeRun run = test::run_realtime([&] {
    const oh_pump_type* ops = oh_v34_type();
    std::int16_t to_a[8] = {}, to_b[8] = {};
    for (int n = 0; n < 100'000; ++n) {
      std::int16_t from_a[8], from_b[8];
      ops->process(a.memory, to_a, from_a, 8);
      ops->process(b.memory, to_b, from_b, 8);
      for (int k = 0; k < 8; ++k) {
        to_a[k] = static_cast<std::int16_t>(from_b[k] / 3);
        to_b[k] = static_cast<std::int16_t>(from_a[k] / 3);
      }
      if (n == 30'000) ops->report_gap(a.memory, 1600);  // lost samples
      if (n == 40'000) oh_v34_renegotiate(a.memory);
      if (n == 50'000) oh_v34_retrain(b.memory);
    }
    return a.received;
  });
  if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
  EXPECT_EQ(run.violation, "");
  EXPECT_GT(run.value, 500'000u);
}

TEST(V34Call, StateSizeIsReportedAndBounded) {
  oh_pump_config c{};
  c.format = kLinear8000;
  c.tx_level_dbm0 = -12;
  c.port = {[](void*) { return 1; }, [](void*, int) {}, nullptr};
  const std::size_t size = oh_v34_type()->size(&c);
  std::printf("V.34 state: %zu bytes\n", size);
  EXPECT_GT(size, 10'000u);
  EXPECT_LT(size, 400'000u);
  c.format.rx.rate_hz = 9600;
  EXPECT_EQ(oh_v34_type()->size(&c), 0u);
}

}  // namespace
}  // namespace offhook
