// SPDX-License-Identifier: MIT
//
// Threads that keep the CPU. Each ends by itself after a few seconds of CPU time should the watchdog not see it.
#include "driver/context/watchdog.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <time.h>

#include <chrono>
#include <string>
#include <thread>

#include "driver/context/live_context.h"

namespace offhook {
namespace {

using namespace std::chrono_literals;

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

bool is_normal() {
  return sched_getscheduler(0) == SCHED_OTHER;
}

/// Spins for `ms` at a time and sleeps in between, until it is a normal thread. @return its CPU seconds, at most 3
double spin_until_normal(std::chrono::microseconds awake, std::chrono::microseconds asleep) {
  const double begin = cpu_seconds();
  while (!is_normal() && cpu_seconds() - begin < 3) {
    const auto until = std::chrono::steady_clock::now() + awake;
    while (std::chrono::steady_clock::now() < until) {
    }
    if (asleep > 0us) std::this_thread::sleep_for(asleep);
  }
  return cpu_seconds() - begin;
}

LiveContextConfig config(const char* text) {
  LiveContextConfig c = LiveContextConfig::parse(text);
  c.best_effort = true;  // on the machine of an unprivileged user
  return c;
}

/// A context whose only service does this.
struct Service {
  Service(const LiveContextConfig& spec, std::function<void()> work)
      : context(spec, [work = std::move(work), this] {
          work();
          done = true;
          return 1u;
        }) {
    context.start();
  }
  void run() {
    context.request();
    wait();
  }
  void wait() {
    while (!done) std::this_thread::sleep_for(10ms);
  }
  bool real_time() const { return context.shortcomings().empty(); }
  std::atomic<bool> done{false};
  LiveContext context;
};

TEST(Watchdog, MakesASpinnerAtFifo90ANormalThreadWithinASecond) {
  double took = 0;
  Service spinner(config("FIFO 90"), [&] { took = spin_until_normal(1ms, 0us); });
  if (!spinner.real_time()) GTEST_SKIP() << spinner.context.shortcomings().front();
  spinner.run();
  EXPECT_TRUE(spinner.context.demoted());
  EXPECT_GT(took, 0);
  EXPECT_LT(took, 1);  // in the thread's own CPU time, which the machine's load does not affect
}

TEST(Watchdog, SeesASpinnerThatSleepsALittle) {
  Service spinner(config("FIFO 90"), [] { spin_until_normal(20ms, 50us); });
  if (!spinner.real_time()) GTEST_SKIP() << spinner.context.shortcomings().front();
  spinner.run();
  EXPECT_TRUE(spinner.context.demoted());
}

TEST(Watchdog, SeesSpinnersThatHaveHalfOfACpuEach) {
  LiveContextConfig one_cpu = config("RR 20");
  one_cpu.cpu = 0;
  double took[2] = {};
  Service first(one_cpu, [&] { took[0] = spin_until_normal(1ms, 0us); });
  Service second(one_cpu, [&] { took[1] = spin_until_normal(1ms, 0us); });
  if (!first.real_time()) GTEST_SKIP() << first.context.shortcomings().front();
  first.context.request();
  second.context.request();
  first.wait();
  second.wait();
  EXPECT_TRUE(first.context.demoted());
  EXPECT_TRUE(second.context.demoted());
  EXPECT_LT(took[0] + took[1], 2);
}

TEST(Watchdog, LeavesAThreadThatHasAThirdOfTheCpuAlone) {
  Service worker(config("FIFO 20"), [] {
    for (int i = 0; i < 300; ++i) {  // a second and a half: all windows
      const double begin = cpu_seconds();
      while (cpu_seconds() - begin < 0.0015) {
      }
      std::this_thread::sleep_for(3ms);
    }
  });
  worker.run();
  EXPECT_FALSE(worker.context.demoted());
}

TEST(Watchdog, LeavesAReservationThatUsesItsBudgetToTheKernel) {
  Service worker(config("RES 30ms/100ms"), [] {
    const double begin = cpu_seconds();
    while (cpu_seconds() - begin < 0.4) {
    }
  });
  worker.run();
  EXPECT_FALSE(worker.context.demoted());
}

TEST(Watchdog, WatchesAThreadThatMadeItselfRealTimeUntilItEnds) {
  WatchRule rule;
  std::string why;
  double took = 0;
  std::thread([&] {
    why = become_fifo(30, &rule);
    if (why.empty()) took = spin_until_normal(1ms, 0us);
  }).join();
  if (!why.empty()) GTEST_SKIP() << why;
  EXPECT_TRUE(rule.demoted);
  EXPECT_LT(took, 1);
}

/// Three of every nine milliseconds, for 1.5 s. @return whether the thread became real-time
bool work_a_third(WatchRule& rule, bool reports) {
  std::string why;
  std::thread([&] {
    why = become_fifo(30, &rule);
    for (int i = 0; why.empty() && i < 167; ++i) {
      const double begin = cpu_seconds();
      while (cpu_seconds() - begin < 0.003) {
      }
      if (reports) report_to_watchdog();
      std::this_thread::sleep_for(6ms);
    }
  }).join();
  return why.empty();
}

TEST(Watchdog, ReadsNoFileForAThreadThatReportsItsSleep) {
  WatchRule silent, reporting;
  if (!work_a_third(silent, false)) GTEST_SKIP() << "not permitted";
  ASSERT_TRUE(work_a_third(reporting, true));
  EXPECT_FALSE(silent.demoted);
  EXPECT_FALSE(reporting.demoted);
  EXPECT_GE(silent.reads, 4u);
  EXPECT_LE(reporting.reads, 1u);
}

// A card's thread that calls wait() for every block, but is never told to sleep.
TEST(Watchdog, SeesASpinnerThatReports) {
  WatchRule rule;
  std::string why;
  double took = 0;
  std::thread([&] {
    why = become_fifo(30, &rule);
    const double begin = cpu_seconds();
    while (why.empty() && !is_normal() && cpu_seconds() - begin < 3) report_to_watchdog();
    took = cpu_seconds() - begin;
  }).join();
  if (!why.empty()) GTEST_SKIP() << why;
  EXPECT_TRUE(rule.demoted);
  EXPECT_LT(took, 1);
}

TEST(Watchdog, OfAContextStartsAnewWhenTheContextIsReconfigured) {
  LiveContext* spinning = nullptr;
  Service spinner(config("FIFO 30"), [] { spin_until_normal(1ms, 0us); });
  spinning = &spinner.context;
  if (!spinner.real_time()) GTEST_SKIP() << spinning->shortcomings().front();
  for (int i = 0; i < 2; ++i) {
    spinner.done = false;
    spinner.run();
    EXPECT_TRUE(spinning->demoted());
    spinning->reconfigure(ContextSpec::parse("FIFO 31"));
    EXPECT_FALSE(spinning->demoted());
  }
}

TEST(Watchdog, ThereIsRoomBelowItForAContext) {
  if (watchdog_priority() < 2) GTEST_SKIP() << "the watchdog is no real-time thread";
  LiveContext context(config(("FIFO " + std::to_string(watchdog_priority() - 1)).c_str()), [] { return 0u; });
  context.start();
  EXPECT_TRUE(context.shortcomings().empty()) << context.shortcomings().front();
}

TEST(Watchdog, ThereIsNoRoomAboveItForAContext) {
  LiveContextConfig highest = LiveContextConfig::parse("FIFO 99");
  LiveContext context(highest, [] { return 0u; });
  EXPECT_THROW(context.start(), std::runtime_error);
}

}  // namespace
}  // namespace offhook
