// SPDX-License-Identifier: MIT
//
// The three forms of Rez against schedules worked out by hand. A tick is 100 ns.
#include "hostsim/sched/augmented_rez.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

using ::testing::ElementsAre;

constexpr int kTickHz = 10'000'000;

/// One reservation of 250 in every 1000 whose thread never blocks; a DPC and an interrupt steal from it.
struct Machine {
  Engine engine;
  Cpu cpu{engine};
  RezScheduler scheduler;
  Segments spin{{kNever}}, dpc_job, isr_job;
  std::vector<RezPeriod> periods;
  EntityId thread, dpc, isr;

  Machine(RezForm form, Ns dpc_cost, Ns isr_cost, bool whole_ticks = true)
      : scheduler(
            form, kTickHz, [this] { return cpu.dpc_time(); }, 0.5, whole_ticks),
        dpc_job({dpc_cost}),
        isr_job({isr_cost}) {
    dpc = cpu.add_dpc({"dpc"}, dpc_job);
    isr = cpu.add_interrupt({"isr", 1, kNoEntity}, isr_job);
    thread = cpu.add_thread("t", OwnPolicy([this] {
                              return scheduler.reserve(250, 1000, [this](const RezPeriod& p) { periods.push_back(p); });
                            }),
                            spin);
  }
};

/// For each period: its start, C, P, and the stolen time.
std::vector<std::string> text(const std::vector<RezPeriod>& periods) {
  std::vector<std::string> out;
  for (const RezPeriod& p : periods) {
    out.push_back(std::to_string(p.begin) + ": " + std::to_string(p.reserved) + ' ' + std::to_string(p.received) + ' ' +
                  std::to_string(p.stolen));
  }
  return out;
}

TEST(Rez, EnforcesABudgetAtTheTickAfterItIsSpent) {
  Machine m(RezForm::kRez, 1, 1);
  Recorder recorder(m.cpu);
  m.cpu.release(m.thread);
  m.engine.run_until(1500);
  EXPECT_THAT(recorder.events,
              ElementsAre("0 t start", "300 t throttle", "1000 t replenish", "1000 t resume", "1300 t throttle"));
}

TEST(Rez, LetsStolenTimePass) {
  Machine m(RezForm::kRez, 120, 1);
  Periodic steal(m.engine, m.cpu, m.dpc, 50, 1000);
  m.cpu.release(m.thread);
  m.engine.run_until(1001);
  EXPECT_EQ(m.cpu.cpu_time(m.thread), 180 + 1);  // 300 minus 120, and the first ns of the next period
  EXPECT_THAT(text(m.periods), ElementsAre("0: 250 180 120"));
}

TEST(RezC, ChargesOnlyWhatWasReceivedAndCatchesUpInTheSamePeriod) {
  Machine m(RezForm::kRezC, 120, 1);
  Periodic steal(m.engine, m.cpu, m.dpc, 50, 1000);
  Recorder recorder(m.cpu);
  m.cpu.release(m.thread);
  m.engine.run_until(1000);
  // At the tick of 300 it has received 180 of 250, so it continues until 400.
  EXPECT_THAT(recorder.events, ElementsAre("0 t start", "50 t preempt", "50 dpc start", "170 dpc finish",
                                           "170 t resume", "400 t throttle"));
}

TEST(RezC, DoesNotSeeInterruptHandlers) {
  Machine m(RezForm::kRezC, 1, 120);
  Periodic steal(m.engine, m.cpu, m.isr, 50, 1000);
  m.cpu.release(m.thread);
  m.engine.run_until(1001);
  EXPECT_EQ(m.cpu.cpu_time(m.thread), 180 + 1);
  EXPECT_THAT(text(m.periods), ElementsAre("0: 250 300 0"));
}

