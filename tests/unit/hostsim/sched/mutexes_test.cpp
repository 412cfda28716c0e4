// SPDX-License-Identifier: MIT
//
// Mutexes of threads: schedules worked out by hand for each protocol, and what Linux's proxy execution is documented to
// do.
#include "hostsim/sched/mutexes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "hostsim/cpu/critical_section.h"
#include "hostsim/engine/random.h"
#include "hostsim/sched/scheduler.h"
#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Class = ThreadRequest::Class;

constexpr Ns kMs = 1'000'000;

struct Section {
  const char* mutex;
  Ns after, length;
};

struct Host {
  explicit Host(LockProtocol protocol, int cpus = 1) : mutexes(protocol), cpu(engine, Admission::kNone, cpus) {}

  EntityId thread(const std::string& name, const Policy& policy, Ns cost, const std::vector<Section>& sections,
                  Ns release, Ns deadline = kNever, int on = kAnyCpu) {
    const auto member = mutexes.member(name);
    std::vector<CriticalSection> critical;
    for (const Section& s : sections) critical.push_back({mutexes.mutex(s.mutex), s.after, s.length});
    jobs.push_back(std::make_unique<SectionedJob>(cost, critical, mutexes, member));
    const EntityId id = cpu.add_thread(name, mutexes.policy(member, policy), *jobs.back(), deadline, on);
    release_at(release, id);
    return id;
  }
  void release_at(Ns time, EntityId id) {
    once.push_back(std::make_unique<Once>([this, id](Ns) { cpu.release(id); }));
    engine.at(time, *once.back());
  }

  Mutexes mutexes;
  Engine engine;
  Cpu cpu;
  std::vector<std::unique_ptr<SectionedJob>> jobs;
  std::vector<std::unique_ptr<Once>> once;
};

// low has M from 1 to 5 of its CPU time; high wants it at 3, middle comes at 4.
std::vector<std::string> inversion(LockProtocol protocol) {
  Host host(protocol);
  host.thread("low", FixedPriority{1, 0}, 8, {{"M", 1, 4}}, 0);
  host.thread("middle", FixedPriority{5, 0}, 20, {}, 4);
  host.thread("high", FixedPriority{9, 0}, 3, {{"M", 1, 1}}, 2);
  Recorder recorder(host.cpu);
  host.engine.run_until(1000);
  return recorder.events;
}

TEST(Mutexes, PlainAMiddleThreadKeepsTheUrgentOneWaiting) {
  EXPECT_THAT(inversion(LockProtocol::kPlain),
              ElementsAre("0 low start", "2 low preempt", "2 high start", "3 high preempt", "3 low resume",
                          "4 low preempt", "4 middle start", "24 middle finish", "24 low resume", "26 low preempt",
                          "26 high resume", "28 high finish", "28 low resume", "31 low finish"));
}

// Until it releases M, low goes before middle: high finishes at 8, not at 28.
TEST(Mutexes, WithInheritanceAndByProxyTheHolderGoesFirst) {
  for (const LockProtocol protocol : {LockProtocol::kInherit, LockProtocol::kProxy}) {
    EXPECT_THAT(inversion(protocol),
                ElementsAre("0 low start", "2 low preempt", "2 high start", "3 high preempt", "3 low resume",
                            "6 low preempt", "6 high resume", "8 high finish", "8 middle start", "28 middle finish",
                            "28 low resume", "31 low finish"));
  }
}

// The holder h has 2 of every 20. It has spent them at 2 and then needs 3 more of the 4 with M; the server w, with 4 of
// every 10 and the deadline 12, wants M at 3.
std::vector<std::string> budgets(LockProtocol protocol) {
  Host host(protocol);
  host.thread("h", ConstantBandwidth{2, 20}, 7, {{"M", 1, 4}}, 0);
  host.thread("w", ConstantBandwidth{4, 10}, 3, {{"M", 1, 1}}, 2);
  host.thread("e", EarliestDeadline{}, 6, {}, 5, 15);
  Recorder recorder(host.cpu);
  host.engine.run_until(45);
  return recorder.events;
}

// h has its next budgets at 20 and 40, and M until 41. Then w wakes with a new budget and the deadline 51, before
// h's 60.
TEST(Mutexes, PlainAHolderWithoutBudgetKeepsTheOtherServerWaiting) {
  EXPECT_THAT(budgets(LockProtocol::kPlain),
              ElementsAre("0 h start", "2 h throttle", "2 w start", "3 w preempt", "5 e start", "11 e finish",
                          "20 h replenish", "20 h resume", "22 h throttle", "40 h replenish", "40 h resume",
                          "41 h preempt", "41 w resume", "43 w finish", "43 h resume", "44 h throttle"));
}

