// SPDX-License-Identifier: MIT
//
// Chains of jobs that run without instants of their own: a second processor of the engine forbids them, so a host
// beside one goes through every instant. Its log, what an observer saw of it, and its times must be the same.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "hostsim/engine/processor.h"
#include "hostsim/engine/random.h"
#include "hostsim/host/device_load.h"
#include "hostsim/host/load.h"

namespace offhook::hostsim {
namespace {

constexpr Ns kUs = 1000, kMs = 1'000'000, kSecond = 1'000'000'000;

struct Outcome {
  std::vector<std::tuple<std::uint64_t, int, int, std::uint32_t>> log;
  std::vector<Ns> cpu_times;
  std::vector<std::tuple<Ns, EntityId, CpuObserver::Kind>> seen;
  Ns dpc_time = 0;
  std::uint64_t transfers = 0, engine_events = 0;
};

struct Seen final : CpuObserver {
  void on_event(Ns time, EntityId id, Kind kind) override { all.emplace_back(time, id, kind); }
  std::vector<std::tuple<Ns, EntityId, Kind>> all;
};

/// Does nothing.
class IdleProcessor final : public Processor {
  void settle(Ns) override {}
  void dispatch(Ns) override {}
};

/// Clock, timer, a network, two disks, threads of random priorities, some with quanta and deadlines.
class RandomHost {
 public:
  RandomHost(std::uint64_t seed, bool every_instant, bool observed = false) : random_(seed, 1) {
    oh_event_log_init(&log_, ring_.data(), ring_.size(), 0);
    cpu_.set_log(&log_);
    if (observed) cpu_.set_observer(&seen_);
    if (every_instant) engine_.attach(idle_);
    for (int i = 0, n = 1 + number(3); i < n; i++) {
      threads_.push_back(
          std::make_unique<PeriodicThread>(engine_, cpu_, (1 + number(40)) * kMs, (1 + number(900)) * kUs));
      threads_.back()->start(cpu_.add_thread("thread", policy(), *threads_.back(), number(2) == 0 ? kNever : 5 * kMs));
    }
    if (number(2) == 0) cpu_.release(cpu_.add_thread("spinner", FixedPriority{number(12), 20 * kMs}, spinner_));
    // A part that itself writes to the log has events of its own.
    timer_.emplace(cpu_, number(2) == 0 ? &log_ : nullptr, kMs, number(20) * kUs, (number(3) - 1) * 5 * kUs);
    clock_.emplace(engine_, cpu_, number(2) == 0 ? 1000 : 1024, 28, number(4) * kUs);
    clock_->set_listener(&*timer_);
    clock_->start();
    for (LoadDevice d : {LoadDevice{.name = "network", .every_ns = 123 * kUs, .window = 24, .read_ns = 5 * kUs},
                         LoadDevice{.name = "disk", .every_ns = 900 * kUs, .jitter = 0.4},
                         LoadDevice{.name = "usb", .every_ns = kMs}}) {
      d.isr_ns = number(40) * kUs;
      d.isr_spread = 0.5 * random_.uniform(draws_++);
      d.dpc_ns = number(40) * kUs;
      d.dpc_spread = 0.5 * random_.uniform(draws_++);
      d.level = 1 + number(31);
      d.reader_priority = number(16);
      d.round_trip_ns = number(200) * kUs;
      d.dpc_importance = static_cast<DpcImportance>(number(3));
      devices_.push_back(make_device_load(engine_, cpu_, d, seed, 2 + devices_.size()));
      devices_.back()->start();
    }
  }

