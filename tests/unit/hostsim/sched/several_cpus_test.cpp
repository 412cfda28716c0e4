// SPDX-License-Identifier: MIT
//
// Several CPUs: schedules worked out by hand for each way in which threads move, and two independent references: CPUs
// with pinned threads only are so many hosts, and global fixed priorities are what a loop over time units says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "hostsim/host/load.h"
#include "hostsim/sched/linux_fair.h"
#include "hostsim/sched/linux_realtime.h"
#include "hostsim/sched/windows_nt.h"
#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

using ::testing::ElementsAre;

constexpr Ns kMs = 1'000'000;

/// "3 cpu1 rt start", "7 cpu1 idle" from the event log, the only source of reports.
class LogText {
 public:
  explicit LogText(Cpu& cpu) : cpu_(cpu), events_(1 << 16) {
    EXPECT_EQ(oh_event_log_init(&log_, events_.data(), events_.size(), 0), 0);
    cpu.set_log(&log_);
  }
  std::vector<std::string> read(Ns unit = 1) {
    std::vector<std::string> lines;
    oh_event e;
    while (oh_event_log_read(&log_, &e, 1) == 1) {
      const std::string at = std::to_string(static_cast<Ns>(e.time_ns) / unit) + " cpu" + std::to_string(e.cpu) + ' ';
      if (e.kind == OH_EV_RUN) lines.push_back(at + std::string(cpu_.name(e.id)) + (e.argument ? " start" : " resume"));
      if (e.kind == OH_EV_IDLE) lines.push_back(at + "idle");
    }
    return lines;
  }

 private:
  Cpu& cpu_;
  oh_event_log log_{};
  std::vector<oh_event> events_;
};

TEST(SeveralCpus, AGlobalThreadTakesTheCpuOfTheLeastUrgentAndWaitsOutItsInterrupts) {
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  Spinner spin0, spin1;
  Segments rt_job({4}), irq_job({2});
  cpu.release(cpu.add_thread("s0", FixedPriority{8, 0}, spin0));
  cpu.release(cpu.add_thread("s1", FixedPriority{8, 0}, spin1));
  const EntityId rt = cpu.add_thread("rt", FixedPriority{20, 0}, rt_job);
  const EntityId irq = cpu.add_interrupt({"irq", 1, kNoEntity, 1}, irq_job);
  Periodic p_rt(engine, cpu, rt, 3, 10), p_irq(engine, cpu, irq, 13, 1000);
  LogText log(cpu);
  engine.run_until(20);
  EXPECT_THAT(log.read(), ElementsAre("0 cpu0 s0 start", "0 cpu1 s1 start", "3 cpu1 rt start", "7 cpu1 s1 resume",
                                      "13 cpu1 irq start", "15 cpu1 rt start", "19 cpu1 s1 resume"));
}

TEST(SeveralCpus, WhoeverIsDisplacedTakesAnIdleCpuUnlessItIsPinned) {
  for (const bool pinned : {false, true}) {
    Engine engine;
    Cpu cpu(engine, Admission::kRequired, 2);
    Segments low_job({10}), high_job({4});
    const EntityId low = cpu.add_thread("low", FixedPriority{5, 0}, low_job, kNever, pinned ? 0 : kAnyCpu);
    const EntityId high = cpu.add_thread("high", FixedPriority{6, 0}, high_job, kNever, 0);
    Periodic p_low(engine, cpu, low, 0, 1000), p_high(engine, cpu, high, 3, 1000);
    LogText log(cpu);
    engine.run_until(100);
    if (pinned) {
      EXPECT_THAT(log.read(),
                  ElementsAre("0 cpu0 low start", "3 cpu0 high start", "7 cpu0 low resume", "14 cpu0 idle"));
    } else {
      EXPECT_THAT(log.read(), ElementsAre("0 cpu0 low start", "3 cpu0 high start", "3 cpu1 low resume", "7 cpu0 idle",
                                          "10 cpu1 idle"));
    }
  }
}

