// SPDX-License-Identifier: MIT
#include "traces/import/load_builder.h"

#include <gtest/gtest.h>

namespace offhook::traces {
namespace {

using hostsim::HostLoad;
using Kind = HostLoad::Kind;
using Thread = LoadBuilder::Thread;

constexpr Thread kIdle{"swapper/0", 0, 120};
constexpr Thread kWork{"work", 7, 120};
constexpr Thread kUrgent{"urgent", 8, 49};  // SCHED_FIFO 50

struct Found {
  std::string name;
  hostsim::Ns start, cpu;
  bool operator==(const Found&) const = default;
};
std::vector<Found> found(const HostLoad& load, std::size_t cpu = 0) {
  std::vector<Found> all;
  for (const auto& i : load.cpus.at(cpu).intervals) all.push_back({load.sources.at(i.source).name, i.start, i.cpu});
  return all;
}
void PrintTo(const Found& f, std::ostream* out) {
  *out << f.name << " at " << f.start << " for " << f.cpu;
}

TEST(LoadBuilder, ChargesEachWhatNobodyOverItTook) {
  LoadBuilder b;
  b.switched(1000, 0, kIdle, kWork);
  b.enter(1100, 0, Kind::kSoftirq, "TIMER");
  b.enter(1120, 0, Kind::kInterrupt, "eth0");
  b.leave(1150, 0, Kind::kInterrupt, "eth0");
  b.leave(1180, 0, Kind::kSoftirq, "TIMER");
  b.switched(1300, 0, kWork, kUrgent);
  b.switched(1400, 0, kUrgent, kIdle);
  const HostLoad load = b.finish("t");
  EXPECT_EQ(load.duration, 400);
  EXPECT_EQ(found(load),
            (std::vector<Found>{{"work", 0, 220}, {"TIMER", 100, 50}, {"eth0", 120, 30}, {"urgent", 300, 100}}));
  EXPECT_EQ(load.cpus[0].lost, 0u);
  EXPECT_EQ(load.sources[load.cpus[0].intervals[3].source].priority, 90);  // FIFO 50
}

TEST(LoadBuilder, LeavesOutTheThreadsAndInterruptsThatAreNoLoad) {
  LoadBuilder b({"work", "card"});
  b.switched(1000, 0, kIdle, kWork);
  b.enter(1100, 0, Kind::kInterrupt, "card");
  b.enter(1120, 0, Kind::kInterrupt, "eth0");
  b.leave(1150, 0, Kind::kInterrupt, "eth0");
  b.leave(1180, 0, Kind::kInterrupt, "card");
  b.switched(1300, 0, kWork, kUrgent);
  b.switched(1400, 0, kUrgent, kIdle);
  const HostLoad load = b.finish("t");
  EXPECT_EQ(found(load), (std::vector<Found>{{"eth0", 120, 30}, {"urgent", 300, 100}}));
  EXPECT_EQ(load.cpus[0].lost, 0u);
}

TEST(LoadBuilder, ATimersExpiryCountsOnlyWhereItsInterruptIsNotTraced) {
  LoadBuilder b;
  b.enter_timer(0, 0);
  b.leave_timer(5, 0);
  b.enter(100, 0, Kind::kInterrupt, "local_timer");
  b.enter_timer(103, 0);
  b.leave_timer(108, 0);
  b.leave(110, 0, Kind::kInterrupt, "local_timer");
  const HostLoad load = b.finish("t");
  EXPECT_EQ(found(load), (std::vector<Found>{{"hrtimer", 0, 5}, {"local_timer", 100, 10}}));
  EXPECT_EQ(load.cpus[0].lost, 0u);
}

TEST(LoadBuilder, WhatRanWhileEventsWereLostIsNotKnown) {
  LoadBuilder b;
  b.switched(0, 0, kIdle, kWork);
  b.enter(10, 0, Kind::kInterrupt, "eth0");
  b.lost(500, 0, 12);
  b.leave(510, 0, Kind::kInterrupt, "eth0");  // unpaired: one more
  b.switched(600, 0, kUrgent, kIdle);
  const HostLoad load = b.finish("t");
  EXPECT_EQ(found(load), (std::vector<Found>{{"urgent", 500, 100}}));
  EXPECT_EQ(load.cpus[0].lost, 13u);
}

TEST(LoadBuilder, CpusAreApartAndExcludedThreadsAreNoLoad) {
  LoadBuilder b({"offhook"});
  b.switched(0, 1, kIdle, kWork);
  b.switched(10, 0, kIdle, {"offhook", 9, 49});
  b.switched(30, 0, {"offhook", 9, 49}, kWork);
  b.switched(50, 1, kWork, kIdle);
  const HostLoad load = b.finish("t");
  ASSERT_EQ(load.cpus.size(), 2u);
  EXPECT_EQ(found(load, 0), (std::vector<Found>{{"work", 30, 20}}));  // still running when the trace ends
  EXPECT_EQ(found(load, 1), (std::vector<Found>{{"work", 0, 50}}));
}

}  // namespace
}  // namespace offhook::traces