  Outcome run(Ns lasts) {
    Outcome out;
    std::vector<oh_event> events(ring_.size());
    for (Ns horizon = 0; horizon < lasts;) {  // slices that end at any time
      engine_.run_until(horizon += 7'654'321);
      const std::size_t n = oh_event_log_read(&log_, events.data(), events.size());
      for (const oh_event& e : std::span(events).first(n)) out.log.emplace_back(e.time_ns, e.kind, e.id, e.argument);
      for (EntityId id = 0; id < cpu_.entities(); id++) out.cpu_times.push_back(cpu_.cpu_time(id));
    }
    EXPECT_EQ(oh_event_log_lost(&log_), 0u);
    out.dpc_time = cpu_.dpc_time();
    out.seen = seen_.all;
    for (const auto& device : devices_) out.transfers += device->transfers();
    out.engine_events = engine_.events_handled();
    return out;
  }

 private:
  int number(int below) { return static_cast<int>(random_.word(draws_++) % static_cast<std::uint64_t>(below)); }
  Policy policy() {
    switch (number(4)) {
      case 0:
        return Slot{.length = kMs, .period = 8 * kMs};
      case 1:
        return EarliestDeadline{};
      default:
        return FixedPriority{number(32), number(2) * 20 * kMs};
    }
  }

