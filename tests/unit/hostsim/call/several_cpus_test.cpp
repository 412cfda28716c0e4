// SPDX-License-Identifier: MIT
//
// A call on a host with several CPUs: what a second one is good for, and what pinning takes away.
#include <gtest/gtest.h>

#include <set>

#include "hostsim/call/call.h"
#include "hostsim/call/soft_device.h"

namespace offhook::hostsim {
namespace {

// 4 ms blocks of 1 ms of work in three buffers; the output is ready when the work ends.
Scenario scenario(int cpus, const std::string& scheduler) {
  Scenario s;
  s.context.kind = OH_CONTEXT_THREAD;
  s.context.priority = scheduler == "windows-nt" ? 7 : 8;  // a wake-up raises it by one there
  s.host.cpus = cpus;
  s.host.scheduler = scheduler;
  s.host.tick_hz = 1000;
  s.host.clock_isr_ns = 2'000;
  s.host.quantum_ns = 100'000'000;
  s.block_plan.clear();
  s.dial = false;
  return s;
}

struct Outcome {
  bool lost_nothing = false;
  std::set<int> thread_ran_on;
  std::set<int> interrupts_on;
};

Outcome run(Scenario s) {
  SoftDevice d;
  d.rate_hz = 48'000;
  d.block_plan = {192};
  d.buffers = 3;
  d.cost_ns = 1'000'000;
  d.output_fraction = 1;
  d.isr_mean_ns = d.isr_max_ns = 5'000;
  s.device = d;
  s.device_s = 10;
  std::vector<oh_event> ring(1 << 20);
  oh_event_log log{};
  oh_event_log_init(&log, ring.data(), ring.size(), 0);
  const auto call = make_device_call(s, no_samples(d), &log);
  const std::vector<std::string> names = call->entity_names();
  Outcome outcome;
  oh_event e;
  bool more = true;
  while (more) {
    more = call->advance(call->now() + 1'000'000'000);
    while (oh_event_log_read(&log, &e, 1) == 1) {
      if (e.kind == OH_EV_RUN && names.at(e.id) == "modem thread") outcome.thread_ran_on.insert(e.cpu);
      if (e.kind == OH_EV_ISR_ENTER) outcome.interrupts_on.insert(e.cpu);
    }
  }
  outcome.lost_nothing = call->result().completed;
  return outcome;
}

constexpr const char* kAll[] = {"fixed-priority", "windows-nt"};

TEST(CallOnSeveralCpus, AThreadBesideAnEqualSpinnerSufficesOnTwoUnlessBothArePinnedToOne) {
  for (const char* scheduler : kAll) {
    for (const bool pinned : {false, true}) {
      for (const int cpus : {1, 2}) {
        Scenario s = scenario(cpus, scheduler);
        s.load.spinner = true;
        if (pinned) s.context.cpu = s.load.spinner_cpu = 0;
        EXPECT_EQ(run(s).lost_nothing, cpus == 2 && !pinned) << scheduler;
      }
    }
  }
}

TEST(CallOnSeveralCpus, TwoSpinnersTakeBothOfTwoCpus) {
  for (const char* scheduler : kAll) {
    for (const int cpus : {2, 3}) {
      Scenario s = scenario(cpus, scheduler);
      s.load.threads = {LoadThread{.name = "a"}, LoadThread{.name = "b"}};
      EXPECT_EQ(run(s).lost_nothing, cpus == 3) << scheduler;
    }
  }
}

TEST(CallOnSeveralCpus, OnLinuxAReservationMovesAndSuffices) {
  Scenario s = scenario(2, "linux");
  s.host.reservations = "deadline";
  s.context.kind = OH_CONTEXT_RESERVATION;
  s.context.x_ticks = 2;
  s.context.y_ticks = 6;
  s.load.threads = {LoadThread{.name = "a"}, LoadThread{.name = "b"}, LoadThread{.name = "c"}};
  EXPECT_TRUE(run(s).lost_nothing);
}

TEST(CallOnSeveralCpus, TheLogSaysWhereInterruptsAndThreadsRan) {
  Scenario s = scenario(3, "fixed-priority");
  s.context.interrupt_cpu = 2;
  s.context.cpu = 1;
  s.load.spinner = true;
  const Outcome outcome = run(s);
  EXPECT_TRUE(outcome.lost_nothing);
  EXPECT_EQ(outcome.interrupts_on, std::set<int>{2});
  EXPECT_EQ(outcome.thread_ran_on, std::set<int>{1});
}

// A controller that holds interrupts off for 40 ms now and then, on the CPU of the card's interrupt or on the other
// one.
TEST(CallOnSeveralCpus, InterruptsHeldOffOnAnotherCpuDoNoHarm) {
  for (const int card : {0, 1}) {
    Scenario s = scenario(2, "fixed-priority");
    s.context.priority = 24;
    s.context.cpu = s.context.interrupt_cpu = card;
    s.load.devices = {{.name = "off", .every_ns = 1'000'000'000, .isr_ns = 40'000'000, .level = 31}};
    EXPECT_EQ(run(s).lost_nothing, card == 1);
  }
}

TEST(CallOnSeveralCpus, RialtoReservationsAreOfOneCpu) {
  Scenario s = scenario(2, "fixed-priority");
  s.context.kind = OH_CONTEXT_RESERVATION;
  s.context.strict = true;
  s.context.x_ticks = 3;
  s.context.y_ticks = 4;
  s.load.reservations = {{.name = "video", .x_ticks = 2, .y_ticks = 4}};
  EXPECT_THROW(run(s), std::invalid_argument);
  s.load.reservations[0].cpu = 1;
  const Outcome outcome = run(s);
  EXPECT_TRUE(outcome.lost_nothing);
  EXPECT_TRUE(outcome.thread_ran_on.count(0));
}

// On PREEMPT_RT the handler is a thread of priority 50, which does the work of the DPC: threads above it delay it.
TEST(CallOnSeveralCpus, AThreadedHandlerSuffersFromThreadsAbove50) {
  for (const oh_context_kind kind : {OH_CONTEXT_INTERRUPT, OH_CONTEXT_DPC}) {
    for (const bool threaded : {false, true}) {
      Scenario s = scenario(1, "fixed-priority");
      s.context.kind = kind;
      s.host.priorities = 100;
      s.host.threaded_interrupts = threaded;
      s.load.threads = {LoadThread{.name = "above", .priority = 60, .every_ns = 100'000'000, .work_ns = 30'000'000}};
      EXPECT_EQ(run(s).lost_nothing, !threaded);
    }
  }
}

}  // namespace
}  // namespace offhook::hostsim
