// SPDX-License-Identifier: MIT
#include "offhook/card_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "driver/core/card_memory.h"
#include "driver/live/timer_card.h"
#include "offhook/modem_card.h"

namespace offhook {
namespace {

/// Captures 0, 1, 2 ... and remembers what was played.
struct CountingLine final : LineEnd {
  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) override {
    heard.insert(heard.end(), played, played + n);
    for (std::size_t i = 0; i < n; ++i) captured[i] = next++;
  }
  std::int16_t next = 0;
  std::vector<std::int16_t> heard;
};

/// Time, kind, argument.
using Logged = std::vector<std::array<std::uint64_t, 3>>;

/// A card's memory, its engine, and a log of the engine's counters.
struct Engine {
  explicit Engine(const oh_streams& streams = oh_modem_streams(OH_MODEM_RATE_HZ), std::uint32_t block = 0)
      : memory(streams), card(memory.card()) {
    oh_event_log_init(&log, slots.data(), slots.size(), 0);
    report.log = &log;
    report.id = 3;
    oh_card_engine_init(&engine, &card, &report);
    if (block > 0) {
      EXPECT_EQ(card.ops->set_block(card.self, block), 0);
    }
  }
  std::uint32_t run(LineEnd& line, std::uint32_t n) {
    const oh_line_end end = line.handle();
    return oh_card_engine_run(&engine, &end, n, now += n);
  }
  oh_card_counters counters() const { return oh_card_counts(&memory.state()); }
  /// @return the events logged since the last call, all from this card
  Logged logged() {
    std::vector<oh_event> all(slots.size());
    all.resize(oh_event_log_read(&log, all.data(), all.size()));
    Logged rows;
    for (const oh_event& event : all) {
      EXPECT_EQ(event.id, 3);
      rows.push_back({event.time_ns, event.kind, event.argument});
    }
    return rows;
  }
  CardMemory memory;
  oh_card card;
  std::vector<oh_event> slots = std::vector<oh_event>(256);
  oh_event_log log{};
  oh_card_report report{};
  oh_card_engine engine{};
  std::uint64_t now = 0;
};

/// ADSL's rates, octets in one direction: four received samples per period.
oh_streams unequal() {
  return {{1'104'000, OH_LINEAR16, 64, 1, 8}, {276'000, OH_MULAW, 20, 2, 10}};
}

TEST(Streams, AreRefusedWhereRatesRingsOrBlocksDoNotFit) {
  const oh_streams good = unequal();
  EXPECT_TRUE(oh_streams_are_valid(&good));
  EXPECT_EQ(oh_streams_rate_hz(&good), 276'000u);
  EXPECT_EQ(oh_streams_block_min(&good), 2u);
  EXPECT_EQ(oh_streams_block_max(&good), 8u);
  const auto spoiled = [&](auto&& spoil) {
    oh_streams s = good;
    spoil(s);
    return oh_streams_are_valid(&s) == 0 && oh_card_size(&s) == 0;
  };
  EXPECT_TRUE(spoiled([](auto& s) { s.rx.rate_hz = 1'000'000; }));  // no whole ratio
  EXPECT_TRUE(spoiled([](auto& s) { s.tx.rate_hz = 0; }));
  EXPECT_TRUE(spoiled([](auto& s) { s.rx.ring_samples = 66; }));  // sixteen periods and a half
  EXPECT_TRUE(spoiled([](auto& s) { s.rx.ring_samples = 60; }));  // less than two blocks
  EXPECT_TRUE(spoiled([](auto& s) { s.rx.encoding = static_cast<oh_encoding>(3); }));
  EXPECT_TRUE(spoiled([](auto& s) { s.tx.block_min = 9; }));
  EXPECT_TRUE(spoiled([](auto& s) { s.rx.block_min = s.tx.block_min = 0; }));
}

TEST(CardEngine, BlocksEndWhereTheDriverAskedFromTheNextBlockOn) {
  Engine e(oh_modem_streams(OH_MODEM_RATE_HZ), 10);
  CountingLine line;
  oh_card_engine_start(&e.engine, 0);
  e.card.ops->set_block(e.card.self, 4);
  EXPECT_EQ(e.run(line, 9), 0u);
  EXPECT_EQ(e.run(line, 1), 1u);
  EXPECT_EQ(e.card.ops->acknowledge(e.card.self), 10u);
  EXPECT_EQ(oh_card_engine_left(&e.engine), 4u);
  EXPECT_EQ(e.run(line, 4), 1u);
  EXPECT_EQ(e.card.ops->acknowledge(e.card.self), 14u);
  EXPECT_EQ(e.run(line, 9), 2u);
  EXPECT_EQ(e.counters().interrupts, 4u);
  EXPECT_EQ(e.card.ops->set_block(e.card.self, OH_MODEM_RING_SAMPLES / 2 + 1), -EINVAL);
  EXPECT_EQ(e.card.ops->set_block(e.card.self, 0), -EINVAL);
}

TEST(CardEngine, CountsAndLogsEachSampleOverwrittenUnreadAndEachPlayedUnwritten) {
  Engine e(oh_modem_streams(OH_MODEM_RATE_HZ), 256);
  CountingLine line;
  oh_card_engine_start(&e.engine, 0);
  e.card.ops->tx_written(e.card.self, 100);
  e.run(line, 128);
  EXPECT_EQ(e.counters().underrun_samples, 28u);
  EXPECT_EQ(e.counters().overrun_samples, 0u);
  e.card.ops->tx_written(e.card.self, 1000);
  e.card.ops->rx_read(e.card.self, 100);
  e.run(line, 128);
  e.run(line, 256);
  EXPECT_EQ(e.counters().overrun_samples, 0u);
  e.run(line, 120);  // up to 632: slot of 119 was overwritten, read up to 100
  EXPECT_EQ(e.counters().overrun_samples, 20u);
  EXPECT_EQ(e.counters().underrun_samples, 28u);
  const Logged expected = {{0, OH_EV_CARD_RATE, OH_MODEM_RATE_HZ},
                           {128, OH_EV_TX_UNDERRUN, 28},
                           {256, OH_EV_INTERRUPT, 256},
                           {512, OH_EV_INTERRUPT, 256},
                           {632, OH_EV_RX_OVERRUN, 20}};
  EXPECT_EQ(e.logged(), expected);
}

TEST(CardEngine, ASideWithoutHardwareLogsWhatTheOtherSideCounted) {
  Engine e(oh_modem_streams(OH_MODEM_RATE_HZ), 100);
  oh_card_report elsewhere = e.report;
  e.report.log = nullptr;  // the hardware's process has no log
  CountingLine line;
  oh_card_engine_start(&e.engine, 0);
  oh_card_log_changes(&elsewhere, &e.memory.state(), 1);
  e.run(line, 250);
  oh_card_log_changes(&elsewhere, &e.memory.state(), 2);
  oh_card_log_changes(&elsewhere, &e.memory.state(), 3);
  EXPECT_EQ(e.logged(), (Logged{{1, OH_EV_CARD_RATE, OH_MODEM_RATE_HZ},
                                {2, OH_EV_TX_UNDERRUN, 250},
                                {2, OH_EV_INTERRUPT, 200}}));  // two blocks, one interrupt handled
}

TEST(CardEngine, ASideThatComesLaterLogsNoInterruptOfBefore) {
  Engine e(oh_modem_streams(OH_MODEM_RATE_HZ), 100);
  oh_card_report later = e.report;
  e.report.log = nullptr;
  CountingLine line;
  oh_card_engine_start(&e.engine, 0);
  e.card.ops->tx_written(e.card.self, 400);
  e.run(line, 200);
  oh_card_log_changes(&later, &e.memory.state(), 1);
  e.run(line, 100);
  oh_card_log_changes(&later, &e.memory.state(), 2);
  EXPECT_EQ(e.logged(), (Logged{{1, OH_EV_CARD_RATE, OH_MODEM_RATE_HZ}, {2, OH_EV_INTERRUPT, 100}}));
}

TEST(CardEngine, ASingleSampleThatIsLostOrRepeatedIsLogged) {
  Engine e(oh_modem_streams(OH_MODEM_RATE_HZ), 256);
  CountingLine line;
  oh_card_engine_start(&e.engine, 0);
  e.card.ops->tx_written(e.card.self, 9);
  e.run(line, 10);
  e.card.ops->tx_written(e.card.self, 100);
  EXPECT_EQ(oh_card_engine_skip(&e.engine, 1, 20), 0);
  EXPECT_EQ(e.logged(),
            (Logged{{0, OH_EV_CARD_RATE, OH_MODEM_RATE_HZ}, {10, OH_EV_TX_UNDERRUN, 1}, {20, OH_EV_RX_OVERRUN, 1}}));
}

TEST(CardEngine, PlaysWhatStandsInTheSlotOfThePosition) {
  Engine e(oh_modem_streams(OH_MODEM_RATE_HZ), 200);
  auto* tx = static_cast<std::int16_t*>(e.card.tx_ring);
  std::iota(tx, tx + OH_MODEM_RING_SAMPLES, std::int16_t{0});
  CountingLine line;
  oh_card_engine_start(&e.engine, 0);
  for (int i = 0; i < 6; ++i) e.run(line, 100);
  ASSERT_EQ(line.heard.size(), 600u);
  for (std::size_t i = 0; i < 600; ++i) ASSERT_EQ(line.heard[i], static_cast<std::int16_t>(i % OH_MODEM_RING_SAMPLES));
  EXPECT_EQ(static_cast<const std::int16_t*>(e.card.rx_ring)[599 % OH_MODEM_RING_SAMPLES], 599);
}

TEST(CardEngine, MovesAsManySamplesAPeriodAsTheRatesHaveAndBeginsWithSilence) {
  Engine e(unequal(), 5);
  oh_card_engine_start(&e.engine, 0);
  std::int16_t next = 0;
  for (int turn = 0; turn < 10; ++turn) {  // 70 periods: the rings of 16 and 20 wrap at different positions
    std::int16_t captured[7 * 4];
    std::iota(std::begin(captured), std::end(captured), next);
    next = static_cast<std::int16_t>(next + 7 * 4);
    std::uint8_t played[7];
    oh_card_engine_copy(&e.engine, played, captured, 7, 0);
    for (const std::uint8_t octet : played) EXPECT_EQ(octet, 0xff);  // +0 in mu-law
  }
  EXPECT_EQ(oh_card_position(&e.memory.state()), 70u);
  EXPECT_EQ(e.counters().overrun_samples, 70u - 16);
  const auto* rx = static_cast<const std::int16_t*>(e.card.rx_ring);
  for (int sample = (70 - 16) * 4; sample < 70 * 4; ++sample) EXPECT_EQ(rx[sample % 64], sample);
}

TEST(CardEngine, WhatTheDeviceSkippedIsLostAndEndsItsBlocksWithOneInterrupt) {
  Engine e(oh_modem_streams(OH_MODEM_RATE_HZ), 100);
  CountingLine line;
  oh_card_engine_start(&e.engine, 0);
  e.run(line, 50);
  EXPECT_EQ(oh_card_engine_skip(&e.engine, 275, 7), 1);
  EXPECT_EQ(e.card.ops->rx_lost_before(e.card.self), 325u);
  EXPECT_EQ(e.card.ops->acknowledge(e.card.self), 300u);
  EXPECT_EQ(e.counters().interrupts, 1u);
  EXPECT_EQ(e.counters().overrun_samples, 275u);
}

TEST(CardEngine, WhatTheDeviceSkippedIsCountedToTheSampleAndLoggedOnce) {
  Engine e(oh_modem_streams(OH_MODEM_RATE_HZ), 100);
  CountingLine line;
  oh_card_engine_start(&e.engine, 0);
  e.card.ops->tx_written(e.card.self, 60);
  e.run(line, 50);
  e.logged();
  EXPECT_EQ(oh_card_engine_skip(&e.engine, 0, 1), 0);
  EXPECT_EQ(e.card.ops->rx_lost_before(e.card.self), 0u) << "nothing was skipped";
  EXPECT_EQ(oh_card_engine_skip(&e.engine, 49, 2), 0) << "up to 99: the block is not over";
  EXPECT_EQ(e.card.ops->rx_lost_before(e.card.self), 99u);
  EXPECT_EQ(e.counters().overrun_samples, 49u);
  EXPECT_EQ(e.counters().underrun_samples, 39u) << "60 were written";
  e.card.ops->tx_written(e.card.self, 102);
  EXPECT_EQ(oh_card_engine_skip(&e.engine, 1, 3), 1) << "to its end exactly";
  EXPECT_EQ(e.counters().underrun_samples, 39u);
  EXPECT_EQ(oh_card_engine_skip(&e.engine, 3, 4), 0);
  EXPECT_EQ(e.counters().overrun_samples, 53u);
  EXPECT_EQ(e.counters().underrun_samples, 40u);
  const Logged expected = {{2, OH_EV_RX_OVERRUN, 49}, {2, OH_EV_TX_UNDERRUN, 39}, {3, OH_EV_RX_OVERRUN, 1},
                           {3, OH_EV_INTERRUPT, 100}, {4, OH_EV_RX_OVERRUN, 3},   {4, OH_EV_TX_UNDERRUN, 1}};
  EXPECT_EQ(e.logged(), expected);
}

TEST(CardEngine, AfterASkipSamplesGoToTheSlotsOfTheirPositions) {
  Engine e(unequal(), 8);  // rings of 16 and 20 periods, four received samples per period
  oh_card_engine_start(&e.engine, 0);
  std::iota(static_cast<std::uint8_t*>(e.card.tx_ring), static_cast<std::uint8_t*>(e.card.tx_ring) + 20,
            std::uint8_t{0});
  EXPECT_EQ(oh_card_engine_skip(&e.engine, 27, 0), 1);
  EXPECT_EQ(e.card.ops->acknowledge(e.card.self), 24u) << "three blocks, one interrupt";
  std::int16_t captured[4] = {1, 2, 3, 4};
  std::uint8_t played = 0;
  oh_card_engine_copy(&e.engine, &played, captured, 1, 0);
  EXPECT_EQ(played, 7) << "27 mod 20";
  EXPECT_EQ(static_cast<const std::int16_t*>(e.card.rx_ring)[11 * 4 + 3], 4) << "27 mod 16";
}

TEST(CardMemory, HoldsHookAndRingAsTheyWereSetLast) {
  const CardMemory memory(oh_modem_streams(OH_MODEM_RATE_HZ));
  oh_card_state& state = memory.state();
  EXPECT_EQ(oh_card_off_hook(&state), 0);
  EXPECT_EQ(oh_card_ringing(&state), 0);
  for (const int value : {1, 0, -7, 0}) {
    oh_card_set_off_hook(&state, value);
    EXPECT_EQ(oh_card_off_hook(&state), value != 0 ? 1 : 0);
    EXPECT_EQ(oh_card_ringing(&state), 0) << "the other is as it was";
  }
  for (const int value : {1, 0, -7, 0}) {
    oh_card_set_ringing(&state, value);
    EXPECT_EQ(oh_card_ringing(&state), value != 0 ? 1 : 0);
    EXPECT_EQ(oh_card_off_hook(&state), 0);
  }
}

TEST(CardMemory, OfAnotherBuildOrCutShortIsRefused) {
  const CardMemory memory(oh_modem_streams(OH_MODEM_RATE_HZ));
  const oh_streams streams = memory.card().streams;
  oh_card card;
  oh_card_state& state = memory.state();
  EXPECT_EQ(oh_card_attach(&card, &state, oh_card_size(&streams)), 0);
  EXPECT_EQ(oh_card_attach(&card, &state, oh_card_size(&streams) - 1), -EINVAL);
  state.streams.rx.ring_samples *= 2;
  EXPECT_EQ(oh_card_attach(&card, &state, oh_card_size(&streams)), -EINVAL);
  state.streams = streams;
  ++state.version;
  EXPECT_EQ(oh_card_attach(&card, &state, oh_card_size(&streams)), -EINVAL);
  EXPECT_THROW(CardMemory(oh_streams{}), std::invalid_argument);
}

TEST(TimerCard, NoSampleIsLostOrInventedHoweverLateItsThreadRuns) {
  CountingLine line;
  TimerCard card(line.handle(), oh_modem_streams(OH_MODEM_RATE_HZ));
  card.card().ops->set_block(card.card().self, 100);
  card.start();
  ASSERT_EQ(card.wait(), LiveCard::Wait::kInterrupt);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));  // more than four blocks are due
  for (int i = 0; i < 5; ++i) ASSERT_EQ(card.wait(), LiveCard::Wait::kInterrupt);
  EXPECT_EQ(oh_card_position(&card.state()), 600u);
  EXPECT_EQ(line.heard.size(), 600u);
  card.stop();
  EXPECT_EQ(card.wait(), LiveCard::Wait::kStopped);
}

/// Needs the time of many samples of a fast card for each exchange.
struct SlowLine {
  static void exchange(void* self, const void*, void*, std::size_t n) {
    static_cast<SlowLine*>(self)->pieces.push_back(n);
    const std::int64_t began = monotonic_ns();
    while (monotonic_ns() < began + 20'000) {
    }
  }
  std::vector<std::size_t> pieces;
};

// A thread that moves each sample when it is due never sleeps if a sample is shorter than one round of its loop.
TEST(TimerCard, MovesWholeBurstsHoweverShortASampleIs) {
  constexpr std::uint32_t kRateHz = 4'000'000, kBurst = kRateHz / 1000, kBlock = 2 * kBurst + kBurst / 2;
  oh_streams streams = oh_modem_streams(kRateHz);
  for (oh_stream_format* s : {&streams.rx, &streams.tx}) {
    s->ring_samples = 4 * kBlock;
    s->block_min = s->block_max = kBlock;
  }
  SlowLine line;
  line.pieces.reserve(64);
  TimerCard card({SlowLine::exchange, &line}, streams);
  card.start();
  for (int block = 0; block < 4; ++block) ASSERT_EQ(card.wait(), LiveCard::Wait::kInterrupt);
  std::size_t left = kBlock;
  for (const std::size_t piece : line.pieces) {
    EXPECT_GE(piece, std::min<std::size_t>(kBurst, left));
    left = piece == left ? kBlock : left - piece;
  }
}

}  // namespace
}  // namespace offhook