// "low" is displaced at 3, continues where "high" never ran, and pays 2 for that; "high" pays 1 where "low" ran.
TEST(SeveralCpus, AThreadThatMovesPaysForItOnce) {
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  cpu.set_switch_costs({.another = 1, .migration = 2});
  Segments low_job({10}), high_job({4});
  const EntityId low = cpu.add_thread("low", FixedPriority{5, 0}, low_job);
  const EntityId high = cpu.add_thread("high", FixedPriority{6, 0}, high_job, kNever, 0);
  Periodic p_low(engine, cpu, low, 0, 1000), p_high(engine, cpu, high, 3, 1000);
  LogText log(cpu);
  engine.run_until(100);
  // 1 + 10 of low's own: 3 of them earlier, then 1 for another thread's CPU and 2 for the move.
  EXPECT_THAT(log.read(),
              ElementsAre("0 cpu0 low start", "3 cpu0 high start", "3 cpu1 low resume", "8 cpu0 idle", "14 cpu1 idle"));
  EXPECT_EQ(cpu.cpu_time(low), 14);
  EXPECT_EQ(cpu.cpu_time(high), 5);
}

// Interrupts and DPCs do not change a thread's caches here, and a thread that sleeps and wakes alone finds them again.
TEST(SwitchCosts, ArePaidForOtherThreadsOnly) {
  Engine engine;
  Cpu cpu(engine);
  cpu.set_switch_costs({.another = 7});
  Segments a_job({100}), b_job({10}), irq_job({3}), dpc_job({2});
  const EntityId a = cpu.add_thread("a", FixedPriority{5, 0}, a_job),
                 b = cpu.add_thread("b", FixedPriority{6, 0}, b_job), dpc = cpu.add_dpc({"dpc"}, dpc_job),
                 irq = cpu.add_interrupt({"irq", 1, dpc}, irq_job);
  Periodic p_a(engine, cpu, a, 0, 1000), p_irq(engine, cpu, irq, 50, 1'000'000), p_b(engine, cpu, b, 2050, 1'000'000);
  engine.run_until(2000);
  EXPECT_EQ(cpu.cpu_time(a), 207);  // once, for the first time; the caches belonged to no thread
  engine.run_until(2500);
  EXPECT_EQ(cpu.cpu_time(b), 17);
  EXPECT_EQ(cpu.cpu_time(a), 314);  // and once after b
}

TEST(SeveralCpus, EqualsTakeTurnsOnAllCpus) {
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  Segments a_job({100}), b_job({100}), c_job({100});
  const FixedPriority turns_of_4{8, 4};
  const EntityId a = cpu.add_thread("a", turns_of_4, a_job), b = cpu.add_thread("b", turns_of_4, b_job),
                 c = cpu.add_thread("c", turns_of_4, c_job);
  Periodic p_a(engine, cpu, a, 0, 1000), p_b(engine, cpu, b, 1, 1000), p_c(engine, cpu, c, 2, 1000);
  LogText log(cpu);
  engine.run_until(10);
  // A thread whose turn is over queues behind the waiting one, on any CPU.
  EXPECT_THAT(log.read(), ElementsAre("0 cpu0 a start", "1 cpu1 b start", "4 cpu0 c start", "5 cpu1 a resume",
                                      "8 cpu0 b resume", "9 cpu1 c resume"));
}

