// SPDX-License-Identifier: MIT
#include "hostsim/host/card_event.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "driver/core/line_end.h"

namespace offhook::hostsim {
namespace {

struct Silence : LineEnd {
  void exchange(const std::int16_t*, std::int16_t* captured, std::size_t n) override {
    std::fill_n(captured, n, std::int16_t{0});
  }
};

TEST(CardEvent, GivesTheEngineEveryBlockThroughTheCallsPhases) {
  Engine engine;
  Silence line;
  SimulatedCard card({.streams = oh_modem_streams(7200), .block = 18}, line.handle());
  CardEvent event(engine, card);
  std::vector<Ns> interrupts;
  card.on_interrupt([&](Ns now) {
    EXPECT_EQ(now, engine.now());
    interrupts.push_back(now);
  });
  constexpr Ns kSecond = 1'000'000'000;
  event.start();
  engine.run_until(2 * kSecond);  // on hook: 18 samples, 2.5 ms
  EXPECT_EQ(interrupts.size(), 799u);
  const oh_card ports = card.card();
  EXPECT_EQ(ports.ops->set_block(ports.self, 90), 0);
  engine.run_until(11 * kSecond);  // dialling: 90 samples, 12.5 ms, from the block after the next block ends
  // The block that ends at 2 s is the 800th; the current one has already been latched as 90 samples.
  EXPECT_EQ(interrupts.size(), 800u + 719u);
  EXPECT_EQ(interrupts.back(), 11 * kSecond - 12'500'000);
  const std::uint64_t before = card.position();
  event.set_rate(8000);
  engine.run_until(12 * kSecond);
  EXPECT_EQ(ports.ops->rx_position(ports.self), before + 90 + 8000);
}

TEST(CardEvent, ARateSetBeforeTheStartIsThatOfTheStart) {
  Engine engine;
  Silence line;
  SimulatedCard card({.block = 90}, line.handle());
  CardEvent event(engine, card);
  event.set_rate(7200);
  engine.run_until(1'000'000'000);
  EXPECT_EQ(card.counters().interrupts, 0u);
  EXPECT_EQ(engine.events_handled(), 0u);
  event.start();
  engine.run_until(2'000'000'001);
  EXPECT_EQ(card.counters().interrupts, 80u);
}

TEST(CardEvent, AChangeOfRateMovesThePendingInterruptEitherWay) {
  for (const std::uint32_t rate : {4000u, 16'000u}) {
    Engine engine;
    Silence line;
    SimulatedCard card({.block = 160}, line.handle());  // 20 ms
    CardEvent event(engine, card);
    std::vector<Ns> interrupts;
    card.on_interrupt([&](Ns now) { interrupts.push_back(now); });
    event.start();
    engine.run_until(10'000'000);
    event.set_rate(rate);
    engine.run_until(200'000'000);
    ASSERT_FALSE(interrupts.empty());
    const Ns period = 160 * 1'000'000'000LL / rate;
    for (std::size_t i = 0; i < interrupts.size(); ++i) {
      EXPECT_EQ(interrupts[i], 10'000'000 + period / 2 + static_cast<Ns>(i) * period);
    }
    EXPECT_EQ(interrupts.size(), card.counters().interrupts);
  }
}

}  // namespace
}  // namespace offhook::hostsim
