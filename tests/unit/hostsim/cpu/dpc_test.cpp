// SPDX-License-Identifier: MIT
//
// The DPC queue of Windows NT by hand: who goes first, and who waits for what; and interrupts whose handlers are
// threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "hostsim/host/load.h"
#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

using ::testing::ElementsAre;

/// Two CPUs, each with a thread that never blocks; the clock interrupts both every 100.
class DpcImportances : public testing::Test {
 protected:
  EntityId dpc(const std::string& name, DpcImportance importance, int on = 0) {
    return cpu_.add_dpc({name, importance, on}, programs_.emplace_back(std::vector<Ns>{10}));
  }
  void at(Ns when, std::function<void(Ns)> what) { engine_.at(when, events_.emplace_back(std::move(what))); }
  void at(Ns when, EntityId id) {
    at(when, [this, id](Ns) { cpu_.release(id); });
  }
  /// An interrupt of length 0 on this CPU queues the DPC.
  void from(int on, Ns when, EntityId id) {
    at(when, cpu_.add_interrupt({"irq", 1, id, on}, programs_.emplace_back(std::vector<Ns>{1})));
  }
  void spin() {
    for (const int on : {0, 1}) cpu_.release(cpu_.add_thread("spin", FixedPriority{8, 0}, spinner_[on], kNever, on));
  }
  /// Eight DPCs in a clock interval, so that more than 3 come in each.
  void be_busy() {
    const EntityId busy = cpu_.add_dpc({"busy"}, busy_);
    for (Ns t = 0; t < 100; t++) at(12 * t, busy);
  }
  /// Their starts, until 1000.
  std::vector<std::string> starts_of(const std::string& name) {
    for (Ns t = 100; t < 1000; t += 100) {
      for (const int on : {0, 1}) at(t, [this, on](Ns) { cpu_.clock_tick(on); });
    }
    Recorder recorder(cpu_);
    engine_.run_until(1000);
    std::vector<std::string> starts;
    for (const std::string& e : recorder.events)
      if (e.find(name) != std::string::npos && e.find("start") != std::string::npos) starts.push_back(e);
    return starts;
  }

  Engine engine_;
  Cpu cpu_{engine_, Admission::kNone, 2};
  std::deque<Segments> programs_;
  std::deque<Once> events_;
  Segments busy_{{1}};
  Spinner spinner_[2];
};

TEST_F(DpcImportances, HighImportanceGoesToTheHeadAndPreemptsNone) {
  const EntityId a = dpc("dpc a", DpcImportance::kMedium), b = dpc("dpc b", DpcImportance::kMedium),
                 h = dpc("dpc h", DpcImportance::kHigh);
  at(0, a);
  at(1, b);
  at(5, h);
  EXPECT_THAT(starts_of("dpc"), ElementsAre("0 dpc a start", "10 dpc h start", "20 dpc b start"));
}

TEST_F(DpcImportances, LowImportanceWaitsForTheClockWhileManyDpcsCome) {
  spin();
  be_busy();
  const EntityId low = dpc("low", DpcImportance::kLow);
  at(250, low);  // after a busy one at 240 the queue is empty; the next DPC, at 252, empties it for both
  EXPECT_THAT(starts_of("low"), ElementsAre("252 low start"));
}

TEST_F(DpcImportances, LowImportanceWaitsForTheClockWhenNoOtherComes) {
  spin();
  const EntityId busy = cpu_.add_dpc({"busy"}, busy_);
  for (Ns t = 110; t < 120; t++) at(t, busy);  // ten in the previous interval: a rate of 5
  const EntityId low = dpc("low", DpcImportance::kLow);
  at(250, low);
  at(450, low);  // the rate has fallen to 1: requested at once
  EXPECT_THAT(starts_of("low"), ElementsAre("300 low start", "450 low start"));
}

TEST_F(DpcImportances, LowImportanceRunsAtOnceOnAnIdleCpu) {
  be_busy();
  const EntityId low = dpc("low", DpcImportance::kLow);
  at(250, low);
  EXPECT_THAT(starts_of("low"), ElementsAre("250 low start"));
}

TEST_F(DpcImportances, FiveWaitingDpcsAreTooMany) {
  spin();
  const EntityId busy = cpu_.add_dpc({"busy"}, busy_);
  for (Ns t = 110; t < 120; t++) at(t, busy);
  const EntityId low = dpc("low", DpcImportance::kLow);
  for (Ns t = 210; t < 260; t += 10) at(t, low);
  EXPECT_THAT(starts_of("low"),
              ElementsAre("250 low start", "260 low start", "270 low start", "280 low start", "290 low start"));
}

TEST_F(DpcImportances, OnAnotherCpuOnlyHighImportanceIsRequestedAtOnce) {
  spin();
  from(0, 120, dpc("there medium", DpcImportance::kMedium, 1));
  from(0, 320, dpc("there high", DpcImportance::kHigh, 1));
  from(1, 420, dpc("here", DpcImportance::kMedium, 1));
  EXPECT_THAT(starts_of("here"), ElementsAre("200 there medium start", "321 there high start", "421 here start"));
}

TEST_F(DpcImportances, OnAnIdleCpuEveryDpcRunsAtOnce) {
  from(0, 120, dpc("there", DpcImportance::kMedium, 1));
  EXPECT_THAT(starts_of("there"), ElementsAre("121 there start"));
}

// A handler of 4 at priority 50 after a stub of 1: it delays only threads below 50.
TEST(ThreadedInterrupt, LeavesAStubAtInterruptLevelAndReleasesItsDpcWhenTheThreadIsDone) {
  Engine engine;
  Cpu cpu(engine);
  Segments high_job({10}), low_job({10}), handler({4}), dpc_job({2});
  const EntityId high = cpu.add_thread("high", FixedPriority{60, 0}, high_job);
  const EntityId low = cpu.add_thread("low", FixedPriority{40, 0}, low_job);
  const EntityId dpc = cpu.add_dpc({"dpc"}, dpc_job);
  const auto [irq, thread] = cpu.add_threaded_interrupt({"irq", 1, dpc}, 1, FixedPriority{50, 0}, handler);
  EXPECT_EQ(cpu.name(thread), "irq thread");
  Periodic p_high(engine, cpu, high, 5, 1000), p_low(engine, cpu, low, 0, 1000), p_irq(engine, cpu, irq, 8, 1000);
  Recorder recorder(cpu);
  engine.run_until(100);
  EXPECT_THAT(recorder.events,
              ElementsAre("0 low start", "5 low preempt", "5 high start", "8 high preempt", "8 irq start",
                          "9 irq finish", "9 high resume", "16 high finish", "16 irq thread start",
                          "20 irq thread finish", "20 dpc start", "22 dpc finish", "22 low resume", "27 low finish"));
}

}  // namespace
}  // namespace offhook::hostsim
