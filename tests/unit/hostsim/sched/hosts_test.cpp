// SPDX-License-Identifier: MIT
//
// What Windows NT and Linux do beyond the textbook's policies, against schedules worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hostsim/sched/linux_deadline.h"
#include "hostsim/sched/linux_fair.h"
#include "hostsim/sched/linux_realtime.h"
#include "hostsim/sched/linux_reclaim.h"
#include "hostsim/sched/softirq.h"
#include "hostsim/sched/windows_nt.h"
#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

using ::testing::ElementsAre;

constexpr Ns kMs = 1'000'000, kSecond = 1'000'000'000;
constexpr int kTickOf100ns = 10'000'000;

template <typename Thread, typename... Args>
OwnPolicy policy(Args... args) {
  return [=] { return std::make_unique<Thread>(args...); };
}

OwnPolicy nt(int priority, int boost, int quantum = 2, int hz = kTickOf100ns) {
  return policy<WindowsNtThread>(WindowsNt{priority, boost, quantum, hz});
}

TEST(WindowsNtThread, WhoRunsWhenTheClockInterruptsPaysForTheWholeInterval) {
  Engine engine;
  Cpu cpu(engine);
  Segments a_job({350}), b_job({350});
  const EntityId a = cpu.add_thread("a", nt(8, 0), a_job);
  const EntityId b = cpu.add_thread("b", nt(8, 0), b_job);
  Recorder recorder(cpu);
  cpu.release(a);
  cpu.release(b);
  engine.run_until(10'000);
  // b begins its second quantum at 550 and would be charged a whole interval at 600.
  EXPECT_THAT(recorder.events, ElementsAre("0 a start", "200 a preempt", "200 b start", "400 b preempt", "400 a resume",
                                           "550 a finish", "550 b resume", "700 b finish"));
}

TEST(WindowsNtThread, ABoostWearsOffByOneLevelAQuantum) {
  Engine engine;
  Cpu cpu(engine);
  Segments s_job({kNever}), t_job({1000});
  const EntityId s = cpu.add_thread("s", nt(9, 0), s_job);
  const EntityId t = cpu.add_thread("t", nt(8, 2), t_job);
  Once wake([&](Ns) { cpu.release(t); });
  engine.at(50, wake);
  Recorder recorder(cpu);
  cpu.release(s);
  engine.run_until(2000);
  // t is at 10, from 200 at 9 behind s; at 400, when s has used up its quantum, before it; from 600 at 8.
  EXPECT_THAT(recorder.events, ElementsAre("0 s start", "50 s preempt", "50 t start", "200 t preempt", "200 s resume",
                                           "400 s preempt", "400 t resume", "600 t preempt", "600 s resume"));
}

TEST(WindowsNtThread, RealTimePrioritiesAreNeverBoosted) {
  Engine engine;
  Cpu cpu(engine);
  Segments s_job({1000}), t_job({10});
  const EntityId s = cpu.add_thread("s", nt(17, 0), s_job);
  const EntityId t = cpu.add_thread("t", nt(16, 8), t_job);
  Recorder recorder(cpu);
  cpu.release(s);
  cpu.release(t);
  engine.run_until(5000);
  EXPECT_THAT(recorder.events, ElementsAre("0 s start", "1000 s finish", "1000 t start", "1010 t finish"));
}

TEST(WindowsNtThread, OneThatStarvedFor4sGetsTwoQuantaAt15) {
  Engine engine;
  Cpu cpu(engine);
  Segments s_job({kNever}), t_job({kNever});
  const EntityId s = cpu.add_thread("s", nt(9, 0, 6, 64), s_job);
  const EntityId t = cpu.add_thread("t", nt(4, 0, 6, 64), t_job);
  Recorder recorder(cpu);
  cpu.release(s);
  cpu.release(t);
  engine.run_until(8 * kSecond + 187'500'001);
  // Twelve intervals of 1/64 s, and again 4 s after the last one.
  EXPECT_THAT(recorder.events,
              ElementsAre("0 s start", "4000000000 s preempt", "4000000000 t start", "4187500000 t preempt",
                          "4187500000 s resume", "8187500000 s preempt", "8187500000 t resume"));
}

TEST(LinuxDeadlineThread, At250HzTwoOfEvery8msBecomeFourOfEvery16) {
  Engine engine;
  Cpu cpu(engine);
  Segments job({kNever});
  const EntityId t = cpu.add_thread("t", policy<LinuxDeadlineThread>(LinuxDeadline{2 * kMs, 8 * kMs, 250}), job);
  Recorder recorder(cpu);
  cpu.release(t);
  engine.run_until(41 * kMs);
  EXPECT_THAT(recorder.events, ElementsAre("0 t start", "4000000 t throttle", "8000000 t replenish", "8000000 t resume",
                                           "12000000 t throttle", "24000000 t replenish", "24000000 t resume",
                                           "28000000 t throttle", "40000000 t replenish", "40000000 t resume"));
}

TEST(LinuxDeadlineThread, WithHrtickABudgetEndsWhereItIsSpentWhateverTheTick) {
  Engine engine;
  Cpu cpu(engine);
  Segments job({kNever});
  const LinuxDeadline hrtick{2 * kMs + 300'000, 8 * kMs, 250, true};
  const EntityId t = cpu.add_thread("t", policy<LinuxDeadlineThread>(hrtick), job);
  Recorder recorder(cpu);
  cpu.release(t);
  engine.run_until(17 * kMs);
  EXPECT_THAT(recorder.events, ElementsAre("0 t start", "2300000 t throttle", "8000000 t replenish", "8000000 t resume",
                                           "10300000 t throttle", "16000000 t replenish", "16000000 t resume"));
}

// An interrupt leaves 4 us of the budget: the timer is set for 10, and the next budget pays for the 6 excess us.
TEST(LinuxDeadlineThread, WithHrtickNoTimerIsShorterThan10us) {
  Engine engine;
  Cpu cpu(engine);
  Segments job({kNever}), interrupt_job({50'000});
  const LinuxDeadline hrtick{2 * kMs, 8 * kMs, 250, true};
  const EntityId t = cpu.add_thread("t", policy<LinuxDeadlineThread>(hrtick), job);
  const EntityId interrupt = cpu.add_interrupt({"i", 3, kNoEntity}, interrupt_job);
  Periodic once(engine, cpu, interrupt, 2 * kMs - 4'000, kSecond);
  Recorder recorder(cpu);
  cpu.release(t);
  engine.run_until(11 * kMs);
  EXPECT_THAT(recorder.events,
              ElementsAre("0 t start", "1996000 t preempt", "1996000 i start", "2046000 i finish", "2046000 t resume",
                          "2056000 t throttle", "8000000 t replenish", "8000000 t resume", "9994000 t throttle"));
}

TEST(LinuxDeadlineThread, ADeadlineThatHasPassedBeginsAnewAndOneThatIsNowDoesNot) {
  for (const Ns now : {16 * kMs, 16 * kMs + 1}) {
    LinuxDeadlineThread t(LinuxDeadline{2 * kMs, 8 * kMs, 250});
    t.begin_job(0, {0, kNever}, true);
    t.charge(3 * kMs);
    t.update(4 * kMs);
    ASSERT_TRUE(t.exhausted());
    // The clock was held off: a period pays for the excess, and ends at 16 ms.
    EXPECT_TRUE(t.update(now).replenished);
    EXPECT_EQ(t.standing(now).key, now == 16 * kMs ? now : now + 8 * kMs);
  }
}

TEST(LinuxDeadlineThread, WithABudgetOfWholeTicksItIsTheIdealServer) {
  Engine engine;
  Cpu cpu(engine);
  Segments a_job({kNever});
  const EntityId a = cpu.add_thread("a", policy<LinuxDeadlineThread>(LinuxDeadline{4 * kMs, 16 * kMs, 250}), a_job);
  cpu.release(a);
  engine.run_until(16 * kSecond);
  EXPECT_EQ(cpu.cpu_time(a), 4 * kSecond);
}

// Documentation/scheduler/sched-deadline.rst, 2.2: T1 and T2 with 4 of every 8 each; T1 blocks at 2, its 0-lag time is
// 4, and then T2's budget decreases half as fast: it lasts until 8.
TEST(LinuxReclaimThreads, RunTheExampleOfTheKernelsDocumentation) {
  Engine engine;
  Cpu cpu(engine);
  const auto group = std::make_shared<LinuxReclaimGroup>(1);
  const LinuxDeadline half{4 * kMs, 8 * kMs, 1000};
  Segments t1_job({2 * kMs}), t2_job({kNever});
  const EntityId t1 = cpu.add_thread("t1", policy<LinuxReclaimThread>(half, group), t1_job);
  const EntityId t2 = cpu.add_thread("t2", policy<LinuxReclaimThread>(half, group), t2_job);
  Recorder recorder(cpu);
  cpu.release(t1);
  cpu.release(t2);
  Once wake([&](Ns) { cpu.release(t1); });
  engine.at(8 * kMs, wake);
  engine.run_until(9 * kMs);
  // Spent at 8 and filled again with a deadline of 16, as T1's; T1 was declared first.
  EXPECT_THAT(recorder.events, ElementsAre("0 t1 start", "2000000 t1 finish", "2000000 t2 start",
                                           "8000000 t2 replenish", "8000000 t2 preempt", "8000000 t1 start"));
  EXPECT_THROW(LinuxReclaimThread(LinuxDeadline{1, 8 * kMs, 1000}, group), std::invalid_argument);
}

TEST(LinuxReclaimThreads, OneThatWakesBeforeIts0LagTimeGivesNothingAway) {
  LinuxReclaimGroup group(1);
  const std::size_t a = group.add(0.5), b = group.add(0.5);
  group.wakes(a, 0);
  group.wakes(b, 0);
  group.sleeps(b, 400);
  EXPECT_DOUBLE_EQ(group.used(a, 200, 400), 200);  // not contending, but active
  group.wakes(b, 300);
  EXPECT_DOUBLE_EQ(group.used(a, 200, 600), 400);
  group.sleeps(b, 700);
  EXPECT_DOUBLE_EQ(group.used(a, 600, 900), 100 + 200 / 2.0);
  group.wakes(b, 800);
  EXPECT_DOUBLE_EQ(group.used(a, 600, 900), 100 + 100 / 2.0 + 100);
}

// LKML, May 2023, on the equation of 6.6: threads with 3 of every 100 ms, one on each CPU, have 95.06 to 95.08 % each.
TEST(LinuxReclaimThreads, OneAloneHasAllThatMayBeReserved) {
  Engine engine;
  Cpu cpu(engine);
  const auto group = std::make_shared<LinuxReclaimGroup>();
  Segments job({kNever});
  const EntityId t =
      cpu.add_thread("t", policy<LinuxReclaimThread>(LinuxDeadline{3 * kMs, 100 * kMs, 1000}, group), job);
  cpu.release(t);
  engine.run_until(10 * kSecond);
  EXPECT_EQ(cpu.cpu_time(t), 9500 * kMs);
}

TEST(LinuxRealTimeThreads, AllTogetherAreThrottledAtTheTickAfter950Of1000ms) {
  Engine engine;
  Cpu cpu(engine);
  const auto group = std::make_shared<LinuxRealTimeGroup>(1000);
  Segments high_job({kNever}), low_job({kNever}), rest_job({kNever});
  const EntityId high = cpu.add_thread("high", policy<LinuxRealTimeThread>(LinuxRealTime{50}, group), high_job);
  const EntityId low = cpu.add_thread("low", policy<LinuxRealTimeThread>(LinuxRealTime{40}, group), low_job);
  const auto fair = std::make_shared<LinuxFairGroup>(1000);
  const EntityId rest = cpu.add_thread("rest", policy<LinuxFairThread>(fair), rest_job);
  Recorder recorder(cpu);
  for (const EntityId id : {high, low, rest}) cpu.release(id);
  engine.run_until(2 * kSecond);
  // 951 ms exceed 950, and the excess counts in the second period.
  EXPECT_THAT(recorder.events,
              ElementsAre("0 high start", "951000000 high throttle", "951000000 low throttle", "951000000 rest start",
                          "1000000000 high replenish", "1000000000 low replenish", "1000000000 rest preempt",
                          "1000000000 high resume", "1950000000 high throttle", "1950000000 low throttle",
                          "1950000000 rest resume"));
}

TEST(LinuxRealTimeThreads, RoundRobinEndsASliceAtATick) {
  Engine engine;
  Cpu cpu(engine);
  const auto group = std::make_shared<LinuxRealTimeGroup>(1000);
  Segments a_job({150 * kMs}), b_job({50 * kMs});
  const LinuxRealTime rr{.priority = 10, .slice = 100 * kMs};
  const EntityId a = cpu.add_thread("a", policy<LinuxRealTimeThread>(rr, group), a_job);
  const EntityId b = cpu.add_thread("b", policy<LinuxRealTimeThread>(rr, group), b_job);
  Recorder recorder(cpu);
  cpu.release(a);
  cpu.release(b);
  engine.run_until(kSecond);
  EXPECT_THAT(recorder.events, ElementsAre("0 a start", "100000000 a preempt", "100000000 b start",
                                           "150000000 b finish", "150000000 a resume", "200000000 a finish"));
}

TEST(LinuxFairThreads, ShareByTheirWeights) {
  Engine engine;
  Cpu cpu(engine);
  const auto group = std::make_shared<LinuxFairGroup>(1000);
  Segments a_job({kNever}), b_job({kNever}), c_job({kNever});
  const EntityId a = cpu.add_thread("a", policy<LinuxFairThread>(group), a_job);
  const EntityId b = cpu.add_thread("b", policy<LinuxFairThread>(group), b_job);
  const EntityId c = cpu.add_thread("c", policy<LinuxFairThread>(group, 2048), c_job);
  for (const EntityId id : {a, b, c}) cpu.release(id);
  engine.run_until(10 * kSecond);
  EXPECT_NEAR(static_cast<double>(cpu.cpu_time(a)), 2.5e9, 10e6);
  EXPECT_NEAR(static_cast<double>(cpu.cpu_time(b)), 2.5e9, 10e6);
  EXPECT_NEAR(static_cast<double>(cpu.cpu_time(c)), 5e9, 10e6);
}

TEST(LinuxFairThreads, ATurnEndsAtTheFirstTickAfterTheShareOf6ms) {
  Engine engine;
  Cpu cpu(engine);
  const auto group = std::make_shared<LinuxFairGroup>(1000);
  Segments h_job({kNever}), n_job({kNever});
  const EntityId h = cpu.add_thread("h", policy<LinuxFairThread>(group, 16 * 1024), h_job);
  const EntityId n = cpu.add_thread("n", policy<LinuxFairThread>(group), n_job);
  Recorder recorder(cpu);
  for (const EntityId id : {h, n}) cpu.release(id);
  engine.run_until(21 * kMs);
  // h's share is 16/17 of 6 ms; a millisecond of virtual time is 16 of its own. At 13 it is still behind.
  EXPECT_THAT(recorder.events,
              ElementsAre("0 h start", "6000000 h preempt", "6000000 n start", "7000000 n preempt", "7000000 h resume",
                          "19000000 h preempt", "19000000 n resume", "20000000 n preempt", "20000000 h resume"));
}

TEST(LinuxFairThreads, ASleeperPreemptsOneThatIsMoreThan1msAhead) {
  Engine engine;
  Cpu cpu(engine);
  const auto group = std::make_shared<LinuxFairGroup>(1000);
  Segments hog_job({kNever}), sleeper_job({500'000});
  const EntityId hog = cpu.add_thread("hog", policy<LinuxFairThread>(group), hog_job);
  const EntityId sleeper = cpu.add_thread("sleeper", policy<LinuxFairThread>(group), sleeper_job);
  Periodic wakes(engine, cpu, sleeper, 100 * kMs + 300'000, 10 * kSecond);
  Recorder recorder(cpu);
  cpu.release(hog);
  engine.run_until(kSecond);
  EXPECT_THAT(recorder.events, ElementsAre("0 hog start", "100300000 hog preempt", "100300000 sleeper start",
                                           "100800000 sleeper finish", "100800000 hog resume"));
}

// At 8 ms `a` begins its second turn with 4 ms of virtual time, as much as `b` has. A woken thread takes its CPU at
// 8.5: then the one that has run least continues, b. If an interrupt takes the same time, a continues.
TEST(LinuxFairThreads, AfterOneThatWokeWhoHasRunLeastGoesOn) {
  for (const bool wakes : {true, false}) {
    Engine engine;
    Cpu cpu(engine);
    const auto group = std::make_shared<LinuxFairGroup>(250);
    Segments a_job({kNever}), b_job({kNever}), short_job({500'000});
    const EntityId a = cpu.add_thread("a", policy<LinuxFairThread>(group), a_job);
    const EntityId b = cpu.add_thread("b", policy<LinuxFairThread>(group), b_job);
    const EntityId other = wakes ? cpu.add_thread("other", policy<LinuxFairThread>(group), short_job)
                                 : cpu.add_interrupt({.name = "other"}, short_job);
    Periodic at(engine, cpu, other, 8 * kMs + 500'000, 10 * kSecond);
    Recorder recorder(cpu);
    for (const EntityId id : {a, b}) cpu.release(id);
    engine.run_until(11 * kMs);
    EXPECT_THAT(recorder.events, ElementsAre("0 a start", "4000000 a preempt", "4000000 b start", "8000000 b preempt",
                                             "8000000 a resume", "8500000 a preempt", "8500000 other start",
                                             "9000000 other finish", wakes ? "9000000 b resume" : "9000000 a resume"));
  }
}

TEST(Softirqs, GoOnInKsoftirqdAfterTenPasses) {
  // Each job of the softirq raises it again, so every pass is one job.
  Engine engine;
  Cpu cpu(engine);
  cpu.set_deferred_work([](int) {
    return std::make_unique<Softirq>(SoftirqLimit{.budget = kSecond, .passes = 10},
                                     make_thread_policy(FixedPriority{5, 0}));
  });
  int left = 15;
  EntityId dpc = kNoEntity;
  Segments dpc_job({10}, [&](std::size_t segment) {
    if (segment == 1 && --left > 0) cpu.release(dpc);
  });
  Segments thread_job({100});
  dpc = cpu.add_dpc({"softirq"}, dpc_job);
  const EntityId thread = cpu.add_thread("t", FixedPriority{8, 0}, thread_job);
  Recorder recorder(cpu);
  cpu.release(dpc);
  cpu.release(thread);
  engine.run_until(10'000);
  // Ten passes of 10, then the thread, then the other five passes in ksoftirqd, which is below it.
  std::vector<std::string> ends;
  for (const std::string& e : recorder.events)
    if (e.ends_with("finish")) ends.push_back(e);
  EXPECT_THAT(ends,
              ElementsAre("10 softirq finish", "20 softirq finish", "30 softirq finish", "40 softirq finish",
                          "50 softirq finish", "60 softirq finish", "70 softirq finish", "80 softirq finish",
                          "90 softirq finish", "100 softirq finish", "200 t finish", "210 softirq finish",
                          "220 softirq finish", "230 softirq finish", "240 softirq finish", "250 softirq finish"));
}

TEST(Softirqs, GoOnInKsoftirqdWhenAPassEndsAfter2ms) {
  Engine engine;
  Cpu cpu(engine);
  cpu.set_deferred_work([](int) {
    return std::make_unique<Softirq>(SoftirqLimit{}, make_thread_policy(FixedPriority{5, 0}));
  });
  Segments dpc_job({900'000}), thread_job({100});
  const EntityId dpc = cpu.add_dpc({"softirq"}, dpc_job);
  const EntityId thread = cpu.add_thread("t", FixedPriority{8, 0}, thread_job);
  Periodic raise(engine, cpu, dpc, 0, 850'000);
  cpu.release(thread);
  Recorder recorder(cpu);
  engine.run_until(3 * kMs);
  // Passes of one job end at 0.9, 1.8 and 2.7 ms.
  EXPECT_THAT(recorder.events, ElementsAre("0 softirq start", "900000 softirq finish", "900000 softirq start",
                                           "1800000 softirq finish", "1800000 softirq start", "2700000 softirq finish",
                                           "2700000 t start", "2700100 t finish", "2700100 softirq start"));
}

TEST(Softirqs, RunBeforeThreadsAgainOnceTheQueueIsEmpty) {
  Engine engine;
  Cpu cpu(engine);
  cpu.set_deferred_work([](int) {
    return std::make_unique<Softirq>(SoftirqLimit{.budget = 5, .passes = 10}, make_thread_policy(FixedPriority{5, 0}));
  });
  Segments dpc_job({10}), thread_job({100});
  const EntityId dpc = cpu.add_dpc({"softirq"}, dpc_job);
  const EntityId thread = cpu.add_thread("t", FixedPriority{8, 0}, thread_job);
  Recorder recorder(cpu);
  Once again([&](Ns) { cpu.release(dpc); });
  engine.at(5, again);    // the second is pending when the first ends at 10: too late, so ksoftirqd runs it
  engine.at(200, again);  // a new one goes first
  cpu.release(dpc);
  cpu.release(thread);
  Once more([&](Ns) { cpu.release(thread); });
  engine.at(200, more);
  engine.run_until(1000);
  EXPECT_THAT(recorder.events, ElementsAre("0 softirq start", "10 softirq finish", "10 t start", "110 t finish",
                                           "110 softirq start", "120 softirq finish", "200 softirq start",
                                           "210 softirq finish", "210 t start", "310 t finish"));
}

}  // namespace
}  // namespace offhook::hostsim
