// SPDX-License-Identifier: MIT
//
// A card's interrupt and what it releases, run without instants of their own (Cpu::run_unbroken): the log, what an
// observer saw and CPU times are those of the same host beside a second processor, which goes through every instant.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "driver/core/line_end.h"
#include "hostsim/engine/processor.h"
#include "hostsim/engine/random.h"
#include "hostsim/host/card_event.h"
#include "hostsim/host/context.h"
#include "hostsim/host/device_load.h"
#include "hostsim/host/load.h"

namespace offhook::hostsim {
namespace {

constexpr Ns kUs = 1000, kMs = 1'000'000, kSecond = 1'000'000'000;

class Silence final : public LineEnd {
  void exchange(const std::int16_t*, std::int16_t*, std::size_t) override {}
};

class IdleProcessor final : public Processor {
  void settle(Ns) override {}
  void dispatch(Ns) override {}
};

struct Seen final : CpuObserver {
  void on_event(Ns time, EntityId id, Kind kind) override { all.emplace_back(time, id, kind); }
  std::vector<std::tuple<Ns, EntityId, Kind>> all;
};

class DrawnCost final : public ServiceCost {
 public:
  DrawnCost(const Random& random, Ns isr, Ns service) : isr_(random, 0, 2, isr, 0.9), service_(service) {}
  Ns isr() override { return isr_.take(); }
  Ns next_isr() override { return isr_.ahead(); }
  Ns service(std::uint32_t) override { return service_; }
  double phi() override { return 0.4; }

 private:
  DrawnCosts isr_;
  Ns service_;
};

struct Outcome {
  std::vector<std::tuple<std::uint64_t, int, int, std::uint32_t>> log;
  std::vector<std::tuple<Ns, EntityId, CpuObserver::Kind>> seen;
  std::vector<Ns> times;
  std::uint64_t engine_events = 0;
  bool operator==(const Outcome& o) const { return log == o.log && seen == o.seen && times == o.times; }
};

/// A card, its driver in this context, a clock, a disk and threads above and below it, chosen by the seed.
Outcome run(const std::string& text, std::uint64_t seed, bool every_instant, bool observed) {
  const Random random(seed, 1);
  std::uint64_t draws = 0;
  const auto number = [&](int below) {
    return static_cast<int>(random.word(draws++) % static_cast<std::uint64_t>(below));
  };
  IdleProcessor idle;
  Engine engine;
  Cpu cpu(engine);
  if (every_instant) engine.attach(idle);
  std::vector<oh_event> ring(1 << 15), events(ring.size());
  oh_event_log log{};
  oh_event_log_init(&log, ring.data(), ring.size(), 0);
  Seen seen;
  cpu.set_log(&log);
  if (observed) cpu.set_observer(&seen);

  Silence line;
  const std::uint32_t block = 1 + static_cast<std::uint32_t>(number(number(2) == 0 ? 4 : 100));
  SimulatedCard card({.block = block}, line.handle());
  CardEvent card_event(engine, card);
  oh_driver driver{};
  DrawnCost cost(Random(seed, 2), (1 + number(60)) * kUs, (1 + number(150)) * block * kUs);
  ContextParts parts{cpu, driver, cost, 1 + number(30)};
  parts.spec = ContextSpec::parse(text);
  parts.policy = [](const ContextSpec& spec) -> Policy {
    if (spec.kind == OH_CONTEXT_RESERVATION)
      return Slot{.offset = 0, .length = spec.budget_ns, .period = spec.period_ns, .strict = spec.strict};
    return FixedPriority{spec.priority, 20 * kMs};
  };
  parts.dispatch = number(4) * 3 * kUs;
  parts.dpc_importance = static_cast<DpcImportance>(number(3));
  const auto context = make_context(parts);

  Spinner spinner;
  if (number(2) == 0) cpu.release(cpu.add_thread("spinner", FixedPriority{1 + number(28), 20 * kMs}, spinner));
  PeriodicThread thread(engine, cpu, (1 + number(20)) * kMs, (1 + number(900)) * kUs);
  thread.start(cpu.add_thread("thread", FixedPriority{1 + number(28), 0}, thread));
  ClockInterrupt clock(engine, cpu, 1024, 28, (1 + number(20)) * kUs);
  clock.start();
  const LoadDevice disk{.name = "disk", .every_ns = 800 * kUs, .jitter = 0.4, .isr_ns = 20 * kUs, .dpc_ns = 60 * kUs};
  const auto load = make_device_load(engine, cpu, disk, seed, 3);
  load->start();

  oh_driver_config config{};
  config.card = card.card();
  std::vector<std::uint64_t> staging(oh_driver_staging_size(&config.card) / sizeof(std::uint64_t));
  config.staging = staging.data();
  config.pump = {[](void*, const void*, void*, std::size_t) {}, [](void*, std::size_t) {}, nullptr};
  config.context = context->driver_context();
  config.now_ns = [](void* e) { return static_cast<std::uint64_t>(static_cast<Engine*>(e)->now()); };
  config.clock = &engine;
  config.log = &log;
  config.transmit_lead_samples = 200;
  config.block_plan[0] = block;
  config.block_plan_length = 1;
  EXPECT_EQ(oh_driver_init(&driver, &config), 0);
  EXPECT_EQ(config.context.ops->start(config.context.self), 0);
  card.on_interrupt([&](Ns) { context->interrupt(card.next_interrupt()); });
  card_event.start();

  Outcome out;
  for (Ns horizon = 0; horizon < kSecond / 4;) {  // slices that end at any time
    engine.run_until(horizon += 3'654'321);
    const std::size_t n = oh_event_log_read(&log, events.data(), events.size());
    for (const oh_event& e : std::span(events).first(n)) out.log.emplace_back(e.time_ns, e.kind, e.id, e.argument);
    for (EntityId id = 0; id < cpu.entities(); id++) out.times.push_back(cpu.cpu_time(id));
  }
  EXPECT_EQ(oh_event_log_lost(&log), 0u);
  out.times.push_back(cpu.dpc_time());
  out.times.push_back(static_cast<Ns>(driver.counters.blocks_served));
  out.seen = std::move(seen.all);
  out.engine_events = engine.events_handled();
  return out;
}

TEST(UnbrokenContext, RandomHostsHaveTheSameLogAndTheSameTimes) {
  for (const char* text : {"THR 24", "THR 5", "DPC", "RES 1ms/5ms", "RES 1ms/5ms strict", "INT"}) {
    std::uint64_t fewer = 0, all = 0;
    for (std::uint64_t seed = 1; seed <= 25; seed++) {
      const Outcome every = run(text, seed, true, false), unbroken = run(text, seed, false, false);
      ASSERT_TRUE(unbroken == every) << text << ", seed " << seed;
      ASSERT_TRUE(run(text, seed, false, true) == run(text, seed, true, true)) << text << ", seed " << seed;
      fewer += unbroken.engine_events;
      all += every.engine_events;
    }
    EXPECT_LT(fewer, all) << text;
  }
}

}  // namespace
}  // namespace offhook::hostsim
