// SPDX-License-Identifier: MIT
//
// What Linux has since 7.0 or is proposed to have: sched_ext's deadline server beneath scx_simple, and the hierarchical
// constant bandwidth server. Against what their patches and tests say, and schedules worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hostsim/sched/linux_rt_group.h"
#include "hostsim/sched/scheduler.h"
#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

using ::testing::ElementsAre;
using Class = ThreadRequest::Class;

constexpr Ns kMs = 1'000'000, kSecond = 1'000'000'000;

struct Host {
  explicit Host(int hz = 1000, int cpus = 1)
      : cpu(engine, Admission::kRequired, cpus),
        scheduler(make_scheduler(PolicyUse::kThreads, "linux-7.0-scx-simple", {.cpus = cpus, .tick_hz = hz})),
        groups(make_scheduler(PolicyUse::kReservations, "hcbs", {.cpus = cpus, .tick_hz = hz})) {
    cpu.set_deferred_work([this](int n) { return scheduler->deferred_work(n); });
  }
  EntityId ext(std::string name, Program& job, int nice = 0) {
    return cpu.add_thread(std::move(name), scheduler->thread({.wants = Class::kNice, .nice = nice}), job);
  }
  EntityId fifo(std::string name, Program& job, int priority) {
    return cpu.add_thread(std::move(name), scheduler->thread({.priority = priority}), job);
  }
  EntityId grouped(std::string name, Program& job, Ns budget, Ns period, const char* group = "") {
    return cpu.add_thread(std::move(name), groups->reserve({.budget = budget, .period = period, .group = group}), job);
  }
  void release_at(Ns time, EntityId id) {
    once.push_back(std::make_unique<Once>([this, id](Ns) { cpu.release(id); }));
    engine.at(time, *once.back());
  }
  Engine engine;
  Cpu cpu;
  std::shared_ptr<Scheduler> scheduler, groups;
  std::vector<std::unique_ptr<Once>> once;
};

std::vector<std::string> in_ms(const std::vector<std::string>& events) {
  std::vector<std::string> out;
  for (const std::string& e : events) {
    const auto space = e.find(' ');
    const Ns ns = std::stoll(e.substr(0, space));
    out.push_back((ns % kMs == 0 ? std::to_string(ns / kMs) : std::to_string(ns) + "ns") + e.substr(space));
  }
  return out;
}

// The kernel's own test, tools/testing/selftests/sched_ext/rt_stall.c: beside a spinning SCHED_FIFO 50 thread, an ext
// thread has at least 4 % of five seconds.
TEST(ExtServer, AnExtThreadHasFourPercentBesideARealTimeHog) {
  Host host(250);
  Segments rt_job({kNever}), ext_job({kNever});
  const EntityId rt = host.fifo("rt", rt_job, 50), ext = host.ext("ext", ext_job);
  host.cpu.release(rt);
  host.cpu.release(ext);
  host.engine.run_until(5 * kSecond);
  EXPECT_GE(host.cpu.cpu_time(ext), 200 * kMs);
  EXPECT_LE(host.cpu.cpu_time(ext), 300 * kMs);  // and the cause is the server's 50 ms a second, not a share
}

TEST(ExtServer, WaitsAsTheFairOneDoes) {
  Host host;
  Segments rt_job({kNever}), ext_job({kNever});
  const EntityId rt = host.fifo("rt", rt_job, 50), ext = host.ext("ext", ext_job);
  Recorder recorder(host.cpu);
  host.cpu.release(rt);
  host.cpu.release(ext);
  host.engine.run_until(1900 * kMs);
  EXPECT_THAT(in_ms(recorder.events),
              ElementsAre("0 rt start", "950 rt preempt", "950 ext start", "1000 ext preempt", "1000 rt resume"));
}

TEST(ScxSimple, SlicesAre20msAndEndAtATick) {
  for (const auto& [hz, slice] : {std::pair{1000, Ns{20}}, std::pair{300, Ns{20}}, std::pair{64, Ns{31}}}) {
    Host host(hz);
    Segments a({kNever}), b({kNever});
    const EntityId ids[] = {host.ext("a", a), host.ext("b", b)};
    for (const EntityId id : ids) host.cpu.release(id);
    host.engine.run_until(slice * kMs);
    EXPECT_EQ(host.cpu.cpu_time(ids[1]), 0) << hz;
    host.engine.run_until((slice + 1) * kMs);
    EXPECT_GT(host.cpu.cpu_time(ids[1]), 0) << hz;
  }
}

TEST(ScxSimple, ThreadsShareByTheirWeights) {
  Host host;
  Segments a({kNever}), b({kNever}), c({kNever});
  const EntityId ids[] = {host.ext("a", a), host.ext("b", b, 5), host.ext("c", c, -5)};
  for (const EntityId id : ids) host.cpu.release(id);
  host.engine.run_until(100 * kSecond);
  const double steps = 3.0517578125, all = 1 + 1 / steps + steps;
  EXPECT_NEAR(static_cast<double>(host.cpu.cpu_time(ids[0])), 100e9 / all, 100e6);
  EXPECT_NEAR(static_cast<double>(host.cpu.cpu_time(ids[1])), 100e9 / all / steps, 100e6);
  EXPECT_NEAR(static_cast<double>(host.cpu.cpu_time(ids[2])), 100e9 / all * steps, 100e6);
}

