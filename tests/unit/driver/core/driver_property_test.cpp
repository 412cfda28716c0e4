// SPDX-License-Identifier: MIT
//
// The driver over random delays, and with the interrupt at every point of service.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "offhook/driver.h"
#include "tests/unit/driver/driver_rig.h"

namespace offhook {
namespace {

using test::EchoPump;
using test::FakeCard;
using test::line_sample;
using test::Rig;

/// Compares the rings with unbounded queues: everything that the line sent and that the driver ever queued, by
/// position. Random block plans, leads, policies, lost interrupts and delays of service and of its output.
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

    // The model keeps all samples queued on time, by position. Every other position plays the slot's old value.
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
        // Lost samples that are not owed yet (their interrupt was lost) are concealed at the next interrupt.
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
  // The property is meaningful only if the rare paths were taken.
  EXPECT_GE(blocks, 200'000u);
  EXPECT_GE(holes, 1000u);
  EXPECT_GE(losses, 1000u);
  RecordProperty("blocks", std::to_string(blocks));
  RecordProperty("holes", std::to_string(holes));
  RecordProperty("losses", std::to_string(losses));
}

/// The interrupt comes during service: every call of card and pump is a point where it may occur.
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
      s.armed = i % 8 < 2;  // bursts, with time to catch up
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
