// SPDX-License-Identifier: MIT
//
// A clock whose interrupts have no events, because they do nothing but take CPU time (Cpu::keep_ticking): beside a
// second processor of the engine each has its own. When programs ran and how long must be the same.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "hostsim/engine/processor.h"
#include "hostsim/engine/random.h"
#include "hostsim/host/device_load.h"
#include "hostsim/host/load.h"

namespace offhook::hostsim {
namespace {

constexpr Ns kUs = 1000, kMs = 1'000'000, kSecond = 1'000'000'000;

struct Outcome {
  std::vector<std::pair<Ns, int>> ran;
  std::vector<Ns> cpu_times;
  std::uint64_t transfers = 0, engine_events = 0;
};

/// Does nothing.
class IdleProcessor final : public Processor {
  void settle(Ns) override {}
  void dispatch(Ns) override {}
};

struct Nobody final : CpuObserver {
  void on_event(Ns, EntityId, Kind) override {}
};

/// Several segments in a job; reports the start and end of each.
class Segments final : public Event, public Program {
 public:
  Segments(Engine& engine, Cpu& cpu, Outcome& out, int number, Ns every, std::vector<Ns> costs)
      : engine_(engine), cpu_(cpu), out_(out), number_(number), every_(every), costs_(std::move(costs)) {}
  void start(EntityId id) {
    id_ = id;
    engine_.at(every_, *this);
  }
  void fire(Ns now) override {
    cpu_.release(id_);
    engine_.at(now + every_, *this);
  }
  Ns next(Ns now) override {
    out_.ran.emplace_back(now, number_);
    out_.cpu_times.push_back(cpu_.cpu_time(id_));
    if (at_ < costs_.size()) return costs_[at_++];
    at_ = 0;
    return 0;
  }

 private:
  Engine& engine_;
  Cpu& cpu_;
  Outcome& out_;
  int number_;
  Ns every_;
  std::vector<Ns> costs_;
  std::size_t at_ = 0;
  EntityId id_ = kNoEntity;
};

class RandomHost {
 public:
  RandomHost(std::uint64_t seed, bool every_instant) : random_(seed, 1) {
    if (every_instant) engine_.attach(idle_);
    // Slots and periods that share some of their times with the clock.
    for (int i = 0, n = 1 + number(4); i < n; i++) {
      const Ns unit = number(3) == 0 ? kMs : 1 + number(1'000'000);
      std::vector<Ns> costs;
      for (int k = 0, segments = 1 + number(3); k < segments; k++) costs.push_back(1 + number(static_cast<int>(unit)));
      work_.push_back(std::make_unique<Segments>(engine_, cpu_, out_, i, (2 + number(20)) * unit, costs));
      work_.back()->start(cpu_.add_thread("thread", policy(), *work_.back()));
    }
    if (number(2) == 0) cpu_.release(cpu_.add_thread("spinner", FixedPriority{number(12), 20 * kMs}, spinner_));
    clock_.emplace(engine_, cpu_, number(2) == 0 ? 1000 : 1024, 28, (1 + number(60)) * kUs);
    clock_->start(number(2) * number(2'000'000));
    for (LoadDevice d : {LoadDevice{.name = "network", .every_ns = 123 * kUs, .window = 24, .read_ns = 5 * kUs},
                         LoadDevice{.name = "disk", .every_ns = 900 * kUs, .jitter = 0.4},
                         LoadDevice{.name = "usb", .every_ns = kMs}}) {
      if (number(3) == 0) continue;
      d.isr_ns = number(40) * kUs;
      d.isr_spread = 0.5 * random_.uniform(draws_++);
      d.dpc_ns = number(40) * kUs;
      d.level = 1 + number(20);
      d.reader_priority = number(16);
      d.round_trip_ns = number(200) * kUs;
      d.dpc_importance = number(2) == 0 ? DpcImportance::kMedium : DpcImportance::kHigh;
      devices_.push_back(make_device_load(engine_, cpu_, d, seed, 2 + devices_.size()));
      devices_.back()->start();
    }
  }

  /// @param half_way  is called in the middle
  template <typename HalfWay>
  Outcome run(const HalfWay& half_way) {
    constexpr int kSlices = 60;  // that end anywhere
    for (int slice = 1; slice <= kSlices; slice++) {
      engine_.run_until(slice * Ns{17'654'321});
      for (EntityId id = 0; id < cpu_.entities(); id++) out_.cpu_times.push_back(cpu_.cpu_time(id));
      out_.cpu_times.push_back(cpu_.dpc_time());
      if (slice == kSlices / 2) half_way(*this);
    }
    for (const auto& device : devices_) out_.transfers += device->transfers();
    out_.engine_events = engine_.events_handled();
    return out_;
  }
  Outcome run() {
    return run([](RandomHost&) {});
  }