// h has w's deadline, 12, and its time after its own budget is charged to nobody: w wakes at 6 with 3 of 4.
TEST(Mutexes, WithInheritanceTheDeadlineIsLentAndTheBudgetIsNot) {
  EXPECT_THAT(
      budgets(LockProtocol::kInherit),
      ElementsAre("0 h start", "2 h throttle", "2 w start", "3 w preempt", "3 h resume", "6 h preempt", "6 w resume",
                  "8 w finish", "8 e start", "14 e finish", "20 h replenish", "20 h resume", "22 h finish"));
}

// By proxy the 3 are charged to w: at 6 it has M and no budget, and continues at 12 with the next. e, whose deadline is
// 20, waits for the deadline 12 until then.
TEST(Mutexes, ByProxyTheWaitersBudgetPays) {
  EXPECT_THAT(budgets(LockProtocol::kProxy),
              ElementsAre("0 h start", "2 h throttle", "2 w start", "3 w preempt", "3 h resume", "6 w throttle",
                          "6 h preempt", "6 e start", "12 e finish", "12 w replenish", "12 w resume", "14 w finish",
                          "20 h replenish", "20 h resume", "22 h finish"));
}

// c has L, b has M and waits for L, a waits for M: c runs for a. At 3 x comes, more urgent than b and c.
TEST(Mutexes, ChainsAreFollowed) {
  for (const LockProtocol protocol : {LockProtocol::kInherit, LockProtocol::kProxy}) {
    Host host(protocol);
    host.thread("c", FixedPriority{1, 0}, 5, {{"L", 0, 4}}, 0);
    host.thread("b", FixedPriority{2, 0}, 3, {{"M", 0, 3}, {"L", 1, 1}}, 1);
    host.thread("a", FixedPriority{9, 0}, 2, {{"M", 1, 1}}, 2);
    host.thread("x", FixedPriority{5, 0}, 10, {}, 3);
    Recorder recorder(host.cpu);
    host.engine.run_until(1000);
    EXPECT_THAT(recorder.events,
                ElementsAre("0 c start", "1 c preempt", "1 b start", "2 b preempt", "2 a start", "3 a preempt",
                            "3 c resume", "6 c preempt", "6 b resume", "8 b finish", "8 a resume", "9 a finish",
                            "9 x start", "19 x finish", "19 c resume", "20 c finish"));
  }
}

// Both wait for M, w1 first. Inheritance gives it to the more urgent one; plain to the one that waits longer.
TEST(Mutexes, AMutexGoesToTheLongestWaiterOrTheMostUrgentOne) {
  const auto second = [](LockProtocol protocol) {
    Host host(protocol);
    host.thread("low", FixedPriority{1, 0}, 6, {{"M", 0, 6}}, 0);
    host.thread("w1", FixedPriority{5, 0}, 2, {{"M", 0, 1}}, 1);
    host.thread("w2", FixedPriority{9, 0}, 2, {{"M", 0, 1}}, 2);
    Recorder recorder(host.cpu);
    host.engine.run_until(1000);
    return recorder.events.at(10);
  };
  EXPECT_EQ(second(LockProtocol::kPlain), "6 w1 resume");
  EXPECT_EQ(second(LockProtocol::kInherit), "6 w2 resume");
  EXPECT_EQ(second(LockProtocol::kProxy), "6 w2 resume");  // low ran in its context
}

// A thread that slept queues behind its equals; one that stayed runnable keeps its place before them.
TEST(Mutexes, OnlyASleeperQueuesAnew) {
  const auto run = [](LockProtocol protocol) {
    Host host(protocol);
    host.thread("low", FixedPriority{1, 0}, 6, {{"M", 0, 2}}, 0);
    host.thread("w", FixedPriority{5, 0}, 2, {{"M", 0, 1}}, 1);
    host.thread("equal", FixedPriority{5, 0}, 3, {}, 1);
    Recorder recorder(host.cpu);
    host.engine.run_until(1000);
    return recorder.events;
  };
  EXPECT_THAT(run(LockProtocol::kPlain), ElementsAre("0 low start", "1 low preempt", "1 w start", "1 w preempt",
                                                     "1 equal start", "4 equal finish", "4 low resume", "5 low preempt",
                                                     "5 w resume", "7 w finish", "7 low resume", "11 low finish"));
  EXPECT_THAT(
      run(LockProtocol::kProxy),
      ElementsAre("0 low start", "1 low preempt", "1 w start", "1 w preempt", "1 low resume", "2 low preempt",
                  "2 w resume", "4 w finish", "4 equal start", "7 equal finish", "7 low resume", "11 low finish"));
}

