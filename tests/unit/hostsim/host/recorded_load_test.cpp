// SPDX-License-Identifier: MIT
#include "hostsim/host/recorded_load.h"

#include <gtest/gtest.h>

namespace offhook::hostsim {
namespace {

/// Starts and ends of the CPU time of one thread at `priority` beside the trace.
struct Watch final : Program {
  Ns next(Ns now) override {
    at.push_back(now);
    entered = !entered;
    return entered ? cost : 0;
  }
  Ns cost;
  bool entered = false;
  std::vector<Ns> at;
  explicit Watch(Ns c) : cost(c) {}
};

std::shared_ptr<HostLoad> one_cpu(std::vector<HostLoad::Interval> intervals, Ns duration) {
  auto load = std::make_shared<HostLoad>();
  load->duration = duration;
  load->sources = {{HostLoad::Kind::kInterrupt, 0, "eth0"},
                   {HostLoad::Kind::kSoftirq, 0, "NET_RX"},
                   {HostLoad::Kind::kThread, linux_priority(49), "FIFO 50"},
                   {HostLoad::Kind::kThread, linux_priority(120), "normal"}};
  load->cpus = {{0, std::move(intervals), 0}};
  return load;
}

/// The end of a thread that is released at 0 and needs 100 ns.
Ns end_of_a_thread(int priority, std::vector<HostLoad::Interval> intervals, Ns from = 0) {
  Engine engine;
  Cpu cpu(engine);
  Watch watch(100);
  const auto load = one_cpu(std::move(intervals), 1000);
  const EntityId id = cpu.add_thread("driver", FixedPriority{priority, 0}, watch);
  RecordedLoad recorded(engine, cpu, load, load->cpus[0], 10, kLinuxPriorities, 0);
  recorded.start(from);
  cpu.release(id);
  engine.run_until(900);
  return watch.at.at(1);
}

TEST(RecordedLoad, StealsFromThreadsBelowAndFromNoneAbove) {
  const std::vector<HostLoad::Interval> all = {{10, 20, 0}, {40, 5, 1}, {50, 200, 2}, {60, 300, 3}};
  EXPECT_EQ(end_of_a_thread(95, all), 125);  // above FIFO 50: only the interrupt and the softirq
  EXPECT_EQ(end_of_a_thread(85, all), 325);  // below it
  EXPECT_EQ(end_of_a_thread(10, all), 625);  // below all
}

TEST(RecordedLoad, BeginsWhereItIsTold) {
  EXPECT_EQ(end_of_a_thread(95, {{10, 20, 0}, {540, 7, 0}}, 500), 107);
}

TEST(RecordedLoad, AfterItsEndItBeginsAnew) {
  Engine engine;
  Cpu cpu(engine);
  const auto load = one_cpu({{100, 30, 0}, {100, 20, 1}}, 1000);
  RecordedLoad recorded(engine, cpu, load, load->cpus[0], 10, kLinuxPriorities, 0);
  recorded.start(0);
  engine.run_until(10'000);
  EXPECT_EQ(cpu.cpu_time(0), 300);
  EXPECT_EQ(cpu.cpu_time(1), 200);
}

TEST(RecordedLoad, WhatCouldNotRunInTimeRunsLater) {
  Engine engine;
  Cpu cpu(engine);
  const auto load = one_cpu({{0, 600, 2}, {10, 100, 3}, {20, 100, 3}}, 1000);
  RecordedLoad recorded(engine, cpu, load, load->cpus[0], 10, kLinuxPriorities, 0);
  recorded.start(0);
  engine.run_until(700);
  EXPECT_EQ(cpu.cpu_time(0), 600);
  EXPECT_EQ(cpu.cpu_time(1), 100);
  engine.run_until(900);
  EXPECT_EQ(cpu.cpu_time(1), 200);
}

TEST(RecordedLoad, OnAHostWith32PrioritiesTheOrderIsKept) {
  EXPECT_EQ(priority_on(linux_priority(120), 32), 8);
  EXPECT_EQ(priority_on(linux_priority(98), 32), 16);
  EXPECT_LE(priority_on(linux_priority(49), 32), priority_on(linux_priority(0), 32));
  EXPECT_EQ(priority_on(linux_priority(-1), 32), 31);
  EXPECT_EQ(priority_on(linux_priority(-1), kLinuxPriorities), 140);
}

}  // namespace
}  // namespace offhook::hostsim