TEST(RezFb, ReservesHalfOfWhatWasMissingMoreInWholeTicks) {
  Machine m(RezForm::kRezFb, 120, 1);
  Periodic steal(m.engine, m.cpu, m.dpc, 50, 1000);
  m.cpu.release(m.thread);
  m.engine.run_until(4001);
  // 250 + (250 - 180) / 2 = 285, as 300; 300 + 35 = 335, as 400; 400 - 15 = 385, as 400.
  EXPECT_THAT(text(m.periods),
              ElementsAre("0: 250 180 120", "1000: 300 180 120", "2000: 400 280 120", "3000: 400 280 120"));
}

TEST(RezFb, ComesDownByMoreThanATickAtOnceOrNotAtAll) {
  Machine m(RezForm::kRezFb, 500, 1);
  Once steal([&](Ns) { m.cpu.release(m.dpc); });
  m.engine.at(50, steal);
  m.cpu.release(m.thread);
  m.engine.run_until(5001);
  // Only the DPC ran until 300: P = 50, C = 250 + 100 = 350, as 400. It then used 200 of idle time. 400 - (400 - 250) /
  // 2 = 325, as 400: rounded up, it stays there.
  EXPECT_THAT(text(m.periods),
              ElementsAre("0: 250 50 250", "1000: 400 400 0", "2000: 400 400 0", "3000: 400 400 0", "4000: 400 400 0"));
}

TEST(RezFb, WithTheEquationAsItIsPrintedCComesBackToR) {
  Machine m(RezForm::kRezFb, 500, 1, false);
  Once steal([&](Ns) { m.cpu.release(m.dpc); });
  m.engine.at(50, steal);
  m.cpu.release(m.thread);
  m.engine.run_until(4001);
  // 250 + (250 - 50) / 2 = 350, enforced as 400: 350 - (400 - 250) / 2 = 275, enforced as 300: never below R.
  EXPECT_THAT(text(m.periods), ElementsAre("0: 250 50 250", "1000: 350 400 0", "2000: 275 300 0", "3000: 250 300 0"));
}

TEST(RezFb, TakesNoMoreThanTheOtherReservationsLeave) {
  Machine m(RezForm::kRezFb, 240, 1);
  Segments other_job({kNever});
  const EntityId other = m.cpu.add_thread("o", OwnPolicy([&] { return m.scheduler.reserve(650, 1000); }), other_job);
  Periodic steal(m.engine, m.cpu, m.dpc, 10, 1000);
  m.cpu.release(m.thread);
  m.cpu.release(other);
  m.engine.run_until(5001);
  ASSERT_EQ(m.periods.size(), 5u);
  EXPECT_EQ(m.periods.front().received, 60);
  EXPECT_EQ(m.periods.back().reserved, 350);
}

TEST(RezScheduler, RunsTheEarliestEndOfAPeriodFirst) {
  Engine engine;
  Cpu cpu(engine);
  RezScheduler scheduler(RezForm::kRez, kTickHz, [] { return Ns{0}; });
  Segments a_job({kNever}), b_job({kNever});
  const EntityId a = cpu.add_thread("a", OwnPolicy([&] { return scheduler.reserve(400, 2000); }), a_job);
  const EntityId b = cpu.add_thread("b", OwnPolicy([&] { return scheduler.reserve(200, 700); }), b_job);
  Recorder recorder(cpu);
  cpu.release(a);
  cpu.release(b);
  engine.run_until(1300);
  EXPECT_THAT(recorder.events, ElementsAre("0 b start", "200 b throttle", "200 a start", "600 a throttle",
                                           "700 b replenish", "700 b resume", "900 b throttle"));
}

TEST(RezScheduler, RefusesMoreThanTheCpuHas) {
  RezScheduler scheduler(RezForm::kRez, kTickHz, [] { return Ns{0}; });
  (void)scheduler.reserve(600, 1000);
  EXPECT_THROW((void)scheduler.reserve(401, 1000), std::invalid_argument);
  EXPECT_NO_THROW((void)scheduler.reserve(400, 1000));
  EXPECT_THROW((void)scheduler.reserve(0, 1000), std::invalid_argument);
}

}  // namespace
}  // namespace offhook::hostsim