/// At every event: no two threads are inside sections of one
/// mutex, and none had more time than the cost of its jobs.
class Exclusion final : public CpuObserver {
 public:
  struct Thread {
    EntityId id;
    Ns cost;
    std::vector<Section> sections;
    Ns finished = 0;
  };
  Exclusion(Cpu& cpu, std::vector<Thread> all) : threads(std::move(all)), cpu_(cpu) { cpu.set_observer(this); }
  void on_event(Ns, EntityId entity, Kind kind) override {
    std::map<std::string, int> inside;
    for (Thread& t : threads) {
      if (t.id == entity && kind == Kind::kFinish) t.finished++;
      const Ns at = cpu_.cpu_time(t.id) - t.finished * t.cost;
      wrong += at < 0 || at > t.cost;
      for (const Section& s : t.sections) inside[s.mutex] += s.after < at && at < s.after + s.length;
    }
    for (const auto& [mutex, n] : inside) wrong += n > 1;
    events++;
  }
  std::vector<Thread> threads;
  std::int64_t events = 0, wrong = 0;

 private:
  Cpu& cpu_;
};

TEST(Mutexes, RandomThreadsExcludeOneAnotherAndHaveTheirTime) {
  std::int64_t events = 0;
  for (std::uint64_t seed = 0; seed < 300; seed++) {
    const Random random(seed, 1);
    std::uint64_t draws = 0;
    const auto number = [&](Ns least, Ns most) {
      return least + static_cast<Ns>(random.uniform(draws++) * static_cast<double>(most - least + 1));
    };
    Host host(static_cast<LockProtocol>(number(0, 2)), static_cast<int>(number(1, 2)));
    std::vector<Exclusion::Thread> threads;
    for (Ns i = number(2, 5); i > 0; i--) {
      const Ns cost = number(4, 30), first = number(0, cost / 2 - 1), inner = number(first + 1, cost - 1);
      std::vector<Section> sections = {{"L", first, cost - first}};
      if (number(0, 1) == 1) sections.push_back({"M", inner, number(1, cost - inner)});
      if (number(0, 3) == 0) sections.clear();
      const Policy policies[] = {FixedPriority{static_cast<int>(number(0, 3)), number(0, 5)},
                                 ConstantBandwidth{number(1, 8), number(8, 50)}, EarliestDeadline{},
                                 Rez{number(1, 8), number(8, 50), 0, static_cast<int>(number(-1, 3))}};
      const auto& policy = policies[number(0, 3)];
      const EntityId id = host.thread(std::to_string(i), policy, cost, sections, number(0, 50), number(50, 200));
      for (int again = 0; again < 10; again++) host.release_at(number(50, 3000), id);
      threads.push_back({id, cost, sections});
    }
    Exclusion seen(host.cpu, threads);
    host.engine.run_until(20'000);
    EXPECT_EQ(seen.wrong, 0) << seed;
    events += seen.events;
    for (const auto& t : seen.threads) EXPECT_EQ(t.finished, 11) << seed;
  }
  EXPECT_GT(events, 30'000);
}

TEST(Mutexes, WhoWouldWaitForEverIsNamed) {
  for (const LockProtocol protocol : {LockProtocol::kPlain, LockProtocol::kInherit, LockProtocol::kProxy}) {
    Host host(protocol);
    host.thread("a", FixedPriority{1, 0}, 5, {{"L", 0, 5}, {"M", 2, 1}}, 0);
    host.thread("b", FixedPriority{2, 0}, 5, {{"M", 0, 5}, {"L", 1, 1}}, 1);
    EXPECT_THAT([&] { host.engine.run_until(1000); },
                ThrowsMessage<std::runtime_error>(HasSubstr("a waits for b, which waits for a")));
  }
}

// Linux 6.17 proxies on one run queue: a holder on another CPU is not helped, and its waiter sleeps.
TEST(Mutexes, AHolderOnAnotherCpuRunsByItself) {
  const auto finished = [](int holders_cpu) {
    Host host(LockProtocol::kProxy, 2);
    host.thread("low", FixedPriority{1, 0}, 6, {{"M", 0, 4}}, 0, kNever, holders_cpu);
    host.thread("middle", FixedPriority{5, 0}, 50, {}, 2, kNever, holders_cpu);
    host.thread("high", FixedPriority{9, 0}, 3, {{"M", 1, 1}}, 1, kNever, 0);
    Recorder recorder(host.cpu);
    host.engine.run_until(1000);
    for (const std::string& e : recorder.events)
      if (e.ends_with("high finish")) return std::stoi(e);
    return -1;
  };
  EXPECT_EQ(finished(0), 7);   // 1 alone, 1 + 3 with M, 2 of its own
  EXPECT_EQ(finished(1), 56);  // behind middle
}

// The kernel's test of proxy execution below sched_ext (tools/testing/selftests/sched_ext, 7.4): a holder of nice 19, a
// waiter of nice -20 and a thread of nice 0 that never blocks, on one CPU. Its text gives no times, but the weights do:
// in its own context the holder has 15 parts of 1039 beside the third thread, in the waiter's 88761 of 89785.
Ns waits_beside_a_hog(LockProtocol protocol, const char* scheduler) {
  Host host(protocol);
  const auto of = make_scheduler(PolicyUse::kThreads, scheduler, {.tick_hz = 1000});
  const auto nice = [&](int n) { return of->thread({.wants = Class::kNice, .nice = n}); };
  host.thread("owner", nice(19), 30 * kMs, {{"M", 0, 20 * kMs}}, 0);
  host.thread("donor", nice(-20), 2 * kMs, {{"M", 1 * kMs, 1 * kMs}}, 1 * kMs);
  host.thread("hog", nice(0), kNever / 2, {}, 2 * kMs);
  Recorder recorder(host.cpu);
  host.engine.run_until(60'000 * kMs);
  for (const std::string& e : recorder.events)
    if (e.ends_with("donor finish")) return std::stoll(e);
  return kNever;
}

TEST(Mutexes, ByProxyFairThreadsLendTheirWeight) {
  for (const char* scheduler : {"linux", "linux-6.6", "linux-6.12"}) {
    SCOPED_TRACE(scheduler);
    const Ns plain = waits_beside_a_hog(LockProtocol::kPlain, scheduler);
    EXPECT_GT(plain, 1000 * kMs);  // 19 ms at 15 of 1039 parts take 1316 ms
    EXPECT_LT(plain, 1700 * kMs);
    EXPECT_EQ(waits_beside_a_hog(LockProtocol::kInherit, scheduler),
              plain);  // rt_mutex lends real-time priorities only
    EXPECT_LT(waits_beside_a_hog(LockProtocol::kProxy, scheduler), 30 * kMs);
  }
}

// A fair thread lends no priority of its own, but passes on a lent one to the thread it waits for.
TEST(Mutexes, WithInheritanceAPriorityGoesThroughAFairThread) {
  Host host(LockProtocol::kInherit);
  const auto linux = make_scheduler(PolicyUse::kThreads, "linux-6.12", {.tick_hz = 1000});
  const auto fair = [&] { return linux->thread({.wants = Class::kNice}); };
  host.thread("holder", fair(), 20 * kMs, {{"L", 0, 10 * kMs}}, 0);
  host.thread("between", fair(), 12 * kMs, {{"M", 0, 12 * kMs}, {"L", 1, 1 * kMs}}, 1 * kMs);
  host.thread("urgent", linux->thread({.wants = Class::kFifo, .priority = 50}), 2 * kMs, {{"M", 0, 1 * kMs}}, 8 * kMs);
  host.thread("hog", fair(), kNever / 2, {}, 8 * kMs);
  Recorder recorder(host.cpu);
  host.engine.run_until(100 * kMs);
  // The 22 ms that holder and between need with their mutexes, without the hog, and 2 of its own.
  EXPECT_THAT(recorder.events, ::testing::Contains(std::to_string(24 * kMs) + " urgent finish"));
}

// A SCHED_DEADLINE thread's budget ends in another thread's time, and a throttled holder runs by proxy.
TEST(Mutexes, ByProxyAFairHolderRunsInADeadlineReservation) {
  const auto done = [](LockProtocol protocol) {
    Host host(protocol);
    const auto linux = make_scheduler(PolicyUse::kThreads, "linux-6.12", {.tick_hz = 1000});
    const auto deadline = make_scheduler(PolicyUse::kReservations, "deadline", {.tick_hz = 1000});
    host.thread("holder", linux->thread({.wants = Class::kNice}), 20 * kMs, {{"M", 0, 10 * kMs}}, 0);
    host.thread("modem", deadline->reserve({.budget = 4 * kMs, .period = 12 * kMs}), 2 * kMs, {{"M", 0, 1 * kMs}},
                2 * kMs);
    host.thread("fifo", linux->thread({.wants = Class::kFifo, .priority = 50}), 100 * kMs, {}, 3 * kMs);
    Recorder recorder(host.cpu);
    host.engine.run_until(1000 * kMs);
    for (const std::string& e : recorder.events)
      if (e.ends_with("modem finish")) return std::stoll(e);
    return -1LL;
  };
  // 8 ms remain in M: 1 ms without competition, 7 behind the SCHED_FIFO thread; then the modem wakes with 2 ms to run.
  EXPECT_EQ(done(LockProtocol::kPlain), (3 + 100 + 7 + 2) * kMs);
  EXPECT_EQ(done(LockProtocol::kInherit), (2 + 8 + 2) * kMs);
  // Its own 4 ms at 2, at 14 and, with 2 ms of its own, at 26.
  EXPECT_EQ(done(LockProtocol::kProxy), (26 + 2) * kMs);
}

}  // namespace
}  // namespace offhook::hostsim
