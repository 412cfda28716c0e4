// SPDX-License-Identifier: MIT
// Whole calls of the half-duplex pumps, by their public functions.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "tests/realtime/realtime_guard.h"
#include "tests/unit/dsp/v34/half_duplex/half_duplex_call.h"

namespace offhook::test {
namespace {

LineConfig line(uint32_t rate = 0, double snr_db = 45, size_t delay = 80) {
  LineConfig l;
  l.snr_db = snr_db;
  l.attenuation_db = 10;
  l.delay_samples = delay;
  l.max_bit_rate[0] = l.max_bit_rate[1] = rate;
  return l;
}

class V34HalfDuplexRates : public testing::TestWithParam<std::tuple<int, uint32_t>> {};

TEST_P(V34HalfDuplexRates, PagesPassBetweenControlMessages) {
  const auto [source, rate] = GetParam();
  HalfDuplexCall call(source, line(rate));
  ASSERT_TRUE(call.reach(OH_V34_CHANNEL_CONTROL, 15));
  for (int page = 0; page < 2; ++page) {
    for (const int end : {0, 1}) EXPECT_EQ(call.control_errors(end, 0.3), 0) << "end " << end << ", page " << page;
    ASSERT_TRUE(call.turn_to_page());
    EXPECT_EQ(call.status(0).primary_bit_rate, rate);
    EXPECT_EQ(call.status(1).primary_bit_rate, rate);
    EXPECT_EQ(call.page_errors(0.5), 0) << "page " << page;
    ASSERT_TRUE(call.turn_to_control());
  }
  for (const int end : {0, 1}) {
    EXPECT_EQ(call.status(end).control_retrains, 0u);
    EXPECT_EQ(call.status(end).primary_retrains, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, V34HalfDuplexRates,
                         testing::Combine(testing::Values(0, 1),
                                          testing::Values(2400u, 4800u, 7200u, 9600u, 12000u, 14400u, 16800u, 19200u,
                                                          21600u, 24000u, 26400u, 28800u, 31200u, 33600u)));

TEST(V34HalfDuplex, NoiseLowersTheRateAndNotTheOrderOfThings) {
  for (const double snr_db : {30., 22., 14.}) {
    HalfDuplexCall call(0, line(0, snr_db));
    ASSERT_TRUE(call.reach(OH_V34_CHANNEL_CONTROL, 15)) << snr_db;
    ASSERT_TRUE(call.turn_to_page()) << snr_db;
    EXPECT_LT(call.status(0).primary_bit_rate, 33600u);
    EXPECT_LT(call.page_errors(10), 1e-3) << snr_db;
    ASSERT_TRUE(call.turn_to_control()) << snr_db;
  }
}

TEST(V34HalfDuplex, LongRoundTrips) {
  for (const int source : {0, 1}) {
    HalfDuplexCall call(source, line(0, 45, 4000));
    ASSERT_TRUE(call.reach(OH_V34_CHANNEL_CONTROL, 25));
    ASSERT_TRUE(call.turn_to_page());
    EXPECT_EQ(call.page_errors(1), 0);
    ASSERT_TRUE(call.turn_to_control(6));
    EXPECT_EQ(call.control_errors(call.source(), 0.5), 0);
  }
}

// 12.6.1.1 and 12.6.2.3: each end may request other parameters, which MPh then carries.
TEST(V34HalfDuplex, EitherEndChangesTheRates) {
  for (const int who : {0, 1}) {
    HalfDuplexCall call(0, line());
    ASSERT_TRUE(call.reach(OH_V34_CHANNEL_CONTROL, 15));
    ASSERT_TRUE(call.turn_to_page());
    EXPECT_EQ(call.status(0).primary_bit_rate, 33600u);
    oh_v34_half_duplex_change(call.pair().pump(who), 14400, 1200);
    ASSERT_TRUE(call.turn_to_control());
    for (const int end : {0, 1}) {
      EXPECT_EQ(call.status(end).primary_bit_rate, 14400u);
      EXPECT_EQ(call.status(end).control_rx_bit_rate, end == who ? 1200u : 2400u);
      EXPECT_EQ(call.status(end).control_tx_bit_rate, end == who ? 2400u : 1200u);
      EXPECT_EQ(call.status(end).control_retrains, 0u);
      EXPECT_EQ(call.control_errors(end, 0.3), 0);
    }
    ASSERT_TRUE(call.turn_to_page());
    EXPECT_EQ(call.page_errors(0.5), 0);
  }
}

// 12.8: by AC, from either end.
TEST(V34HalfDuplex, ControlChannelIsTrainedAgain) {
  for (const int who : {0, 1}) {
    HalfDuplexCall call(1, line());
    ASSERT_TRUE(call.reach(OH_V34_CHANNEL_CONTROL, 15));
    oh_v34_half_duplex_retrain_control(call.pair().pump(who));
    call.pair().run(1600);
    EXPECT_EQ(call.status(who).channel, OH_V34_CHANNEL_NONE);
    ASSERT_TRUE(call.reach(OH_V34_CHANNEL_CONTROL, 3));
    for (const int end : {0, 1}) EXPECT_EQ(call.status(end).control_retrains, 1u) << end;
    ASSERT_TRUE(call.turn_to_page());
    EXPECT_EQ(call.page_errors(0.5), 0);
  }
}

// 12.7: by the tones of Phase 2, from either end, in either channel.
TEST(V34HalfDuplex, PrimaryChannelIsTrainedAgain) {
  for (const int who : {0, 1}) {
    for (const bool in_page : {false, true}) {
      HalfDuplexCall call(0, line());
      ASSERT_TRUE(call.reach(OH_V34_CHANNEL_CONTROL, 15));
      if (in_page) {
        ASSERT_TRUE(call.turn_to_page());
      }
      oh_v34_half_duplex_retrain_primary(call.pair().pump(who));
      call.pair().run(1600);
      ASSERT_TRUE(call.reach(OH_V34_CHANNEL_CONTROL, 10)) << who << in_page;
      for (const int end : {0, 1}) EXPECT_EQ(call.status(end).primary_retrains, 1u) << end;
      ASSERT_TRUE(call.turn_to_page());
      EXPECT_EQ(call.page_errors(0.5), 0);
    }
  }
}

// Table 3/V.8: the calling source transmits a fax, the calling recipient receives one. Two sources cannot have a call.
TEST(V34HalfDuplex, TwoSourcesHaveNothingInCommon) {
  BitTester bits[2];
  PumpPair pair(oh_v34_source_type(), line(), {bits[0].port(), bits[1].port()});
  pair.run(8 * 8000);
  for (const int end : {0, 1}) {
    EXPECT_EQ(pair.status(end).state, OH_PUMP_FAILED);
    EXPECT_EQ(pair.status(end).failure, OH_PUMP_NOTHING_IN_COMMON);
  }
}

TEST(V34HalfDuplex, TurnIsRefusedOutsideOfAChannel) {
  HalfDuplexCall call(0, line());
  EXPECT_FALSE(call.turn(0));
  EXPECT_FALSE(call.turn(1));
}

// --- real-time

/// A pump, and the bits that it received. Nothing of it allocates after its construction.
struct RealtimeEnd {
  RealtimeEnd(const oh_pump_type* pump, oh_pump_role role) : type(pump) {
    oh_pump_config c{};
    c.struct_size = sizeof c;
    c.format = kLinear8000;
    c.role = role;
    c.tx_level_dbm0 = -12;
    c.port = {[](void*) { return 1; }, [](void* self, int) { ++static_cast<RealtimeEnd*>(self)->page_bits; }, this};
    memory.reset(std::aligned_alloc(64, (type->size(&c) + 63) / 64 * 64));
    type->init(memory.get(), &c);
    const oh_bit_port control = {[](void*) { return 0; },
                                 [](void* self, int) { ++static_cast<RealtimeEnd*>(self)->control_bits; }, this};
    oh_v34_half_duplex_set_control_port(memory.get(), &control);
  }
  bool in(oh_v34_channel channel) const {
    oh_v34_half_duplex_status s{};
    s.struct_size = sizeof s;
    oh_v34_half_duplex_get_status(memory.get(), &s);
    return s.channel == channel;
  }

  const oh_pump_type* type;
  uint64_t page_bits = 0, control_bits = 0;
  std::unique_ptr<void, decltype(&std::free)> memory{nullptr, &std::free};
};

/// V.8, control channel, a page, control channel with lost samples, a retrain of it and one of the primary channel.
struct RealtimeCall {
  RealtimeEnd source{oh_v34_source_type(), OH_PUMP_CALL}, recipient{oh_v34_recipient_type(), OH_PUMP_ANSWER};
  int16_t to_source = 0, to_recipient = 0;

  void run(int samples) {
    for (int k = 0; k < samples; ++k) {
      int16_t from_source, from_recipient;
      source.type->process(source.memory.get(), &to_source, &from_source, 1);
      recipient.type->process(recipient.memory.get(), &to_recipient, &from_recipient, 1);
      to_source = static_cast<int16_t>(from_recipient / 3);
      to_recipient = static_cast<int16_t>(from_source / 3);
    }
  }
  bool reach(oh_v34_channel channel, int seconds) {
    for (int k = 0; k < 200 * seconds && !(source.in(channel) && recipient.in(channel)); ++k) run(40);
    return source.in(channel) && recipient.in(channel);
  }
  bool page() {
    oh_v34_half_duplex_turn(recipient.memory.get());
    oh_v34_half_duplex_turn(source.memory.get());
    if (!reach(OH_V34_CHANNEL_PRIMARY, 3)) return false;
    run(16000);
    oh_v34_half_duplex_turn(source.memory.get());
    return reach(OH_V34_CHANNEL_CONTROL, 3);
  }
  /// @return the bits of all pages; 0: it came no further
  uint64_t all() {
    if (!reach(OH_V34_CHANNEL_CONTROL, 15)) return 0;
    run(8000);
    if (!page()) return 0;
    source.type->report_gap(source.memory.get(), 80);
    run(1600);
    oh_v34_half_duplex_retrain_control(recipient.memory.get());
    run(1600);
    if (!reach(OH_V34_CHANNEL_CONTROL, 5)) return 0;
    oh_v34_half_duplex_retrain_primary(source.memory.get());
    run(1600);
    if (!reach(OH_V34_CHANNEL_CONTROL, 15) || !page()) return 0;
    return recipient.page_bits;
  }
};

TEST(V34HalfDuplexRealtime, AllocatesLocksAndCallsNothingInAWholeCall) {
  RealtimeCall call;
  const RealtimeRun run = run_realtime([&call] { return call.all(); });
  if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
  EXPECT_EQ(run.violation, "");
  EXPECT_GT(run.value, 2u * 2 * 28'800);
  EXPECT_EQ(call.all(), run.value);  // again, here, to see what it went through
  EXPECT_GT(call.source.control_bits, 2000u);
}

}  // namespace
}  // namespace offhook::test