TEST(SeveralCpus, WindowsPreemptsOnTheIdealCpuOnly) {
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  const auto nt = [](int priority) {
    return OwnPolicy(
        [priority] { return std::make_unique<WindowsNtThread>(WindowsNt{.priority = priority, .boost = 0}); });
  };
  Spinner a_job, b_job;
  Segments c_job({kMs});
  cpu.release(cpu.add_thread("a", nt(10), a_job));  // ideal CPUs: 0, 1, 0
  cpu.release(cpu.add_thread("b", nt(6), b_job));
  const EntityId c = cpu.add_thread("c", nt(8), c_job);
  Periodic p_c(engine, cpu, c, kMs, 1'000 * kMs);
  LogText log(cpu);
  engine.run_until(100 * kMs);
  // c may not preempt a, and waits although b is less urgent, until the six clock intervals of b are over.
  EXPECT_THAT(log.read(1000),
              ElementsAre("0 cpu0 a start", "0 cpu1 b start", "93750 cpu1 c start", "94750 cpu1 b resume"));
}

TEST(SeveralCpus, WindowsTakesTheIdealTheLastThenTheHighestIdleCpu) {
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 4);
  const auto nt = OwnPolicy([] { return std::make_unique<WindowsNtThread>(WindowsNt{.priority = 8}); });
  Segments b_job({1}), pinned_job({100});
  const EntityId pin = cpu.add_thread("pin", nt, pinned_job, kNever, 1);
  const EntityId b = cpu.add_thread("b", nt, b_job);  // ideal: 1
  Periodic p_pin(engine, cpu, pin, 0, 1000), p_b(engine, cpu, b, 0, 50), p_late(engine, cpu, b, 120, 1000);
  LogText log(cpu);
  engine.run_until(140);
  EXPECT_THAT(log.read(),
              ElementsAre("0 cpu1 pin start", "0 cpu3 b start", "1 cpu3 idle", "50 cpu3 b start", "51 cpu3 idle",
                          "100 cpu1 b start", "101 cpu1 idle", "120 cpu1 b start", "121 cpu1 idle"));
}

