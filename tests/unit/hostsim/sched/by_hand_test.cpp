// SPDX-License-Identifier: MIT
//
// Each policy's schedule worked out by hand, to the nanosecond.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

using ::testing::ElementsAre;

TEST(FixedPriorityThread, EqualsTakeTurnsByTheQuantumWhichSurvivesPreemption) {
  Engine engine;
  Cpu cpu(engine);
  Segments a_job({10}), b_job({6}), i_job({3});
  const EntityId a = cpu.add_thread("a", FixedPriority{8, 4}, a_job);
  const EntityId b = cpu.add_thread("b", FixedPriority{8, 4}, b_job);
  const EntityId i = cpu.add_interrupt({"i", 1, kNoEntity}, i_job);
  Periodic pa(engine, cpu, a, 0, 100), pb(engine, cpu, b, 0, 100), pi(engine, cpu, i, 2, 100);
  Recorder recorder(cpu);
  engine.run_until(100);
  EXPECT_THAT(recorder.events, ElementsAre("0 a start", "2 a preempt", "2 i start", "5 i finish", "5 a resume",
                                           "7 a preempt", "7 b start", "11 b preempt", "11 a resume", "15 a preempt",
                                           "15 b resume", "17 b finish", "17 a resume", "19 a finish"));
}

TEST(FixedPriorityThread, TheShortestQuantumEndsToo) {
  Engine engine;
  Cpu cpu(engine);
  Segments a_job({2}), b_job({2});
  cpu.release(cpu.add_thread("a", FixedPriority{8, 1}, a_job));
  cpu.release(cpu.add_thread("b", FixedPriority{8, 1}, b_job));
  Recorder recorder(cpu);
  engine.run_until(100);
  EXPECT_THAT(recorder.events, ElementsAre("0 a start", "1 a preempt", "1 b start", "2 b preempt", "2 a resume",
                                           "3 a finish", "3 b resume", "4 b finish"));
}

TEST(ConstantBandwidthThread, BudgetAndDeadlineFollowAbeniAndButtazzo) {
  Engine engine;
  Cpu cpu(engine);
  Segments server_job({7}), edf_job({4});
  const EntityId s = cpu.add_thread("s", ConstantBandwidth{3, 10}, server_job);
  const EntityId e = cpu.add_thread("e", EarliestDeadline{}, edf_job, 9);
  Periodic ps(engine, cpu, s, 0, 1000), pe(engine, cpu, e, 8, 1000);
  Recorder recorder(cpu);
  engine.run_until(1000);
  // c = 3, d = 10 at 0; empty at 3; d = 20 at 10, but e's deadline is 17; empty at 15; d = 30 at 20.
  EXPECT_THAT(recorder.events,
              ElementsAre("0 s start", "3 s throttle", "8 e start", "10 s replenish", "12 e finish", "12 s resume",
                          "15 s throttle", "20 s replenish", "20 s resume", "21 s finish"));
}

TEST(RezThread, RunsItsBudgetEachPeriodAndGoesOnInTheBackground) {
  Engine engine;
  Cpu cpu(engine);
  Segments rez_job({9}), fp_job({20});
  const EntityId r = cpu.add_thread("r", Rez{.budget = 2, .period = 10, .offset = 0, .background = 5}, rez_job);
  const EntityId f = cpu.add_thread("f", FixedPriority{5, 0}, fp_job);
  Periodic pr(engine, cpu, r, 0, 1000), pf(engine, cpu, f, 1, 1000);
  Recorder recorder(cpu);
  engine.run_until(1000);
  EXPECT_THAT(recorder.events,
              ElementsAre("0 r start", "2 r throttle", "2 r preempt", "2 f start", "10 r replenish", "10 f preempt",
                          "10 r resume", "12 r throttle", "12 r preempt", "12 f resume", "20 r replenish",
                          "20 f preempt", "20 r resume", "22 r throttle", "22 r preempt", "22 f resume", "26 f finish",
                          "26 r resume", "29 r finish"));
}

TEST(SlotThread, StrictRunsInItsSlotsOnlyAndTheOtherFormAlsoOutside) {
  for (const bool strict : {true, false}) {
    Engine engine;
    Cpu cpu(engine);
    Segments slot_job({5}), fp_job({3});
    const Slot slot{.offset = 4, .length = 2, .period = 10, .strict = strict, .priority = 3};
    const EntityId s = cpu.add_thread("s", slot, slot_job);
    const EntityId f = cpu.add_thread("f", FixedPriority{4, 0}, fp_job);
    Periodic ps(engine, cpu, s, 0, 1000), pf(engine, cpu, f, 2, 1000);
    Recorder recorder(cpu);
    engine.run_until(1000);
    if (strict) {
      EXPECT_THAT(recorder.events,
                  ElementsAre("2 f start", "4 f preempt", "4 s start", "6 s preempt", "6 f resume", "7 f finish",
                              "14 s resume", "16 s preempt", "24 s resume", "25 s finish"));
    } else {
      EXPECT_THAT(recorder.events, ElementsAre("0 s start", "2 s preempt", "2 f start", "4 f preempt", "4 s resume",
                                               "6 s preempt", "6 f resume", "7 f finish", "7 s resume", "8 s finish"));
    }
  }
}

TEST(SlotThread, TicksOf1024HzStayInPhaseWith125SamplesForTenHours) {
  Engine engine;
  Cpu cpu(engine);
  Segments spin({kNever});
  const EntityId s = cpu.add_thread("s", Slot{.offset = 0, .length = 3, .period = 16, .tick_hz = 1024}, spin);
  struct Edges final : CpuObserver {
    void on_event(Ns time, EntityId, Kind kind) override {
      if (kind != Kind::kPreempt) wrong += time % 15'625'000 != 0;          // 125 samples at 8 kHz
      if (kind == Kind::kPreempt) wrong += time % 15'625'000 != 2'929'687;  // floor(3 * 976562.5)
      count++;
    }
    std::int64_t count = 0, wrong = 0;
  } edges;
  cpu.set_observer(&edges);
  cpu.release(s);
  const Ns hours = Ns{10} * 3600 * 1'000'000'000;
  engine.run_until(hours);
  EXPECT_EQ(edges.wrong, 0);
  EXPECT_EQ(edges.count, 2 * (hours / 15'625'000));
  EXPECT_EQ(cpu.cpu_time(s), hours / 15'625'000 * 2'929'687);
}

TEST(SlotThread, WithAPriorityForItsSlotItIsPreemptedByAHigherOne) {
  Engine engine;
  Cpu cpu(engine);
  Segments slot_job({5}), callback({1});
  const EntityId s = cpu.add_thread("s", Slot{.length = 6, .period = 10, .slot_priority = 30}, slot_job);
  const EntityId c = cpu.add_thread("c", FixedPriority{31, 0}, callback);
  Periodic ps(engine, cpu, s, 0, 1000), pc(engine, cpu, c, 2, 1000);
  Recorder recorder(cpu);
  engine.run_until(1000);
  EXPECT_THAT(recorder.events,
              ElementsAre("0 s start", "2 s preempt", "2 c start", "3 c finish", "3 s resume", "6 s finish"));
}

}  // namespace
}  // namespace offhook::hostsim