  Random random_;
  std::uint64_t draws_ = 0;
  Engine engine_;
  Cpu cpu_{engine_};
  std::vector<oh_event> ring_ = std::vector<oh_event>(1 << 14);
  oh_event_log log_{};
  Seen seen_;
  IdleProcessor idle_;
  Spinner spinner_;
  std::vector<std::unique_ptr<PeriodicThread>> threads_;
  std::optional<TimerCallback> timer_;
  std::optional<ClockInterrupt> clock_;
  std::vector<std::unique_ptr<DeviceLoad>> devices_;
};

TEST(Unbroken, RandomHostsHaveTheSameLogAndTheSameTimes) {
  std::uint64_t fewer = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= 60; seed++) {
    const Outcome every = RandomHost(seed, true).run(kSecond), unbroken = RandomHost(seed, false).run(kSecond);
    ASSERT_EQ(unbroken.log.size(), every.log.size()) << "seed " << seed;
    for (std::size_t i = 0; i < every.log.size(); i++)
      ASSERT_EQ(unbroken.log[i], every.log[i]) << "seed " << seed << ", record " << i;
    EXPECT_EQ(unbroken.cpu_times, every.cpu_times) << "seed " << seed;
    EXPECT_EQ(unbroken.dpc_time, every.dpc_time) << "seed " << seed;
    EXPECT_EQ(unbroken.transfers, every.transfers) << "seed " << seed;
    const Outcome every_seen = RandomHost(seed, true, true).run(kSecond),
                  unbroken_seen = RandomHost(seed, false, true).run(kSecond);
    ASSERT_EQ(unbroken_seen.seen, every_seen.seen) << "seed " << seed;
    EXPECT_GT(every_seen.seen.size(), every.log.size() / 2);
    EXPECT_EQ(unbroken_seen.log, every.log) << "seed " << seed;
    fewer += unbroken.engine_events;
    all += every.engine_events;
  }
  EXPECT_LT(fewer, all) << "no chain ran unbroken, and nothing was tested";
}

/// A network, with or without a priority-10 thread that never blocks: its log, and the number of engine events.
Outcome beside_a_hog(bool hog, int reader_priority, bool every_instant, Ns segment = 123 * kUs) {
  IdleProcessor idle;
  Engine engine;
  Cpu cpu(engine);
  std::vector<oh_event> ring(1 << 17), events(1 << 17);
  oh_event_log log{};
  oh_event_log_init(&log, ring.data(), ring.size(), 0);
  cpu.set_log(&log);
  if (every_instant) engine.attach(idle);
  Spinner spinner;
  if (hog) cpu.release(cpu.add_thread("hog", FixedPriority{10, 0}, spinner));
  const LoadDevice network{.name = "network",
                           .every_ns = segment,
                           .isr_ns = 5 * kUs,
                           .dpc_ns = 30 * kUs,
                           .dpc_spread = 0.5,
                           .level = 12,
                           .window = 10'000,
                           .read_ns = 5 * kUs,
                           .reader_priority = reader_priority};
  const auto device = make_device_load(engine, cpu, network, 1, 2);
  device->start();
  engine.run_until(kSecond);
  Outcome out;
  const std::size_t n = oh_event_log_read(&log, events.data(), events.size());
  for (const oh_event& e : std::span(events).first(n)) out.log.emplace_back(e.time_ns, e.kind, e.id, e.argument);
  for (EntityId id = 0; id < cpu.entities(); id++) out.cpu_times.push_back(cpu.cpu_time(id));
  out.transfers = device->transfers();
  out.engine_events = engine.events_handled();
  return out;
}

// Interrupt and DPC, and the reader before, after or without the hog: one event of the engine for each segment.
TEST(Unbroken, ASegmentIsOneEventWhetherItsReaderRunsOrWaits) {
  for (const auto& [hog, reader_priority] : {std::pair{false, 5}, {true, 15}, {true, 5}}) {
    const Outcome every = beside_a_hog(hog, reader_priority, true);
    const Outcome unbroken = beside_a_hog(hog, reader_priority, false);
    EXPECT_EQ(unbroken.log, every.log) << hog << reader_priority;
    EXPECT_EQ(unbroken.cpu_times, every.cpu_times);
    EXPECT_EQ(unbroken.transfers, every.transfers);
    EXPECT_GT(unbroken.transfers, 8000u);
    EXPECT_LT(unbroken.engine_events, unbroken.transfers + 10);
    EXPECT_GT(every.engine_events, 3 * every.transfers);
  }
}

// The next segment interrupts the DPC of the previous one or its reader, or comes when that ends.
TEST(Unbroken, SegmentsThatComeBeforeTheLastOneIsReadGoThroughEveryInstant) {
  for (const Ns segment : {12 * kUs, 38 * kUs, 40 * kUs, 43 * kUs, 50 * kUs}) {
    for (const bool hog : {false, true}) {
      const Outcome every = beside_a_hog(hog, 15, true, segment), unbroken = beside_a_hog(hog, 15, false, segment);
      EXPECT_EQ(unbroken.log, every.log) << segment << hog;
      EXPECT_EQ(unbroken.cpu_times, every.cpu_times);
      EXPECT_EQ(unbroken.transfers, every.transfers);
    }
  }
}

/// @return CPU times of a clock and of its timer's callback after a second
std::vector<Ns> beside_a_clock(Ns clock_cost, Ns callback_cost, bool hog, bool every_instant) {
  IdleProcessor idle;
  Engine engine;
  Cpu cpu(engine);
  if (every_instant) engine.attach(idle);
  Spinner spinner;
  if (hog) cpu.release(cpu.add_thread("hog", FixedPriority{10, 20 * kMs}, spinner));
  TimerCallback timer(cpu, nullptr, kMs, callback_cost, 5 * kUs);
  ClockInterrupt clock(engine, cpu, 1024, 28, clock_cost);
  clock.set_listener(&timer);
  clock.start();
  engine.run_until(kSecond);
  std::vector<Ns> times = {cpu.dpc_time()};
  for (EntityId id = 0; id < cpu.entities(); id++) times.push_back(cpu.cpu_time(id));
  return times;
}

// Ticks without anything between them, and ticks that come before the previous callback has ended.
TEST(Unbroken, ClockAndCallbackHaveTheSameTimes) {
  for (const bool hog : {false, true}) {
    for (const Ns clock_cost : {2 * kUs, 970 * kUs, 980 * kUs}) {
      for (const Ns callback_cost : {10 * kUs, 400 * kUs, 970 * kUs}) {
        EXPECT_EQ(beside_a_clock(clock_cost, callback_cost, hog, false),
                  beside_a_clock(clock_cost, callback_cost, hog, true))
            << clock_cost << ", " << callback_cost << ", " << hog;
      }
    }
  }
}

}  // namespace
}  // namespace offhook::hostsim