TEST(SeveralCpus, EqualThreadsOnWindowsShareAllCpusEvenly) {
  for (const int spinners : {4, 5, 7, 8}) {
    Engine engine;
    Cpu cpu(engine, Admission::kRequired, 3);
    std::vector<Spinner> spin(static_cast<std::size_t>(spinners));
    std::vector<EntityId> ids;
    for (Spinner& s : spin) {
      ids.push_back(cpu.add_thread(
          "s", OwnPolicy([] { return std::make_unique<WindowsNtThread>(WindowsNt{.priority = 8, .boost = 0}); }), s));
      cpu.release(ids.back());
    }
    engine.run_until(100'000 * kMs);
    const double share = 3.0 / spinners;
    for (const EntityId id : ids) EXPECT_NEAR(static_cast<double>(cpu.cpu_time(id)) / 100e9, share, 0.02 * share);
  }
}

TEST(SeveralCpus, LinuxWakesAThreadWhereItLastRanAndTheFairOneMovesOn) {
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  const auto fair = std::make_shared<LinuxFairGroup>(1000, 2);
  const auto real_time = std::make_shared<LinuxRealTimeGroup>(1000, 2);
  Spinner fair_job;
  Segments rt_job({3 * kMs});
  cpu.release(cpu.add_thread("f", OwnPolicy([fair] { return std::make_unique<LinuxFairThread>(fair); }), fair_job));
  const EntityId rt = cpu.add_thread("r", OwnPolicy([real_time] {
                                       return std::make_unique<LinuxRealTimeThread>(LinuxRealTime{50, 0}, real_time);
                                     }),
                                     rt_job);
  Periodic p_rt(engine, cpu, rt, 2 * kMs, 10 * kMs);
  LogText log(cpu);
  engine.run_until(16 * kMs);
  EXPECT_THAT(log.read(kMs), ElementsAre("0 cpu0 f start", "2 cpu0 r start", "2 cpu1 f resume", "5 cpu0 idle",
                                         "12 cpu0 r start", "15 cpu0 idle"));
}

TEST(SeveralCpus, LinuxPushesARealTimeThreadThatMustWait) {
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  const auto group = std::make_shared<LinuxRealTimeGroup>(1000, 2);
  const auto fifo = [&](int priority) {
    return OwnPolicy([group, priority] {
      return std::make_unique<LinuxRealTimeThread>(LinuxRealTime{priority, 0}, group);
    });
  };
  Segments a_job({10 * kMs}), b_job({20 * kMs}), c_job({5 * kMs});
  const EntityId a = cpu.add_thread("a", fifo(50), a_job), b = cpu.add_thread("b", fifo(40), b_job),
                 c = cpu.add_thread("c", fifo(45), c_job);
  Periodic p_a(engine, cpu, a, 0, 1000 * kMs), p_b(engine, cpu, b, 1 * kMs, 1000 * kMs),
      p_c(engine, cpu, c, 2 * kMs, 1000 * kMs);
  LogText log(cpu);
  engine.run_until(40 * kMs);
  // Each wakes on CPU 0, where a runs: b is pushed to the idle CPU 1, c to b's CPU. b continues on free CPU 1 at 7.
  EXPECT_THAT(log.read(kMs), ElementsAre("0 cpu0 a start", "1 cpu1 b start", "2 cpu1 c start", "7 cpu1 b resume",
                                         "10 cpu0 idle", "26 cpu1 idle"));
}

// CPU 1 has had no real-time thread for two seconds, and the last one was throttled there. Time still passes.
TEST(SeveralCpus, LinuxPushesARealTimeThreadWhereNoneWasForLong) {
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  const auto group = std::make_shared<LinuxRealTimeGroup>(1000, 2);
  const auto fifo = [&](int priority) {
    return OwnPolicy([group, priority] {
      return std::make_unique<LinuxRealTimeThread>(LinuxRealTime{priority, 0}, group);
    });
  };
  constexpr Ns kOnce = 1'000'000 * kMs;
  Segments hog_job({951 * kMs}), high_job({10 * kMs}), low_job({5 * kMs});
  const EntityId hog = cpu.add_thread("hog", fifo(30), hog_job, kNever, 1);
  const EntityId high = cpu.add_thread("high", fifo(20), high_job, kNever, 0);
  const EntityId low = cpu.add_thread("low", fifo(10), low_job);
  Periodic p_hog(engine, cpu, hog, 0, kOnce), p_high(engine, cpu, high, 3499 * kMs, kOnce),
      p_low(engine, cpu, low, 3501 * kMs, kOnce);
  LogText log(cpu);
  engine.run_until(4000 * kMs);
  EXPECT_THAT(log.read(kMs), ElementsAre("0 cpu1 hog start", "951 cpu1 idle", "3499 cpu0 high start",
                                         "3501 cpu1 low start", "3506 cpu1 idle", "3509 cpu0 idle"));
}

TEST(SeveralCpus, FourFairSpinnersShareTwoCpusEvenly) {
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  const auto fair = std::make_shared<LinuxFairGroup>(250, 2);
  Spinner spin[4];
  std::vector<EntityId> ids;
  for (Spinner& s : spin) {
    ids.push_back(cpu.add_thread("f", OwnPolicy([fair] { return std::make_unique<LinuxFairThread>(fair); }), s));
    cpu.release(ids.back());
  }
  engine.run_until(1000 * kMs);
  for (const EntityId id : ids) EXPECT_NEAR(static_cast<double>(cpu.cpu_time(id)), 500e6, 4e6);  // a tick
}

// Dhall and Liu 1978: beside two light tasks of the earlier deadline on two CPUs, a task of U = 10/11 misses.
TEST(SeveralCpus, GlobalEdfHasDhallsEffect) {
  Engine engine;
  Cpu cpu(engine, Admission::kNone, 2);
  Segments light0({2}), light1({2}), heavy({10});
  const EntityId l0 = cpu.add_thread("l0", EarliestDeadline{}, light0, 10);
  const EntityId l1 = cpu.add_thread("l1", EarliestDeadline{}, light1, 10);
  const EntityId h = cpu.add_thread("h", EarliestDeadline{}, heavy, 11);
  Periodic p0(engine, cpu, l0, 0, 100), p1(engine, cpu, l1, 0, 100), ph(engine, cpu, h, 0, 100);
  Recorder recorder(cpu);
  engine.run_until(100);
  EXPECT_THAT(recorder.events, ElementsAre("0 l0 start", "0 l1 start", "2 l0 finish", "2 l1 finish", "2 h start",
                                           "11 h miss", "12 h finish"));
}

TEST(SeveralCpus, ReservationsMustFitIntoTheirCpuOrAllOfThem) {
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  Spinner spin;
  const ConstantBandwidth sixty{6, 10};
  cpu.add_thread("a", sixty, spin, kNever, 0);
  EXPECT_THROW(cpu.add_thread("b", sixty, spin, kNever, 0), std::invalid_argument);
  cpu.add_thread("c", sixty, spin, kNever, 1);
  cpu.add_thread("d", sixty, spin);
  EXPECT_THROW(cpu.add_thread("e", sixty, spin), std::invalid_argument);                            // 240 % of two
  EXPECT_THROW(cpu.add_thread("f", Slot{.length = 5, .period = 10}, spin), std::invalid_argument);  // stays on CPU 0
}

TEST(SeveralCpus, AnEntityOnACpuThatIsNotThereIsRefused) {
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  Spinner spin;
  EXPECT_THROW(cpu.add_thread("t", FixedPriority{}, spin, kNever, 2), std::invalid_argument);
  EXPECT_THROW(cpu.add_interrupt({"i", 1, kNoEntity, -1}, spin), std::invalid_argument);
  EXPECT_THROW(Cpu(engine, Admission::kNone, 0), std::invalid_argument);
}

/// Random interrupts with a DPC, and threads of all policies without shared state, on CPU `pin` of `cpu`.
struct RandomHost {
  RandomHost(Engine& engine, Cpu& cpu, int pin, int number) {
    std::mt19937 draw(static_cast<unsigned>(number));
    const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(draw); };
    for (int i = 0; i < 8; i++) {
      jobs.push_back(std::make_unique<Segments>(std::vector<Ns>{pick(1, 9), pick(1, 9)}));
      const std::string name = std::to_string(10 * number + i);
      EntityId id = kNoEntity;
      switch (i) {
        case 0:
          dpc = cpu.add_dpc({.name = name, .cpu = pin}, *jobs.back());
          continue;
        case 1:
          id = cpu.add_interrupt({name, 5, dpc, pin}, *jobs.back());
          break;
        case 2:
          id = cpu.add_thread(name, ConstantBandwidth{pick(2, 10), 60}, *jobs.back(), kNever, pin);
          break;
        case 3:
          id =
              cpu.add_thread(name, Rez{.budget = 5, .period = 50, .offset = 3, .background = 2}, *jobs.back(), 40, pin);
          break;
        case 4:
          id = cpu.add_thread(name, EarliestDeadline{}, *jobs.back(), pick(20, 80), pin);
          break;
        default:
          id = cpu.add_thread(name, FixedPriority{pick(1, 4), pick(0, 5)}, *jobs.back(), 100, pin);
      }
      releases.push_back(std::make_unique<Periodic>(engine, cpu, id, pick(0, 50), pick(60, 200)));
    }
  }
  EntityId dpc = kNoEntity;
  std::vector<std::unique_ptr<Segments>> jobs;
  std::vector<std::unique_ptr<Periodic>> releases;
};

