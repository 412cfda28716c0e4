// SPDX-License-Identifier: MIT
// Whole calls of the half-duplex pumps, by their public functions.
#include <gtest/gtest.h>

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

// 12.6.1.1 and 12.6.2.3: either end asks for other parameters, which MPh then carries.
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
      if (in_page) ASSERT_TRUE(call.turn_to_page());
      oh_v34_half_duplex_retrain_primary(call.pair().pump(who));
      call.pair().run(1600);
      ASSERT_TRUE(call.reach(OH_V34_CHANNEL_CONTROL, 10)) << who << in_page;
      for (const int end : {0, 1}) EXPECT_EQ(call.status(end).primary_retrains, 1u) << end;
      ASSERT_TRUE(call.turn_to_page());
      EXPECT_EQ(call.page_errors(0.5), 0);
    }
  }
}

// Table 3/V.8: the calling source transmits a fax, the calling recipient receives one. Two sources have no call.
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

}  // namespace
}  // namespace offhook::test