  Cpu& cpu() { return cpu_; }
  ClockInterrupt& clock() { return *clock_; }
  static constexpr EntityId kFirstThread = 0;

 private:
  int number(int below) { return static_cast<int>(random_.word(draws_++) % static_cast<std::uint64_t>(below)); }
  Policy policy() {
    if (number(2) == 0) return FixedPriority{number(32), number(2) * 20 * kMs};
    Slot slot{.offset = -number(3) * kMs / 2, .length = 1 + number(3), .period = 8, .strict = number(2) == 0};
    if (number(2) == 0) {
      slot.tick_hz = 1024;
    } else {
      slot.length *= kMs;
      slot.period *= kMs;
    }
    return slot;
  }

  Random random_;
  std::uint64_t draws_ = 0;
  Engine engine_;
  Cpu cpu_{engine_, Admission::kNone};
  IdleProcessor idle_;
  Outcome out_;
  Spinner spinner_;
  std::vector<std::unique_ptr<Segments>> work_;
  std::optional<ClockInterrupt> clock_;
  std::vector<std::unique_ptr<DeviceLoad>> devices_;
};

void expect_equal(const Outcome& a, const Outcome& b, std::uint64_t seed) {
  ASSERT_EQ(a.ran.size(), b.ran.size()) << "seed " << seed;
  for (std::size_t i = 0; i < b.ran.size(); i++) ASSERT_EQ(a.ran[i], b.ran[i]) << "seed " << seed << ", segment " << i;
  ASSERT_EQ(a.cpu_times, b.cpu_times) << "seed " << seed;
  EXPECT_EQ(a.transfers, b.transfers) << "seed " << seed;
}

TEST(SteadyClock, TakesFromEverybodyWhatItsInterruptsTook) {
  constexpr std::uint64_t kHosts = 150;
  std::uint64_t fewer = 0, all = 0, ran = 0;
  Nobody nobody;
  for (std::uint64_t seed = 1; seed <= kHosts; seed++) {
    const Outcome every = RandomHost(seed, true).run(), steady = RandomHost(seed, false).run();
    expect_equal(steady, every, seed);
    RandomHost watched(seed, false);  // chains without times of their own, but a clock with events
    watched.cpu().set_observer(&nobody);
    all += watched.run().engine_events;
    ran += every.ran.size();
    fewer += steady.engine_events;
  }
  EXPECT_GT(ran, 10'000u);
  EXPECT_LT(fewer + 500 * kHosts, all) << "clocks had their events, a thousand a host, and nothing was tested";
}

// A thread gets a policy that counts ticks, an observer is added, or an interrupt becomes longer.
TEST(SteadyClock, HasEventsAgainAsSoonAsSomebodyCouldTell) {
  Nobody nobody;
  for (std::uint64_t seed = 1; seed <= 40; seed++) {
    const auto becomes_rez = [](RandomHost& host) {
      host.cpu().set_policy(RandomHost::kFirstThread, Rez{.budget = kMs, .period = 7 * kMs, .background = 3});
    };
    const auto is_watched = [&](RandomHost& host) { host.cpu().set_observer(&nobody); };
    const auto lasts = [](RandomHost& host) { host.clock().prolong(33 * kUs); };
    expect_equal(RandomHost(seed, false).run(becomes_rez), RandomHost(seed, true).run(becomes_rez), seed);
    expect_equal(RandomHost(seed, false).run(is_watched), RandomHost(seed, true).run(is_watched), seed);
    expect_equal(RandomHost(seed, false).run(lasts), RandomHost(seed, true).run(lasts), seed);
  }
}

TEST(SteadyClock, AnIdleHostHandlesNoEventsForIt) {
  Engine engine;
  Cpu cpu(engine);
  ClockInterrupt clock(engine, cpu, 1024, 28, 2 * kUs);
  clock.start();
  engine.run_until(100 * kSecond);
  EXPECT_LT(engine.events_handled(), 3u);
  EXPECT_EQ(cpu.cpu_time(0), 102'400 * 2 * kUs);
}

}  // namespace
}  // namespace offhook::hostsim
