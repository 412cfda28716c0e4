// SPDX-License-Identifier: MIT
#include "hostsim/host/load.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace offhook::hostsim {
namespace {

constexpr Ns kSecond = 1'000'000'000;
constexpr int kClockLevel = 28;

/// A host with a 1 ms timer on a clock of `hz`; the intervals between its callbacks in ns.
struct Machine {
  Engine engine;
  Cpu cpu{engine};
  std::vector<oh_event> memory = std::vector<oh_event>(1 << 18);
  oh_event_log log{};
  ClockInterrupt clock;
  TimerCallback timer;

  explicit Machine(int hz)
      : log([this] {
          oh_event_log l{};
          oh_event_log_init(&l, memory.data(), memory.size(), 0);
          return l;
        }()),
        clock(engine, cpu, hz, kClockLevel, 2'000),
        timer(cpu, &log, 1'000'000, 10'000, 5'000) {
    clock.set_listener(&timer);
    clock.start();
  }
  std::vector<std::uint32_t> intervals() {
    std::vector<std::uint32_t> found;
    std::array<oh_event, 256> some;
    while (const std::size_t n = oh_event_log_read(&log, some.data(), some.size())) {
      for (std::size_t i = 0; i < n; i++) {
        if (some[i].kind == OH_EV_TIMER_CALLBACK) found.push_back(some[i].argument);
      }
    }
    return found;
  }
};

/// Runs for `cost` after each release.
struct Work final : Program {
  Ns cost;
  bool entered = false;
  explicit Work(Ns c) : cost(c) {}
  Ns next(Ns) override {
    entered = !entered;
    return entered ? cost : 0;
  }
};

TEST(Load, ATimerOf1msOnAClockOf1024HzIsLate24TimesIn1000) {
  Machine machine(1024);
  machine.engine.run_until(30 * kSecond);
  int near_1ms = 0, near_2ms = 0;
  const auto intervals = machine.intervals();
  for (const std::uint32_t ns : intervals) {
    near_1ms += std::abs(ns - 976'562.5) < 1;
    near_2ms += std::abs(ns - 1'953'125.0) < 1;
  }
  EXPECT_NEAR(static_cast<double>(intervals.size()), 30'000, 2);
  EXPECT_NEAR(near_2ms, 30 * 24, 2);
  EXPECT_EQ(near_1ms + near_2ms, static_cast<int>(intervals.size()));
}

TEST(Load, ATimerOf1msOnAClockOf1000HzIsNeverLate) {
  Machine machine(1000);
  machine.engine.run_until(kSecond);
  for (const std::uint32_t ns : machine.intervals()) EXPECT_EQ(ns, 1'000'000u);
}

TEST(Load, AnInterruptRoutineDelaysTheCallbackByWhatIsLeftOfIt) {
  Machine machine(1000);
  Work work(2'500'000);
  const EntityId device = machine.cpu.add_interrupt({"device", 10, kNoEntity}, work);
  struct Raise final : Event {
    Cpu& cpu;
    EntityId entity;
    Raise(Cpu& c, EntityId e) : cpu(c), entity(e) {}
    void fire(Ns) override { cpu.release(entity); }
  } raise(machine.cpu, device);
  machine.engine.at(10'500'000, raise);
  machine.engine.run_until(20'000'000);
  const auto intervals = machine.intervals();
  // Callbacks begin 7 us after a tick: clock 2 us, timer DPC 5 us. The routine has the CPU from 10.5 to 13 ms plus the
  // ticks at 11, 12 and 13 ms that interrupt it, 2 us each; then the timer DPC and the callback run.
  const auto longest = *std::max_element(intervals.begin(), intervals.end());
  EXPECT_EQ(longest, 13'006'000u + 5'000 - 10'007'000);
  // The expiries at 12 and 13 ms found the DPC queued already and are not repeated later.
  EXPECT_EQ(std::count(intervals.begin(), intervals.end(), longest), 1);
}

TEST(Load, ClockTicksNeverDrift) {
  Engine engine;
  Cpu cpu(engine);
  struct Last final : ClockInterrupt::Listener {
    Ns at = -1;
    std::int64_t ticks = 0;
    void tick(Ns now) override { at = now, ticks++; }
  } last;
  ClockInterrupt clock(engine, cpu, 1024, kClockLevel, 0);
  clock.set_listener(&last);
  clock.start();
  engine.run_until(1000 * kSecond + 1);
  EXPECT_EQ(last.at, 1000 * kSecond);
  EXPECT_EQ(last.ticks, 1'024'001);
}

TEST(Load, TheSpinnerLeavesNothingToLowerPriorities) {
  Engine engine;
  Cpu cpu(engine);
  Spinner spinner;
  Work work(1'000);
  const EntityId spin = cpu.add_thread("spinner", FixedPriority{8, 0}, spinner);
  const EntityId low = cpu.add_thread("low", FixedPriority{7, 0}, work);
  cpu.release(spin);
  cpu.release(low);
  engine.run_until(kSecond);
  EXPECT_EQ(cpu.cpu_time(spin), kSecond);
  EXPECT_EQ(cpu.cpu_time(low), 0);
}

TEST(Load, AHighResolutionTimerComesEveryMillisecondWhateverTheClock) {
  Engine engine;
  Cpu cpu(engine);
  std::vector<oh_event> memory(1 << 14);
  oh_event_log log{};
  oh_event_log_init(&log, memory.data(), memory.size(), 0);
  ClockInterrupt clock(engine, cpu, 250, kClockLevel, 1'000);
  ClockInterrupt expires(engine, cpu, 1000, kClockLevel, 2'000, 0, "timer");
  TimerCallback timer(cpu, &log, 1'000'000, 10'000, -1);
  expires.set_listener(&timer);
  clock.start();
  expires.start();
  engine.run_until(kSecond);
  int callbacks = 0, exact = 0;
  oh_event e;
  while (oh_event_log_read(&log, &e, 1) == 1) {
    if (e.kind != OH_EV_TIMER_CALLBACK) continue;
    callbacks++;
    // Where both interrupts coincide the clock's comes first, 1 us.
    exact += e.argument == 1'000'000 || e.argument == 1'001'000 || e.argument == 999'000;
  }
  EXPECT_EQ(callbacks, 998);  // 999 expiries; the first has no predecessor
  EXPECT_EQ(exact, callbacks);
}

TEST(ClockInterrupt, IsProlongedOnceByWhatASchedulerDoesInIt) {
  Engine engine;
  Cpu cpu(engine);
  ClockInterrupt clock(engine, cpu, 1000, kClockLevel, 1'000);
  Spinner spinner;
  const EntityId spin = cpu.add_thread("spinner", FixedPriority{8, 0}, spinner);
  cpu.release(spin);
  clock.start();
  clock.prolong(200);
  clock.prolong(300);
  engine.run_until(2'500'000);  // ticks at 0, 1 and 2 ms
  EXPECT_EQ(cpu.cpu_time(spin), 2'500'000 - 3 * 1'000 - 500);
}

}  // namespace
}  // namespace offhook::hostsim
