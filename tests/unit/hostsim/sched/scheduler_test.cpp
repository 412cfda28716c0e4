// SPDX-License-Identifier: MIT
//
// Schedulers by name: those of the tree, and one that a program adds.
#include "hostsim/sched/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hostsim/call/host_policies.h"
#include "hostsim/sched/fixed_priority.h"
#include "hostsim/sched/softirq.h"
#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

using testing::HasSubstr;

/// Lottery without chance: every request gets this one priority.
class Level final : public Scheduler {
 public:
  bool has(ThreadRequest::Class wanted) const override { return wanted == ThreadRequest::Class::kPriority; }
  Policy thread(const ThreadRequest&) override { return FixedPriority{12, 0}; }
};

TEST(Schedulers, AreChosenByName) {
  for (const std::string_view name : policy_names(PolicyUse::kThreads)) {
    EXPECT_TRUE(make_scheduler(PolicyUse::kThreads, name, {})->has(ThreadRequest::Class::kPriority)) << name;
  }
  const ReservationRequest two_of_eight{.budget = 2'000'000, .period = 8'000'000, .x_ticks = 2, .y_ticks = 8};
  for (const std::string_view name : policy_names(PolicyUse::kReservations)) {
    EXPECT_NE(make_thread_policy(make_scheduler(PolicyUse::kReservations, name, {})->reserve(two_of_eight)), nullptr)
        << name;
  }
  EXPECT_THROW(make_scheduler(PolicyUse::kThreads, "rialto", {}), std::invalid_argument);
  EXPECT_THROW(make_scheduler(PolicyUse::kThreads, "linux", {})->reserve(two_of_eight), std::invalid_argument);
}

TEST(Schedulers, AProgramAddsOneOfItsOwn) {
  register_policy("level", [](const SchedulerHost&) { return std::make_unique<Level>(); });
  EXPECT_EQ(policy_names(PolicyUse::kThreads).back(), "level");
  EXPECT_THROW(make_scheduler(PolicyUse::kReservations, "level", {}), std::invalid_argument);
  EXPECT_THROW(register_policy("level", [](const SchedulerHost&) { return std::make_unique<Level>(); }),
               std::invalid_argument);
  Scenario s;
  s.host.scheduler = "level";
  Engine engine;
  Cpu cpu(engine);
  HostPolicies policies(s, cpu);
  EXPECT_EQ(std::get<FixedPriority>(policies.thread(3)).priority, 12);
  EXPECT_THAT(refusal(s.host, ContextSpec::parse("FIFO 50")),
              HasSubstr("FIFO 50 is Linux's; this host is nt2000-p2-450, with scheduler level: INT, DPC, THR 1..255"));
}

TEST(Schedulers, AHostRefusesTheContextsOfAnotherSystem) {
  HostScenario nt, linux_host;
  linux_host.scheduler = "linux";
  for (const char* text : {"INT", "DPC", "THR 24", "WORKER", "RES 2/8"}) {
    EXPECT_EQ(refusal(nt, ContextSpec::parse(text)), "") << text;
    EXPECT_EQ(refusal(linux_host, ContextSpec::parse(text)), "") << text;
  }
  for (const char* text : {"SOFTIRQ", "THREADED", "FIFO 50", "RR 10", "OTHER", "OTHER -5"}) {
    EXPECT_THAT(refusal(nt, ContextSpec::parse(text)), HasSubstr(" is Linux's; ")) << text;
    EXPECT_EQ(refusal(linux_host, ContextSpec::parse(text)), "") << text;
  }
}

// Each step of nice is a tenth of the CPU: 1.25 to 1 between neighbours.
TEST(Schedulers, OnLinuxAThreadHasTheMoreTheLessNiceItIs) {
  for (const auto& [nice, share] :
       {std::pair{-1, 1.25 / 2.25}, std::pair{0, 0.5}, std::pair{5, 1 / (1 + 3.0517578125)}}) {
    Engine engine;
    Cpu cpu(engine);
    const auto scheduler = make_scheduler(PolicyUse::kThreads, "linux", {.tick_hz = 1000});
    Segments normal_job({kNever}), nice_job({kNever});
    const EntityId normal =
        cpu.add_thread("normal", scheduler->thread({.wants = ThreadRequest::Class::kProgram, .nice = 7}), normal_job);
    const EntityId other =
        cpu.add_thread("nice", scheduler->thread({.wants = ThreadRequest::Class::kNice, .nice = nice}), nice_job);
    for (const EntityId id : {normal, other}) cpu.release(id);
    engine.run_until(10'000'000'000);
    EXPECT_NEAR(static_cast<double>(cpu.cpu_time(other)), share * 10e9, 10e6) << nice;
  }
}

TEST(Schedulers, SlotsAreWholeTicksAndBudgetsNeedNotBe) {
  HostScenario host;  // 1024 Hz
  EXPECT_THAT(admission_problem(host, ContextSpec::parse("RES 2ms/8ms")),
              HasSubstr("slots are whole clock interrupts"));
  host.reservations = "deadline";
  EXPECT_EQ(admission_problem(host, ContextSpec::parse("RES 2ms/8ms")), "");
  EXPECT_THAT(admission_problem(host, ContextSpec::parse("RES 9ms/8ms")), HasSubstr("112 % of the CPU"));
  host.reservations = "rialto";
  host.tick_hz = 1000;
  EXPECT_EQ(admission_problem(host, ContextSpec::parse("RES 2ms/8ms")), "");
  EXPECT_THAT(admission_problem(host, ContextSpec::parse("RES 2ms/9ms")), HasSubstr("powers of two"));
}

TEST(DeferredWork, DpcsOfLowImportanceWaitForTheClockWhileManyCome) {
  const std::unique_ptr<DeferredWork> queue = Scheduler().deferred_work(0);
  for (int i = 0; i < 8; i++) {
    (void)queue->queue(i, DpcImportance::kMedium, true);
    EXPECT_TRUE(queue->runs());
    (void)queue->done(i);
  }
  EXPECT_FALSE(queue->tick());  // nothing waits; from here the rate is 4 in an interval
  EXPECT_FALSE(queue->queue(8, DpcImportance::kLow, true));
  EXPECT_FALSE(queue->runs());
  EXPECT_TRUE(queue->tick());
  EXPECT_TRUE(queue->runs());
}

TEST(DeferredWork, SoftirqsAreHandedOverAfterTheirBudget) {
  Softirq softirq({.budget = 10, .passes = 100}, make_thread_policy(FixedPriority{5, 0}));
  EXPECT_FALSE(softirq.queue(0, DpcImportance::kLow, false));
  softirq.begins(0);
  (void)softirq.queue(0, DpcImportance::kLow, false);
  EXPECT_EQ(softirq.thread(), nullptr);
  EXPECT_TRUE(softirq.done(11));  // a pass is over, and the budget too
  ASSERT_NE(softirq.thread(), nullptr);
  EXPECT_EQ(softirq.thread()->standing(11).key, -5);
  EXPECT_FALSE(softirq.done(12));
  EXPECT_EQ(softirq.thread(), nullptr);
}

}  // namespace
}  // namespace offhook::hostsim
