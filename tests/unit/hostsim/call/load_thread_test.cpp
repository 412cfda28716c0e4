// SPDX-License-Identifier: MIT
//
// A thread of the load is what its file says (class, priority, nice, budget), or the host refuses it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hostsim/call/host_policies.h"
#include "tests/unit/hostsim/call/device_run.h"

namespace offhook::hostsim {
namespace {

constexpr Ns kMs = 1'000'000;

HostScenario linux_host(const char* scheduler = "linux") {
  HostScenario host;
  host.name = "a-linux";
  host.scheduler = scheduler;
  host.reservations = "deadline-ticks";
  host.tick_hz = 250;
  host.priorities = 100;
  return host;
}

/// Whether a device at FIFO 12 loses samples beside `thread`.
bool loses(const HostScenario& host, const LoadThread& thread, const char* context = "FIFO 12") {
  Scenario s;
  s.host = host;
  s.context = ContextSpec::parse(context);
  s.pump = PumpKind::kDevice;
  s.device_s = 5;
  s.load.threads = {thread};
  return test::run_device(s).card.underrun_samples > 0;
}

LoadThread busy(ThreadClass scheduling, int priority, int percent = 90) {
  return {
      .name = "busy", .scheduling = scheduling, .priority = priority, .every_ns = 100 * kMs, .work_ns = percent * kMs};
}

TEST(LoadThread, OfSchedFifoIsAboveOrBelowTheDriversThreadByItsPriority) {
  for (const char* scheduler : {"linux", "linux-6.6", "linux-6.12"}) {
    for (const ThreadClass scheduling : {ThreadClass::kFifo, ThreadClass::kRoundRobin, ThreadClass::kDefault}) {
      EXPECT_TRUE(loses(linux_host(scheduler), busy(scheduling, 19))) << scheduler;
      EXPECT_TRUE(loses(linux_host(scheduler), busy(scheduling, 80))) << scheduler;
      EXPECT_FALSE(loses(linux_host(scheduler), busy(scheduling, 11, 50))) << scheduler;
    }
  }
}

// sched_rt_runtime_us: above 950 ms of each second all real-time threads wait, the driver's too, in any order. The fair
// server of 6.12 replaces it, and does nothing while no fair thread waits.
TEST(LoadThread, BelowTheDriversThreadStopsItWhereBothExceedTheThrottle) {
  EXPECT_TRUE(loses(linux_host("linux"), busy(ThreadClass::kFifo, 11)));
  EXPECT_TRUE(loses(linux_host("linux-6.6"), busy(ThreadClass::kFifo, 11)));
  EXPECT_FALSE(loses(linux_host("linux-6.12"), busy(ThreadClass::kFifo, 11)));
}

TEST(LoadThread, OfSchedDeadlineIsAboveEverySchedFifo) {
  LoadThread t = busy(ThreadClass::kDeadline, 0);
  EXPECT_TRUE(loses(linux_host(), t, "FIFO 99"));
  EXPECT_FALSE(loses(linux_host(), busy(ThreadClass::kOther, 0)));
}

TEST(LoadThread, OnPreemptRtAboveInterruptThreadsHoldsTheirWorkUp) {
  HostScenario host = linux_host("linux-6.12-rt");
  host.threaded_interrupts = true;
  EXPECT_TRUE(loses(host, busy(ThreadClass::kFifo, 51), "FIFO 90"));  // its interrupt's thread is FIFO 50
  EXPECT_FALSE(loses(host, busy(ThreadClass::kFifo, 49), "FIFO 90"));
}

TEST(LoadThread, IsRefusedWhereTheHostHasNoSuchClass) {
  HostScenario nt;
  for (const ThreadClass scheduling :
       {ThreadClass::kFifo, ThreadClass::kRoundRobin, ThreadClass::kOther, ThreadClass::kDeadline}) {
    EXPECT_THAT(load_thread_problem(nt, {.scheduling = scheduling}), testing::HasSubstr("does not have"));
  }
  EXPECT_EQ(load_thread_problem(nt, {.scheduling = ThreadClass::kNt, .priority = 31}), "");
  EXPECT_THAT(load_thread_problem(nt, {.priority = 60}), testing::HasSubstr("priority is 60; expected at most 31"));
  EXPECT_EQ(load_thread_problem(linux_host(), {.scheduling = ThreadClass::kFifo, .priority = 80}), "");
  EXPECT_THAT(load_thread_problem(linux_host(), {.scheduling = ThreadClass::kFifo}),
              testing::HasSubstr("expected a priority of 1 to 99"));
  EXPECT_THAT(load_thread_problem(linux_host(), {.scheduling = ThreadClass::kNt}), testing::HasSubstr("is Linux"));
  EXPECT_THAT(load_thread_problem(linux_host(), {.scheduling = ThreadClass::kDeadline}),
              testing::HasSubstr("needs period_us"));
  HostScenario limited = linux_host();
  limited.reservations = "cpu-max";
  EXPECT_THAT(load_thread_problem(limited, busy(ThreadClass::kDeadline, 0)), testing::HasSubstr("deadline-ticks"));
}

}  // namespace
}  // namespace offhook::hostsim