// scx_simple does not preempt. A woken task waits for the end of the slice. Then it runs before those that have run,
// because its sleep counts as one slice at most.
TEST(ScxSimple, OneThatWakesWaitsForTheSliceAndGoesFirst) {
  Host host;
  Segments a({kNever}), b({kNever}), job({3 * kMs});
  const EntityId ids[] = {host.ext("a", a), host.ext("b", b)}, sleeper = host.ext("sleeper", job);
  for (const EntityId id : ids) host.cpu.release(id);
  host.engine.run_until(400 * kMs);
  Recorder recorder(host.cpu);
  host.release_at(405 * kMs, sleeper);
  host.engine.run_until(430 * kMs);
  EXPECT_THAT(in_ms(recorder.events), ElementsAre("400 b preempt", "400 a resume", "420 a preempt", "420 sleeper start",
                                                  "423 sleeper finish", "423 b resume"));
}

TEST(ScxSimple, ASliceGoesOnAfterARealTimeThread) {
  Host host;
  Segments a({kNever}), b({kNever}), rt_job({5 * kMs});
  const EntityId ids[] = {host.ext("a", a), host.ext("b", b)}, rt = host.fifo("rt", rt_job, 1);
  Recorder recorder(host.cpu);
  for (const EntityId id : ids) host.cpu.release(id);
  host.release_at(12 * kMs, rt);
  host.engine.run_until(26 * kMs);
  EXPECT_THAT(in_ms(recorder.events), ElementsAre("0 a start", "12 a preempt", "12 rt start", "17 rt finish",
                                                  "17 a resume", "25 a preempt", "25 b start"));
}

TEST(ScxSimple, TwoCpusHaveOneQueue) {
  Host host(1000, 2);
  std::vector<std::unique_ptr<Segments>> jobs;
  std::vector<EntityId> ids;
  for (int i = 0; i < 3; i++) {
    jobs.push_back(std::make_unique<Segments>(std::vector<Ns>{kNever}));
    ids.push_back(host.ext(std::string(1, static_cast<char>('a' + i)), *jobs.back()));
    host.cpu.release(ids.back());
  }
  host.engine.run_until(30 * kSecond);
  for (const EntityId id : ids) EXPECT_NEAR(static_cast<double>(host.cpu.cpu_time(id)), 20e9, 100e6);
}

// 10 of every 50 ms, before every real-time thread of the root group.
TEST(Hcbs, AGroupRunsBeforeTheRootGroupAndNoLonger) {
  Host host;
  Segments root_job({kNever}), job({kNever});
  const EntityId root = host.fifo("root", root_job, 99), t = host.grouped("t", job, 10 * kMs, 50 * kMs);
  Recorder recorder(host.cpu);
  host.cpu.release(root);
  host.cpu.release(t);
  host.engine.run_until(61 * kMs);
  EXPECT_THAT(in_ms(recorder.events), ElementsAre("0 t start", "10 t throttle", "10 root start", "50 t replenish",
                                                  "50 root preempt", "50 t resume", "60 t throttle", "60 root resume"));
}

TEST(Hcbs, AGroupHasOneBudget) {
  Host host;
  Segments a_job({kNever}), b_job({kNever}), root_job({kNever});
  const EntityId a = host.grouped("a", a_job, 10 * kMs, 50 * kMs, "g"),
                 b = host.grouped("b", b_job, 10 * kMs, 50 * kMs, "g"), root = host.fifo("root", root_job, 1);
  for (const EntityId id : {a, b, root}) host.cpu.release(id);
  host.engine.run_until(10 * kSecond);
  EXPECT_EQ(host.cpu.cpu_time(a), 2 * kSecond);  // SCHED_FIFO: the first to come does not yield
  EXPECT_EQ(host.cpu.cpu_time(b), 0);
  EXPECT_EQ(host.cpu.cpu_time(root), 8 * kSecond);
  EXPECT_THROW(host.grouped("c", b_job, 20 * kMs, 50 * kMs, "g"), std::invalid_argument);
}

TEST(Hcbs, InAGroupTheMoreUrgentThreadPreempts) {
  Engine engine;
  Cpu cpu(engine, Admission::kNone);
  const auto group = std::make_shared<LinuxRtGroup>(LinuxDeadline{10 * kMs, 50 * kMs, 1000}, 1);
  const auto policy = [&](int priority) {
    return OwnPolicy([group, priority] { return std::make_unique<LinuxRtGroupThread>(group, priority); });
  };
  Segments low_job({kNever}), high_job({4 * kMs});
  const EntityId low = cpu.add_thread("low", policy(1), low_job), high = cpu.add_thread("high", policy(2), high_job);
  Recorder recorder(cpu);
  Once wakes([&](Ns) { cpu.release(high); });
  cpu.release(low);
  engine.at(3 * kMs, wakes);
  engine.run_until(52 * kMs);
  EXPECT_THAT(in_ms(recorder.events),
              ElementsAre("0 low start", "3 low preempt", "3 high start", "7 high finish", "7 low resume",
                          "10 low throttle", "50 low replenish", "50 low resume"));
}

// Two servers of one CPU are ordered by their deadlines.
TEST(Hcbs, GroupsGoByTheDeadlinesOfTheirServers) {
  Host host;
  Segments a_job({kNever}), b_job({kNever});
  const EntityId a = host.grouped("a", a_job, 30 * kMs, 100 * kMs), b = host.grouped("b", b_job, 10 * kMs, 40 * kMs);
  Recorder recorder(host.cpu);
  host.cpu.release(a);
  host.cpu.release(b);
  host.engine.run_until(51 * kMs);
  EXPECT_THAT(in_ms(recorder.events), ElementsAre("0 b start", "10 b throttle", "10 a start", "40 b replenish",
                                                  "40 a throttle", "40 b resume", "50 b throttle"));
}

}  // namespace
}  // namespace offhook::hostsim
