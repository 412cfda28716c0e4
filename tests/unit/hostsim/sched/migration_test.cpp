// SPDX-License-Identifier: MIT
//
// The rules of migration.h one by one: each case is a rule, and what is next to it where the rule does not hold.
#include "hostsim/sched/migration.h"

#include <gtest/gtest.h>

#include <vector>

namespace offhook::hostsim {
namespace {

constexpr int kPriorityBand = 6;

Rank at(int priority, Ns queued = 0) {
  return {kPriorityBand, -priority, queued, 0};
}
CpuLine busy(int priority, bool settled, Ns queued = 0) {
  return {.idle = false, .first = at(priority, queued), .settled = settled};
}

TEST(Migration, AThreadThatWakesPreemptsOnlyWhatIsLessUrgentHoweverLongAnEqualWaited) {
  const Waiter woken{.rank = at(8, 1), .migration = Migration::kGlobal, .cpu = 0};
  for (const bool settled : {false, true}) {
    EXPECT_EQ(cpu_to_wake_on(woken, std::vector{busy(9, true), busy(8, settled, 5)}), 0);
    EXPECT_EQ(cpu_to_wake_on(woken, std::vector{busy(9, true), busy(7, settled, 5)}), 1);
  }
}

TEST(Migration, AnEqualTakesOverWhereATurnEndsAndNowhereElse) {
  const Waiter waits{.rank = at(8, 1), .migration = Migration::kGlobal, .cpu = 0};
  EXPECT_EQ(cpu_to_move_to(waits, std::vector{busy(9, true), busy(8, false, 5)}), 1);
  EXPECT_EQ(cpu_to_move_to(waits, std::vector{busy(9, true), busy(8, true, 5)}), 0);
  EXPECT_EQ(cpu_to_move_to(waits, std::vector{busy(9, true), busy(8, false, 0)}), 0);  // queued before it
}

TEST(Migration, RealTimeThreadsOfLinuxArePushedPastTheLessUrgentOnly) {
  const Waiter waits{.rank = at(8, 1), .migration = Migration::kPush, .cpu = 0};
  EXPECT_EQ(cpu_to_wake_on(waits, std::vector{busy(9, true), CpuLine{}}), 0);
  EXPECT_EQ(cpu_to_move_to(waits, std::vector{busy(9, true), CpuLine{}}), 1);
  EXPECT_EQ(cpu_to_move_to(waits, std::vector{busy(9, true), busy(8, false, 5)}), 0);
  EXPECT_EQ(cpu_to_move_to(waits, std::vector{busy(9, true), busy(7, true), busy(6, true), busy(7, true)}), 2);
}

TEST(Migration, AFairThreadMovesWhereThereAreTwoLess) {
  const auto fair = [](int threads) {
    CpuLine l = busy(1, true);
    l.first_is_fair = true;
    l.fair = threads;
    return l;
  };
  const Waiter waits{.rank = at(1), .migration = Migration::kBalance, .cpu = 0};
  EXPECT_EQ(cpu_to_move_to(waits, std::vector{fair(3), fair(2)}), 0);
  EXPECT_EQ(cpu_to_move_to(waits, std::vector{fair(3), fair(1)}), 1);
  EXPECT_EQ(cpu_to_move_to(waits, std::vector{fair(4), fair(2), fair(1), fair(1)}), 2);
  EXPECT_EQ(cpu_to_move_to(waits, std::vector{fair(3), busy(50, true)}), 0);  // a real-time thread is there
}

TEST(Migration, PinnedThreadsStay) {
  const Waiter waits{.rank = at(8), .migration = Migration::kPinned, .cpu = 0};
  EXPECT_EQ(cpu_to_wake_on(waits, std::vector{busy(9, true), CpuLine{}}), 0);
  EXPECT_EQ(cpu_to_move_to(waits, std::vector{busy(9, true), CpuLine{}}), 0);
}

TEST(Migration, OnWindowsAThreadTakesTheIdealTheLastThenTheHighestIdleCpu) {
  const Waiter woken{.rank = at(8), .migration = Migration::kIdeal, .cpu = 1, .ideal = 2};
  EXPECT_EQ(cpu_to_wake_on(woken, std::vector(4, CpuLine{})), 2);
  EXPECT_EQ(cpu_to_wake_on(woken, std::vector{CpuLine{}, CpuLine{}, busy(9, true), CpuLine{}}), 1);
  EXPECT_EQ(cpu_to_wake_on(woken, std::vector{CpuLine{}, busy(9, true), busy(9, true), CpuLine{}}), 3);
  EXPECT_EQ(cpu_to_wake_on(woken, std::vector(4, busy(1, true))), 2);
}

// Among equal threads Windows takes the first that last ran on the CPU, has it as its ideal one, has waited for 3/64 s
// or is of real-time priority; otherwise the first.
TEST(Migration, WhoOfEqualsTakesACpuOnWindows) {
  constexpr Ns kNow = 1'000'000'000, kThreeIntervals = 46'875'000;
  constexpr int kFree = 1, kFirst = 0, kSecond = 1;
  const auto chosen = [&](int priority, auto&& change) {
    std::vector<CpuLine> lines = {busy(20, true), CpuLine{}, busy(20, true)};
    std::vector<Waiter> waiters(2);
    for (Waiter& w : waiters) w = {.rank = at(priority), .migration = Migration::kIdeal, .cpu = 2, .since = kNow};
    change(waiters[kSecond], lines[kFree]);
    const Waiter& moves = who_moves(waiters[kFirst], kFree, lines, waiters, kNow);
    return static_cast<int>(&moves - waiters.data());
  };
  EXPECT_EQ(chosen(8, [](Waiter&, CpuLine&) {}), kFirst);
  EXPECT_EQ(chosen(8, [](Waiter& w, CpuLine&) { w.last = kFree; }), kSecond);
  EXPECT_EQ(chosen(8, [](Waiter& w, CpuLine&) { w.ideal = kFree; }), kSecond);
  EXPECT_EQ(chosen(8, [&](Waiter& w, CpuLine&) { w.since = kNow - kThreeIntervals; }), kSecond);
  EXPECT_EQ(chosen(8, [&](Waiter& w, CpuLine&) { w.since = kNow - kThreeIntervals + 1; }), kFirst);
  EXPECT_EQ(chosen(23, [](Waiter& w, CpuLine&) { w.last = kFree; }), kSecond);
  EXPECT_EQ(chosen(24, [](Waiter& w, CpuLine&) { w.last = kFree; }), kFirst);
  // No equal thread, one of another kind, one that is there already, or one about to run on a lower CPU.
  EXPECT_EQ(chosen(8, [](Waiter& w, CpuLine&) { w.last = kFree, w.rank = at(7); }), kFirst);
  EXPECT_EQ(chosen(8, [](Waiter& w, CpuLine&) { w.last = kFree, w.rank.band--; }), kFirst);
  EXPECT_EQ(chosen(8, [](Waiter& w, CpuLine&) { w.last = kFree, w.migration = Migration::kGlobal; }), kFirst);
  EXPECT_EQ(chosen(8, [](Waiter& w, CpuLine&) { w.last = kFree, w.cpu = kFree; }), kFirst);
  EXPECT_EQ(chosen(8, [](Waiter& w, CpuLine&) { w.last = kFree, w.next = true, w.cpu = 0; }), kFirst);
  EXPECT_EQ(chosen(8, [](Waiter& w, CpuLine&) { w.last = kFree, w.next = true; }), kSecond);
  // Where a turn continues no thread is chosen; where it ends, the one that queued first is.
  EXPECT_EQ(chosen(8, [](Waiter& w, CpuLine& l) { w.last = kFree, l = busy(8, true, 5); }), kFirst);
  EXPECT_EQ(chosen(8, [](Waiter& w, CpuLine& l) { w.last = kFree, l = busy(8, false, 5); }), kSecond);
  EXPECT_EQ(chosen(8, [](Waiter& w, CpuLine& l) { w.last = kFree, w.rank.queued = 6, l = busy(8, false, 5); }), kFirst);
}

}  // namespace
}  // namespace offhook::hostsim
