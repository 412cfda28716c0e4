// SPDX-License-Identifier: MIT
#include "offhook/driver.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <random>

#include "tests/unit/driver/fake_card.h"

namespace offhook {
namespace {

using test::EchoPump;
using test::FakeCard;
using test::line_sample;
using test::ManualContext;

/// A driver between a fake card and an echo pump, with a log whose clock is the card's position.
struct Rig {
  FakeCard card;
  EchoPump pump;
  ManualContext context;
  std::vector<oh_event> slots = std::vector<oh_event>(1 << 14);
  oh_event_log log{};
  std::unique_ptr<oh_driver> driver = std::make_unique<oh_driver>();

  oh_driver_config config(std::initializer_list<std::uint32_t> plan, std::uint32_t lead, oh_service_policy policy) {
    oh_driver_config c{};
    c.card = card.card();
    c.staging = card.staging_memory();
    c.pump = pump.pump();
    c.context = context.context();
    c.now_ns = [](void* clock) { return static_cast<FakeCard*>(clock)->position; };
    c.clock = &card;
    c.log = &log;
    c.id = 7;
    c.policy = policy;
    c.transmit_lead_samples = lead;
    std::copy(plan.begin(), plan.end(), c.block_plan);
    c.block_plan_length = static_cast<std::uint32_t>(plan.size());
    return c;
  }

  Rig(std::initializer_list<std::uint32_t> plan, std::uint32_t lead, oh_service_policy policy = OH_SERVICE_DRAIN_ALL) {
    oh_event_log_init(&log, slots.data(), slots.size(), 0);
    const oh_driver_config c = config(plan, lead, policy);
    EXPECT_EQ(oh_driver_init(driver.get(), &c), 0);
  }

  /// To the end of the block under way, and its interrupt.
  void interrupt() {
    ASSERT_TRUE(card.advance(card.to_boundary()));
    oh_driver_isr(driver.get());
  }
  std::uint32_t serve() { return oh_driver_service(driver.get()); }