TEST(SeveralCpus, WithEverythingPinnedAreSoManyHosts) {
  for (int seed = 0; seed < 50; seed++) {
    std::vector<std::string> apart;
    for (int pin = 0; pin < 3; pin++) {
      Engine engine;
      Cpu cpu(engine, Admission::kNone);
      const RandomHost host(engine, cpu, 0, seed + pin);
      Recorder recorder(cpu);
      engine.run_until(20'000);
      apart.insert(apart.end(), recorder.events.begin(), recorder.events.end());
    }
    Engine engine;
    Cpu cpu(engine, Admission::kNone, 3);
    std::vector<std::unique_ptr<RandomHost>> hosts;
    for (int pin = 0; pin < 3; pin++) hosts.push_back(std::make_unique<RandomHost>(engine, cpu, pin, seed + pin));
    Recorder together(cpu);
    engine.run_until(20'000);
    std::sort(apart.begin(), apart.end());
    std::sort(together.events.begin(), together.events.end());
    ASSERT_GT(apart.size(), 500u);
    ASSERT_EQ(together.events, apart) << "seed " << seed;
  }
}

/// Finish times of each task's jobs under global preemptive fixed priorities, by brute force in unit steps.
struct Task {
  int priority;
  Ns offset, period, cost;
};
std::vector<std::vector<Ns>> by_brute_force(const std::vector<Task>& tasks, int cpus, Ns horizon) {
  std::vector<std::vector<Ns>> finished(tasks.size());
  std::vector<Ns> left(tasks.size()), queue(tasks.size());
  std::vector<std::size_t> order(tasks.size());
  for (std::size_t i = 0; i < order.size(); i++) order[i] = i;
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return tasks[a].priority > tasks[b].priority; });
  for (Ns t = 0; t < horizon; t++) {
    for (std::size_t i = 0; i < tasks.size(); i++) {
      if (t >= tasks[i].offset && (t - tasks[i].offset) % tasks[i].period == 0) queue[i]++;
      if (left[i] == 0 && queue[i] > 0) {
        queue[i]--;
        left[i] = tasks[i].cost;
      }
    }
    int free = cpus;
    for (const std::size_t i : order) {
      if (left[i] == 0 || free-- <= 0) continue;
      if (--left[i] == 0) finished[i].push_back(t + 1);
    }
  }
  return finished;
}

