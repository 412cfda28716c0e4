// SPDX-License-Identifier: MIT
#include "offhook/driver.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>

#include "tests/unit/driver/driver_rig.h"

namespace offhook {
namespace {

using test::FakeCard;
using test::line_sample;
using test::ManualContext;
using test::Rig;

TEST(Driver, QueuesExactlyTheTransmitLeadAheadWhenNothingIsOwed) {
  Rig rig({105, 105, 90}, 204);
  EXPECT_EQ(rig.card.tx_written, 204u);
  for (int i = 0; i < 50; ++i) {
    rig.interrupt();
    EXPECT_EQ(rig.serve(), 1u);
    EXPECT_EQ(rig.card.tx_written - rig.card.position, 204u);
  }
  EXPECT_EQ(rig.card.underrun, 0u);
  EXPECT_EQ(rig.pump.wrong, 0u);
}

TEST(Driver, TheFirstLeadIsSilentWhateverTheRingHeldAndNoMoreOfTheRingIsTouched) {
  Rig rig({90}, 204);
  std::ranges::fill(rig.card.tx_ring, std::int16_t{77});
  oh_driver_config c = rig.config({90}, 204, OH_SERVICE_DRAIN_ALL);
  ASSERT_EQ(oh_driver_init(rig.driver.get(), &c), 0);
  EXPECT_EQ(std::ranges::count(rig.card.tx_ring, 0), 204);
  EXPECT_TRUE(std::all_of(rig.card.tx_ring, rig.card.tx_ring + 204, [](int x) { return x == 0; }));
}

TEST(Driver, EchoesEverySampleOneLeadLater) {
  Rig rig({105, 105, 90}, 300);
  for (int i = 0; i < 40; ++i) {
    rig.interrupt();
    rig.serve();
  }
  for (std::uint64_t p = 0; p < rig.card.played.size(); ++p) {
    ASSERT_EQ(rig.card.played[p], p < 300 ? 0 : line_sample(p - 300)) << "position " << p;
  }
}

/// Interrupts and services, some of which are too late, and one so late that received samples are lost.
oh_driver_counters some_of_it_late(Rig& rig) {
  for (int i = 0; i < 60; ++i) {
    rig.interrupt();
    if (i % 7 == 3) continue;  // the next service has two blocks
    if (i == 40) {
      EXPECT_TRUE(rig.card.advance(FakeCard::kRing + 30));
    }
    rig.serve();
  }
  return rig.driver->counters;
}

TEST(Driver, WithoutSamplesCountsTheSameAndTouchesNone) {
  Rig with({105, 105, 90}, 204), without({105, 105, 90}, 204);
  oh_driver_config c = without.config({105, 105, 90}, 204, OH_SERVICE_DRAIN_ALL);
  c.staging = nullptr;
  c.pump = {};
  ASSERT_EQ(oh_driver_init(without.driver.get(), &c), 0);
  std::ranges::fill(without.card.tx_ring, std::int16_t{77});
  const oh_driver_counters a = some_of_it_late(with), b = some_of_it_late(without);
  EXPECT_GT(a.samples_late, 0u);
  EXPECT_GT(a.samples_filled_in, 0u);
  EXPECT_EQ(b.samples_served, a.samples_served);
  EXPECT_EQ(b.samples_late, a.samples_late);
  EXPECT_EQ(b.samples_filled_in, a.samples_filled_in);
  EXPECT_EQ(b.blocks_served, a.blocks_served);
  EXPECT_EQ(b.blocks_late, a.blocks_late);
  EXPECT_EQ(b.pending_max, a.pending_max);
  EXPECT_EQ(without.events().size(), with.events().size());
  c.pump.process = with.pump.pump().process;
  EXPECT_EQ(oh_driver_init(without.driver.get(), &c), -EINVAL) << "a pump without memory for its samples";
}

TEST(Driver, ProgramsTheBlockPlanInTurn) {
  Rig rig({105, 104, 90}, 204);
  for (int i = 0; i < 8; ++i) rig.interrupt();
  EXPECT_EQ(rig.card.blocks, (std::vector<std::uint32_t>{105, 105, 104, 90, 105, 104, 90, 105}));
}

TEST(Driver, NewPlanBeginsWithTheNextBlock) {
  Rig rig({18}, 204);
  for (int i = 0; i < 3; ++i) rig.interrupt();
  const std::uint32_t plan[] = {105, 104, 90};
  ASSERT_EQ(oh_driver_set_block_plan(rig.driver.get(), plan, 3), 0);
  for (int i = 0; i < 6; ++i) rig.interrupt();
  EXPECT_EQ(rig.card.blocks, (std::vector<std::uint32_t>{18, 18, 18, 18, 105, 104, 90, 105, 104}));
}

TEST(Driver, RefusesAPlanLongerThanTheTransmitLeadAndKeepsTheOldOne) {
  Rig rig({90}, 100);
  const std::uint32_t long_block[] = {101};
  const std::uint32_t no_block[] = {0};
  EXPECT_EQ(oh_driver_set_block_plan(rig.driver.get(), long_block, 1), -EINVAL);
  EXPECT_EQ(oh_driver_set_block_plan(rig.driver.get(), no_block, 1), -EINVAL);
  EXPECT_EQ(oh_driver_set_block_plan(rig.driver.get(), no_block, 0), -EINVAL);
  for (int i = 0; i < 3; ++i) rig.interrupt();
  EXPECT_EQ(rig.card.blocks, (std::vector<std::uint32_t>{90, 90, 90}));
}

TEST(Driver, ReadsNoMoreOfAPlanThanItHas) {
  Rig rig({90}, 204);
  rig.interrupt();
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* memory =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(memory + page, page, PROT_NONE), 0);
  auto* plan = reinterpret_cast<std::uint32_t*>(memory + page) - 2;
  plan[0] = 100, plan[1] = 80;
  EXPECT_EQ(oh_driver_set_block_plan(rig.driver.get(), plan, 2), 0);
  munmap(memory, 2 * page);
  for (int i = 0; i < 5; ++i) rig.interrupt();
  EXPECT_EQ(rig.card.blocks, (std::vector<std::uint32_t>{90, 90, 100, 80, 100, 80}));
}

TEST(Driver, InitRefusesWhatCannotWork) {
  Rig rig({90}, 204);
  oh_driver driver;
  const auto init = [&](const std::function<void(oh_driver_config&)>& spoil) {
    oh_driver_config c = rig.config({105, 90}, 204, OH_SERVICE_DRAIN_ALL);
    spoil(c);
    return oh_driver_init(&driver, &c);
  };
  EXPECT_EQ(init([](auto&) {}), 0);
  EXPECT_EQ(init([](auto& c) { c.transmit_lead_samples = 104; }), -EINVAL);
  EXPECT_EQ(init([](auto& c) { c.transmit_lead_samples = FakeCard::kRing + 1; }), -EINVAL);
  EXPECT_EQ(init([](auto& c) { c.block_plan[1] = 0; }), -EINVAL);
  EXPECT_EQ(init([](auto& c) { c.block_plan_length = OH_BLOCK_PLAN_MAX + 1; }), -EINVAL);
  EXPECT_EQ(init([](auto& c) { c.block_plan_length = 0; }), -EINVAL);
  EXPECT_EQ(init([](auto& c) { c.pump.process = nullptr; }), -EINVAL);
  EXPECT_EQ(init([](auto& c) { c.pump.report_gap = nullptr; }), -EINVAL);
  EXPECT_EQ(init([](auto& c) { c.context.ops = nullptr; }), -EINVAL);
  static oh_context_ops incomplete = *ManualContext().context().ops;
  incomplete.stop = nullptr;
  EXPECT_EQ(init([](auto& c) { c.context.ops = &incomplete; }), -EINVAL);
  EXPECT_EQ(init([](auto& c) { c.now_ns = nullptr; }), -EINVAL);
  EXPECT_EQ(init([](auto& c) { c.now_ns = nullptr, c.log = nullptr; }), 0) << "without a log no clock is needed";
  EXPECT_EQ(init([](auto& c) { c.card.ops = nullptr; }), -EINVAL);
  EXPECT_EQ(init([](auto& c) { c.card.rx_ring = nullptr; }), -EINVAL);
  EXPECT_EQ(init([](auto& c) { c.card.tx_ring = nullptr; }), -EINVAL);
  EXPECT_EQ(init([](auto& c) { c.card.streams.rx.rate_hz = 0; }), -EINVAL);
  EXPECT_EQ(init([](auto& c) { c.staging = nullptr; }), -EINVAL);
  EXPECT_EQ(init([](auto& c) { c.transmit_lead_samples = 105; }), 0) << "the longest block";
  EXPECT_EQ(init([](auto& c) { c.transmit_lead_samples = FakeCard::kRing; }), 0);
  const auto block = [&](std::uint32_t samples) {
    return init([=](auto& c) { c.block_plan[0] = samples, c.transmit_lead_samples = FakeCard::kRing; });
  };
  const oh_streams streams = rig.card.card().streams;
  const std::uint32_t least = oh_streams_block_min(&streams), most = oh_streams_block_max(&streams);
  EXPECT_EQ(block(least), 0);
  EXPECT_EQ(block(least - 1), -EINVAL);
  EXPECT_EQ(block(most), 0);
  EXPECT_EQ(block(most + 1), -EINVAL);
}

TEST(Driver, OneBlockPolicyServesOneBlockACall) {
  Rig rig({90}, 300, OH_SERVICE_ONE_BLOCK);
  rig.interrupt();
  rig.interrupt();
  rig.interrupt();
  EXPECT_EQ(oh_driver_owed(rig.driver.get()), 3u);
  EXPECT_EQ(rig.serve(), 1u);
  EXPECT_EQ(oh_driver_owed(rig.driver.get()), 2u);
  EXPECT_EQ(oh_driver_pending(rig.driver.get()), 180u);
  EXPECT_EQ(rig.serve(), 1u);
  EXPECT_EQ(rig.serve(), 1u);
  EXPECT_EQ(rig.serve(), 0u);
}

TEST(Driver, DrainAllServesAllThatIsOwed) {
  Rig rig({90}, 300);
  for (int i = 0; i < 3; ++i) rig.interrupt();
  EXPECT_EQ(rig.serve(), 3u);
  EXPECT_EQ(oh_driver_pending(rig.driver.get()), 0u);
  EXPECT_EQ(rig.pump.calls, (std::vector<std::size_t>{90, 90, 90}));
}

TEST(Driver, BlocksThatComeDuringACallAreLeftToTheirOwnRequest) {
  Rig rig({90}, 300);
  rig.interrupt();
  rig.interrupt();
  std::uint32_t blocks = 0;
  do {
    ASSERT_EQ(oh_driver_service_begin(rig.driver.get()), 90u);
    rig.interrupt();  // service takes longer than a block, so without a bound it would never end
    oh_driver_service_output(rig.driver.get());
    ++blocks;
  } while (oh_driver_service_end(rig.driver.get()));
  EXPECT_EQ(blocks, 2u);
  EXPECT_EQ(oh_driver_owed(rig.driver.get()), 2u);
  EXPECT_EQ(rig.context.requests, 4u);
  EXPECT_EQ(rig.serve(), 2u);
}

TEST(Driver, LateOutputLeavesAHoleAndShiftsNothing) {
  Rig rig({100}, 200);
  rig.interrupt();
  rig.card.advance(60);
  EXPECT_EQ(rig.serve(), 1u);  // 40 samples of reserve: on time
  rig.card.advance(40);
  oh_driver_isr(rig.driver.get());
  rig.card.advance(100);  // the second block: its slot [300, 400) begins to play immediately
  oh_driver_isr(rig.driver.get());
  rig.card.advance(30);  // 330 played
  EXPECT_EQ(rig.serve(), 2u);
  EXPECT_EQ(rig.driver->counters.samples_late, 30u);
  EXPECT_EQ(rig.driver->counters.blocks_late, 1u);
  EXPECT_EQ(rig.card.underrun, 30u);
  rig.card.advance(70);
  oh_driver_isr(rig.driver.get());
  rig.serve();
  rig.card.advance(100);
  for (std::uint64_t p = 330; p < 500; ++p) ASSERT_EQ(rig.card.played[p], line_sample(p - 200)) << p;
  for (std::uint64_t p = 300; p < 330; ++p) ASSERT_NE(rig.card.played[p], line_sample(p - 200)) << p;
}

TEST(Driver, OneSampleTooLateMakesItsBlockLateAndNoOther) {
  Rig rig({100}, 200);
  rig.interrupt();
  rig.interrupt();
  rig.card.advance(1);  // 201 played, 200 written
  EXPECT_EQ(rig.serve(), 2u);
  EXPECT_EQ(rig.driver->counters.samples_late, 1u);
  EXPECT_EQ(rig.driver->counters.blocks_late, 1u);
}

// A card that knows of a loss reports it immediately: the ring was not overwritten, and the output of the lost samples
// is not due yet.
TEST(Driver, OutputOfLostSamplesIsSilentWhereItHasNotBeenPlayed) {
  for (const std::uint64_t delay : {0u, 230u}) {
    SCOPED_TRACE(delay);
    Rig rig({100}, 300);
    std::fill_n(rig.card.tx_ring, FakeCard::kRing, std::int16_t{7777});
    static oh_card_ops ops;
    ops = *rig.card.card().ops;
    ops.rx_lost_before = [](void*) { return std::uint64_t{60}; };
    rig.driver->config.card.ops = &ops;
    rig.interrupt();
    for (std::uint64_t i = 0; i < delay; i += 10) rig.card.advance(10);
    EXPECT_EQ(rig.serve(), 1u);
    EXPECT_EQ(rig.pump.filled_in, 60u);
    EXPECT_EQ(rig.pump.calls, (std::vector<std::size_t>{40}));
    EXPECT_EQ(rig.pump.wrong, 0u);
    const std::uint64_t played = 100 + delay;
    for (std::uint64_t p = 290; p < 410; ++p) {
      const std::int16_t expected = p < 300 || p >= 400 || (p < 360 && p < played) ? std::int16_t{7777}
                                    : p < 360                                      ? std::int16_t{0}
                                                                                   : line_sample(p - 300);
      EXPECT_EQ(rig.card.tx_ring[p], expected) << p;
    }
  }
}

// For a card that has played less than it has captured: no slot is silenced that will be played earlier.
TEST(Driver, OutputOfLostSamplesIsSilentForOneRingAtTheMost) {
  Rig rig({100}, 300);
  std::fill_n(rig.card.tx_ring, FakeCard::kRing, std::int16_t{7777});
  static oh_card_ops ops;
  ops = *rig.card.card().ops;
  ops.tx_position = [](void*) { return std::uint64_t{0}; };
  ops.rx_lost_before = [](void*) { return std::uint64_t{250}; };
  rig.driver->config.card.ops = &ops;
  for (int i = 0; i < 3; ++i) rig.card.advance(rig.card.to_boundary());
  oh_driver_isr(rig.driver.get());
  EXPECT_EQ(rig.serve(), 1u);
  EXPECT_EQ(rig.pump.filled_in, 250u);
  for (std::uint32_t slot = 300; slot < FakeCard::kRing; ++slot) ASSERT_EQ(rig.card.tx_ring[slot], 0) << slot;
  for (std::uint32_t slot = 0; slot < 300 + 250 - FakeCard::kRing; ++slot)
    ASSERT_EQ(rig.card.tx_ring[slot], 7777) << slot;
}

TEST(Driver, ReportsOverwrittenSamplesToThePumpExactly) {
  Rig rig({128}, 256);
  for (int i = 0; i < 5; ++i) rig.interrupt();  // 640 captured: the first 128 are lost
  rig.card.advance(40);                         // plus 40 of the second block
  EXPECT_EQ(rig.serve(), 4u);
  EXPECT_EQ(rig.pump.filled_in, 168u);
  EXPECT_EQ(rig.card.overrun, 168u);
  EXPECT_EQ(rig.driver->counters.samples_filled_in, 168u);
  EXPECT_EQ(rig.pump.clock, 640u);
  EXPECT_EQ(rig.pump.wrong, 0u);
  EXPECT_EQ(rig.card.tx_written, 640u + 256u);
}

TEST(Driver, FillsInWhenEverythingOwedIsGone) {
  Rig rig({100}, 200);
  rig.interrupt();
  while (rig.card.position < 2000) rig.card.advance(rig.card.to_boundary());  // interrupts lost by the host
  EXPECT_EQ(rig.serve(), 0u);
  EXPECT_EQ(rig.pump.filled_in, 100u);
  const std::vector<oh_event> events = rig.events();
  const auto logged = std::ranges::find(events, OH_EV_FILL_IN, &oh_event::kind);
  ASSERT_NE(logged, events.end());
  EXPECT_EQ(logged->argument, 100u);
  oh_driver_isr(rig.driver.get());  // one coalesced interrupt for [100, 2000)
  EXPECT_EQ(rig.serve(), 1u);
  EXPECT_EQ(rig.pump.clock, 2000u);
  EXPECT_EQ(rig.pump.filled_in, 2000u - 512u);
  EXPECT_EQ(rig.pump.wrong, 0u);
}

TEST(Driver, SplitsACoalescedBlockIntoChunksThatFit) {
  Rig rig({105}, 500, OH_SERVICE_ONE_BLOCK);
  for (int i = 0; i < 4; ++i) rig.card.advance(rig.card.to_boundary());
  oh_driver_isr(rig.driver.get());
  EXPECT_EQ(oh_driver_owed(rig.driver.get()), 1u);
  EXPECT_EQ(rig.serve(), 1u);
  EXPECT_EQ(rig.pump.calls, (std::vector<std::size_t>{256, 164}));
  EXPECT_EQ(rig.pump.wrong, 0u);
  EXPECT_EQ(rig.driver->counters.blocks_served, 1u);
  EXPECT_EQ(rig.driver->counters.samples_served, 420u);
}

TEST(Driver, SpuriousInterruptOwesNothing) {
  Rig rig({105}, 204);
  rig.interrupt();
  oh_driver_isr(rig.driver.get());
  EXPECT_EQ(rig.driver->counters.interrupts, 2u);
  EXPECT_EQ(oh_driver_owed(rig.driver.get()), 1u);
}

TEST(Driver, FullOwedQueueLosesNoSamplesFromTheCount) {
  Rig rig({1}, 204);
  for (int i = 0; i < OH_OWED_MAX + 100; ++i) rig.interrupt();
  EXPECT_EQ(oh_driver_owed(rig.driver.get()), static_cast<std::uint32_t>(OH_OWED_MAX));
  rig.serve();
  rig.interrupt();
  rig.serve();
  EXPECT_EQ(rig.pump.clock, rig.card.position);
  EXPECT_EQ(rig.pump.filled_in, rig.card.overrun);
  EXPECT_EQ(rig.pump.wrong, 0u);
}

TEST(Driver, LogsTheStoryOfABlock) {
  Rig rig({100}, 200);
  rig.interrupt();
  rig.card.advance(20);
  rig.serve();
  std::vector<oh_event> want = {
      {100, OH_EV_ISR_ENTER, 0, 7, 1},       {100, OH_EV_SERVICE_REQUEST, 0, 7, 1},
      {100, OH_EV_ISR_EXIT, 0, 7, 0},        {120, OH_EV_SERVICE_RUN_BEGIN, 0, 7, 0},
      {120, OH_EV_SERVICE_BEGIN, 0, 7, 100}, {120, OH_EV_OUTPUT_READY, 0, 7, 0},
      {120, OH_EV_SERVICE_END, 0, 7, 20},    {120, OH_EV_SERVICE_RUN_END, 0, 7, 1},
  };
  const std::vector<oh_event> got = rig.events();
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].time_ns, want[i].time_ns) << i;
    EXPECT_EQ(got[i].kind, want[i].kind) << i;
    EXPECT_EQ(got[i].id, want[i].id) << i;
    EXPECT_EQ(got[i].argument, want[i].argument) << i;
  }
}

}  // namespace
}  // namespace offhook