  std::vector<oh_event> events() {
    std::vector<oh_event> out(slots.size());
    out.resize(oh_event_log_read(&log, out.data(), out.size()));
    return out;
  }
};

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
  EXPECT_EQ(init([](auto& c) { c.pump.fill_in = nullptr; }), -EINVAL);
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
    rig.interrupt();  // service takes longer than a block: without a bound it would never end
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
  EXPECT_EQ(rig.serve(), 1u);  // 40 samples in hand: in time
  rig.card.advance(40);
  oh_driver_isr(rig.driver.get());
  rig.card.advance(100);  // the second block: its slot [300, 400) begins to play at once
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

// A card that knows of a loss says so at once: the ring has not been overwritten, and the output of what was lost is
// still to come.
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

// Of a card that says it has played less than it has captured: no slot is silenced that will be played sooner.
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
  for (int i = 0; i < 5; ++i) rig.interrupt();  // 640 captured: the first 128 are gone
  rig.card.advance(40);                         // and 40 of the second block
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
      {100, OH_EV_ISR_ENTER, 0, 7, 1},    {100, OH_EV_SERVICE_REQUEST, 0, 7, 1}, {100, OH_EV_ISR_EXIT, 0, 7, 0},
      {120, OH_EV_CALL_BEGIN, 0, 7, 0},   {120, OH_EV_SERVICE_BEGIN, 0, 7, 100}, {120, OH_EV_OUTPUT_READY, 0, 7, 0},
      {120, OH_EV_SERVICE_END, 0, 7, 20}, {120, OH_EV_CALL_END, 0, 7, 1},
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

/// The rings against unbounded queues: everything the line sent, everything the driver ever queued, by position.
/// Random block plans, leads, policies, lost interrupts and delays of service and of its output.
TEST(DriverProperty, RingsAgreeWithUnboundedQueuesOverRandomDelays) {
  std::uint64_t blocks = 0;
  std::uint64_t holes = 0;
  std::uint64_t losses = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto draw = [&](std::uint32_t low, std::uint32_t high) {
      return low + static_cast<std::uint32_t>(random() % (high - low + 1));
    };

    Rig rig({draw(1, 128), draw(1, 128), draw(1, 128)}, draw(128, 512),
            random() % 2 ? OH_SERVICE_DRAIN_ALL : OH_SERVICE_ONE_BLOCK);
    rig.card.played.reserve(200'000);
    oh_driver& driver = *rig.driver;
    const std::uint32_t lead = driver.config.transmit_lead_samples;
    const std::uint32_t slowness = draw(0, 3);
    const std::uint32_t lost_interrupts = draw(0, 3) == 0 ? 5 : 0;  // of 100

    // Model: which position was queued in time with what, kept for ever. Everything else plays the slot's old value.
    std::vector<std::int32_t> queued(lead, 0);
    constexpr std::int32_t kNothing = 1 << 20;
    const auto run = [&](std::uint64_t n) {
      while (n > 0) {
        const std::uint64_t step = std::min(n, rig.card.to_boundary());
        n -= step;
        if (rig.card.advance(step) && random() % 100 >= lost_interrupts) oh_driver_isr(&driver);
      }
    };

    for (int call = 0; call < 700; ++call) {
      run(draw(0, 90) * (random() % 20 == 0 ? slowness * 4 : 1));
      if (random() % 40 == 0) {
        const std::uint32_t plan[] = {draw(1, 128), draw(1, 128)};
        ASSERT_EQ(oh_driver_set_block_plan(&driver, plan, draw(1, 2)), 0);
      }
      for (;;) {
        const std::uint64_t first = rig.pump.clock;
        const std::uint64_t lost_before = rig.pump.filled_in;
        const std::uint32_t n = oh_driver_service_begin(&driver);
        const std::uint64_t lost = rig.pump.filled_in - lost_before;
        ASSERT_EQ(rig.pump.clock, first + lost + n);
        // What is gone but not yet owed (its interrupt was lost) is filled in with the next interrupt.
        const std::uint64_t oldest = rig.card.position > FakeCard::kRing ? rig.card.position - FakeCard::kRing : 0;
        ASSERT_EQ(rig.card.overrun, rig.pump.filled_in + (oldest > rig.pump.clock ? oldest - rig.pump.clock : 0));
        if (n == 0) break;
        run(draw(0, slowness * 60));
        const std::uint64_t played = rig.card.position;
        oh_driver_service_output(&driver);
        queued.resize(first + lost + n + lead, kNothing);
        for (std::uint64_t p = first + lost; p < first + lost + n; ++p) {
          if (p + lead >= played) queued[p + lead] = line_sample(p);
        }
        ASSERT_EQ(rig.card.tx_written, driver.rx_read + lead);
        if (oh_driver_service_end(&driver) == 0) break;
      }
      ASSERT_EQ(oh_driver_pending(&driver), rig.card.position - rig.pump.clock);
    }

    EXPECT_EQ(rig.pump.wrong, 0u);
    EXPECT_EQ(driver.counters.samples_served + driver.counters.samples_filled_in, rig.pump.clock);
    std::uint64_t never_written = 0;
    for (std::uint64_t p = 0; p < rig.card.position; ++p) {
      const bool in_time = p < queued.size() && queued[p] != kNothing;
      const std::int16_t before = p < FakeCard::kRing ? std::int16_t{0} : rig.card.played[p - FakeCard::kRing];
      ASSERT_EQ(rig.card.played[p], in_time ? queued[p] : before) << "position " << p;
      never_written += !in_time;
    }
    EXPECT_EQ(rig.card.underrun, never_written);
    EXPECT_LE(driver.counters.samples_late, never_written);
    blocks += rig.card.blocks.size();
    holes += never_written;
    losses += rig.card.overrun;
  }
  // The property is worth something only if the rare paths were walked.
  EXPECT_GE(blocks, 200'000u);
  EXPECT_GE(holes, 1000u);
  EXPECT_GE(losses, 1000u);
  RecordProperty("blocks", std::to_string(blocks));
  RecordProperty("holes", std::to_string(holes));
  RecordProperty("losses", std::to_string(losses));
}

/// The interrupt comes in the middle of service: every card and pump call is a point where it may strike.
TEST(DriverProperty, AnInterruptAtAnyPointOfServiceLosesNoBlock) {
  struct Striker {
    Rig* rig;
    std::mt19937 random;
    bool armed = false;
    bool in_isr = false;
    std::uint64_t strikes = 0;
    void point() {
      if (!armed || in_isr || random() % 4 != 0) return;
      in_isr = true;
      ++strikes;
      rig->interrupt();
      in_isr = false;
    }
  };
  static Striker* striker;
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    Rig rig({20, 30}, 300, seed % 2 ? OH_SERVICE_DRAIN_ALL : OH_SERVICE_ONE_BLOCK);
    Striker s{&rig, std::mt19937(seed)};
    striker = &s;
    static const oh_card_ops* plain;
    plain = rig.card.card().ops;
    static const oh_card_ops ops = {
        [](void* self) { return plain->acknowledge(self); },
        [](void* self) {
          striker->point();
          auto p = plain->rx_position(self);
          striker->point();
          return p;
        },
        [](void* self) {
          striker->point();
          auto p = plain->tx_position(self);
          return p;
        },
        [](void* self, std::uint32_t n) { return plain->set_block(self, n); },
        [](void* self, std::uint64_t p) {
          striker->point();
          plain->tx_written(self, p);
          striker->point();
        },
        [](void* self, std::uint64_t p) {
          striker->point();
          plain->rx_read(self, p);
          striker->point();
        },
        [](void*) { return std::uint64_t{0}; },
    };
    rig.driver->config.card.ops = &ops;
    rig.driver->config.pump.process = [](void* self, const void* rx, void* tx, std::size_t n) {
      striker->point();
      static_cast<EchoPump*>(self)->pump().process(self, rx, tx, n);
      striker->point();
    };
    for (int i = 0; i < 200; ++i) {
      rig.interrupt();
      s.armed = i % 8 < 2;  // bursts, and time to catch up
      rig.serve();
      s.armed = false;
      while (oh_driver_owed(rig.driver.get()) > 0) rig.serve();
      ASSERT_EQ(rig.pump.clock, rig.card.latest_end) << "seed " << seed << " call " << i;
    }
    EXPECT_GT(s.strikes, 50u);
    EXPECT_EQ(rig.pump.wrong, 0u);
    EXPECT_EQ(rig.pump.filled_in, rig.driver->counters.samples_filled_in);
    EXPECT_EQ(rig.driver->counters.interrupts, rig.card.blocks.size());
  }
}

}  // namespace
}  // namespace offhook
