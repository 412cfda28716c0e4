// SPDX-License-Identifier: MIT
#include "hostsim/host/context.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "driver/core/line_end.h"
#include "hostsim/host/card_event.h"
#include "hostsim/host/load.h"

namespace offhook::hostsim {
namespace {

class Silence final : public LineEnd {
  void exchange(const std::int16_t*, std::int16_t* captured, std::size_t n) override {
    for (std::size_t i = 0; i < n; i++) captured[i] = 0;
  }
};

struct FixedCost final : ServiceCost {
  Ns isr() override { return 5'000; }
  Ns service(std::uint32_t) override { return 1'000'000; }
  double phi() override { return 0.25; }
};

/// A card with blocks of 100 samples (12.5 ms), a driver and one context, run for 100 ms.
class OneContext : public testing::Test {
 protected:
  void run(const char* text, Program* above = nullptr) {
    oh_event_log_init(&log, ring.data(), ring.size(), 0);
    card.emplace(CardConfig{.block = 100}, line.handle());
    card_event.emplace(engine, *card);
    ContextParts parts{cpu, driver, cost, 5};
    parts.spec = ContextSpec::parse(text);
    parts.policy = policy;
    parts.dispatch = 3'000;
    context = make_context(parts);
    if (above != nullptr) cpu.release(cpu.add_thread("above", FixedPriority{20, 0}, *above));
    oh_driver_config config{};
    config.card = card->card();
    staging.resize(oh_driver_staging_size(&config.card) / sizeof staging[0]);
    config.staging = staging.data();
    config.pump = {[](void*, const void*, void*, std::size_t) {}, [](void*, std::size_t) {}, nullptr};
    config.context = context->driver_context();
    config.now_ns = [](void* e) { return static_cast<std::uint64_t>(static_cast<Engine*>(e)->now()); };
    config.clock = &engine;
    config.log = &log;
    config.policy = OH_SERVICE_DRAIN_ALL;
    config.transmit_lead_samples = 200;
    config.block_plan[0] = 100;
    config.block_plan_length = 1;
    ASSERT_EQ(oh_driver_init(&driver, &config), 0);
    ASSERT_EQ(config.context.ops->start(config.context.self), 0);
    card->on_interrupt([this](Ns) { context->interrupt(card->next_interrupt()); });
    card_event->start();
    engine.run_until(100'000'000);
    std::vector<oh_event> events(ring.size());
    events.resize(oh_event_log_read(&log, events.data(), events.size()));
    for (const oh_event& e : events) at[e.kind].push_back(static_cast<Ns>(e.time_ns));
  }

  static Policy policy(const ContextSpec& spec) {
    if (spec.kind == OH_CONTEXT_RESERVATION)
      return Slot{.offset = 0, .length = spec.budget_ns, .period = spec.period_ns};
    return FixedPriority{spec.priority, 0};
  }

  Engine engine;
  Cpu cpu{engine};
  Silence line;
  FixedCost cost;
  oh_driver driver{};
  std::vector<oh_event> ring = std::vector<oh_event>(4096);
  oh_event_log log{};
  std::optional<SimulatedCard> card;
  std::vector<std::uint64_t> staging;
  std::optional<CardEvent> card_event;
  std::unique_ptr<Context> context;
  std::map<int, std::vector<Ns>> at;  // times of events by kind
};

constexpr Ns kFirst = 12'500'000;  // of the first interrupt

TEST_F(OneContext, InterruptServesWithinTheInterruptRoutine) {
  run("INT");
  EXPECT_EQ(at[OH_EV_SERVICE_BEGIN].at(0), kFirst + 5'000);
  EXPECT_EQ(at[OH_EV_OUTPUT_READY].at(0), kFirst + 255'000);
  EXPECT_EQ(at[OH_EV_SERVICE_END].at(0), kFirst + 1'005'000);
  EXPECT_EQ(context->server(), context->interrupt_entity());
  EXPECT_EQ(driver.counters.blocks_served, 7u);
}

TEST_F(OneContext, DpcServesAfterTheInterruptRoutine) {
  run("DPC");
  EXPECT_EQ(at[OH_EV_SERVICE_BEGIN].at(0), kFirst + 5'000);
  EXPECT_EQ(at[OH_EV_SERVICE_END].at(0), kFirst + 1'005'000);
  EXPECT_NE(context->server(), context->interrupt_entity());
  EXPECT_EQ(cpu.cpu_time(context->interrupt_entity()), 7 * 5'000);
  EXPECT_EQ(cpu.cpu_time(context->server()), 7 * 1'000'000);
}

TEST_F(OneContext, ThreadServesAfterTheDpcThatSignalsIt) {
  run("THR 24");
  EXPECT_EQ(at[OH_EV_SERVICE_BEGIN].at(0), kFirst + 8'000);
  EXPECT_EQ(at[OH_EV_SERVICE_END].at(0), kFirst + 1'008'000);
}

TEST_F(OneContext, ThreadBelowASpinnerIsNeverServed) {
  Spinner spinner;
  run("THR 8", &spinner);
  EXPECT_EQ(at[OH_EV_SERVICE_BEGIN].size(), 0u);
  EXPECT_EQ(oh_driver_owed(&driver), 7u);
}

TEST_F(OneContext, StrictReservationServesInItsSlotsOnly) {
  Spinner spinner;
  run("RES 1ms/5ms strict", &spinner);
  // Slots of 1 ms at 0, 5, 10, 15 ms: a quarter of the first block is done at 15.25 ms, all when the slot ends.
  EXPECT_EQ(at[OH_EV_SERVICE_BEGIN].at(0), 15'000'000);
  EXPECT_EQ(at[OH_EV_OUTPUT_READY].at(0), 15'250'000);
  EXPECT_EQ(at[OH_EV_SERVICE_END].at(0), 16'000'000);
  for (Ns t : at[OH_EV_SERVICE_END]) EXPECT_LE(t % 5'000'000, 1'000'000);
}

TEST(TimerCallback, ExpiresWithTheClockInterruptAndIsLateByOneIn2Point4Percent) {
  Engine engine;
  Cpu cpu(engine);
  std::vector<oh_event> ring(1 << 15);
  oh_event_log log{};
  oh_event_log_init(&log, ring.data(), ring.size(), 0);
  ClockInterrupt clock(engine, cpu, 1024, 28, 2'000);
  TimerCallback timer(cpu, &log, 1'000'000, 10'000, 5'000);
  clock.set_listener(&timer);
  clock.start();
  engine.run_until(10'000'000'000);
  std::vector<oh_event> events(ring.size());
  events.resize(oh_event_log_read(&log, events.data(), events.size()));
  int late = 0;
  for (const oh_event& e : events) {
    // One clock interrupt or two: 1e9/1024 ns, within the nanosecond of the tick grid.
    const bool two = e.argument > 1'500'000;
    EXPECT_NEAR(e.argument, two ? 1'953'125 : 976'562.5, 1);
    late += two;
  }
  EXPECT_NEAR(static_cast<double>(events.size()), 10'000, 2);
  EXPECT_NEAR(late, 240, 1);
}

}  // namespace
}  // namespace offhook::hostsim