class Finishes final : public CpuObserver {
 public:
  explicit Finishes(std::size_t entities) : at(entities) {}
  void on_event(Ns time, EntityId id, Kind kind) override {
    if (kind == Kind::kFinish) at[id].push_back(time);
  }
  std::vector<std::vector<Ns>> at;
};

TEST(SeveralCpus, GlobalFixedPrioritiesAreThoseOfABruteForceSchedule) {
  for (unsigned seed = 0; seed < 60; seed++) {
    std::mt19937 draw(seed);
    const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(draw); };
    const int cpus = pick(2, 4);
    std::vector<Task> tasks;
    for (int i = 0; i < 8; i++) tasks.push_back({i + 1, pick(0, 30), pick(20, 60), pick(3, 22)});
    std::shuffle(tasks.begin(), tasks.end(), draw);
    const auto expected = by_brute_force(tasks, cpus, 3000);
    for (const bool linux : {false, true}) {
      Engine engine;
      Cpu cpu(engine, Admission::kNone, cpus);
      const auto group = std::make_shared<LinuxRealTimeGroup>(1000, cpus);
      std::vector<std::unique_ptr<Segments>> jobs;
      std::vector<std::unique_ptr<Periodic>> releases;
      for (const Task& t : tasks) {
        jobs.push_back(std::make_unique<Segments>(std::vector<Ns>{t.cost}));
        const LinuxRealTime fifo{t.priority, 0};
        const EntityId id =
            cpu.add_thread("t",
                           linux ? Policy{OwnPolicy([=] { return std::make_unique<LinuxRealTimeThread>(fifo, group); })}
                                 : Policy{FixedPriority{t.priority, 0}},
                           *jobs.back());
        releases.push_back(std::make_unique<Periodic>(engine, cpu, id, t.offset, t.period));
      }
      Finishes finishes(tasks.size());
      cpu.set_observer(&finishes);
      engine.run_until(3001);
      for (auto& times : finishes.at) std::erase_if(times, [](Ns t) { return t > 3000; });
      EXPECT_EQ(finishes.at, expected) << "seed " << seed << (linux ? ", Linux" : "");
    }
  }
}

}  // namespace
}  // namespace offhook::hostsim
