// SPDX-License-Identifier: MIT
#include "driver/context/live_context.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace offhook {
namespace {

using namespace std::chrono_literals;

LiveContextConfig spec(const char* text) {
  LiveContextConfig s = LiveContextConfig::parse(text);
  s.best_effort = true;  // on the machine of an unprivileged user
  return s;
}

// In a separate process, which has not tried yet and may lock nothing.
TEST(LockMemoryDeathTest, SaysWhyEachTime) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer answers mlockall() itself";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const rlimit none{};
        if (setrlimit(RLIMIT_MEMLOCK, &none) != 0 || (geteuid() == 0 && setuid(65534) != 0)) _exit(2);
        const std::string first = lock_memory();
        errno = EISDIR;  // of something else, in between
        _exit(!first.empty() && lock_memory() == first ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

class EveryContext : public testing::TestWithParam<const char*> {};

TEST_P(EveryContext, ServesEachRequestOnAThreadOfItsOwn) {
  std::atomic<int> served{0};
  std::atomic<pid_t> who{0};
  LiveContext context(spec(GetParam()), [&] {
    who = static_cast<pid_t>(syscall(SYS_gettid));
    return static_cast<std::uint32_t>(++served);
  });
  const oh_context driver = context.driver_context();
  EXPECT_EQ(context.calls() + context.yields() + context.throttles(), 0u);
  context.start();
  for (int i = 0; i < 20; ++i) {
    driver.ops->request(driver.self);
    std::this_thread::sleep_for(1ms);
  }
  for (int i = 0; i < 200 && served < 20; ++i) std::this_thread::sleep_for(10ms);
  context.stop();
  EXPECT_EQ(served, 20);
  EXPECT_NE(who, static_cast<pid_t>(syscall(SYS_gettid)));
  EXPECT_EQ(context.calls(), 20u);
  EXPECT_GT(context.dispatch_latency().count(), 0u);
  EXPECT_FALSE(context.demoted());
}
INSTANTIATE_TEST_SUITE_P(Live, EveryContext, testing::Values("OTHER", "FIFO 20", "RR 20", "RES 2ms/8ms", "WORKER"),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
                           return name;
                         });

TEST(LiveContext, HasTheSchedulingItAskedFor) {
  std::atomic<int> policy{-1};
  LiveContext context(spec("FIFO 20"), [&] {
    policy = sched_getscheduler(0);
    return 1u;
  });
  context.start();
  if (!context.shortcomings().empty()) GTEST_SKIP() << context.shortcomings().front();
  const oh_context driver = context.driver_context();
  driver.ops->request(driver.self);
  for (int i = 0; i < 200 && policy < 0; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(policy & ~SCHED_RESET_ON_FORK, SCHED_FIFO);
}

TEST(LiveContext, BecomesAnotherContextWhileItIsAtWork) {
  std::atomic<int> policy{-1}, served{0};
  LiveContext context(spec("FIFO 50"), [&] {
    policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    return static_cast<std::uint32_t>(++served);
  });
  context.start();
  if (!context.shortcomings().empty()) GTEST_SKIP() << context.shortcomings().front();
  const oh_context driver = context.driver_context();
  const auto policy_of_a_service = [&] {
    const int before = served;
    driver.ops->request(driver.self);
    for (int i = 0; i < 500 && served == before; ++i) std::this_thread::sleep_for(10ms);
    return policy.load();
  };
  const auto become = [&](const char* text) {
    const ContextSpec wanted = ContextSpec::parse(text);
    return oh_context_reconfigure(&driver, &wanted);
  };
  constexpr int kDeadline = 6;
  EXPECT_EQ(policy_of_a_service(), SCHED_FIFO);
  ASSERT_EQ(become("RES 2ms/8ms"), 0) << testing::PrintToString(context.shortcomings());
  if (!context.shortcomings().empty()) GTEST_SKIP() << context.shortcomings().front();
  EXPECT_EQ(policy_of_a_service(), kDeadline);
  EXPECT_EQ(become("THR 24"), -EINVAL);
  EXPECT_EQ(become("RES 9ms/8ms"), -EINVAL);
  EXPECT_EQ(policy_of_a_service(), kDeadline);
  EXPECT_EQ(become("OTHER"), 0);
  EXPECT_EQ(policy_of_a_service(), SCHED_OTHER);
  EXPECT_EQ(become("FIFO 20"), 0);
  EXPECT_EQ(policy_of_a_service(), SCHED_FIFO);
  char text[4];
  EXPECT_EQ(oh_context_describe(&driver, text, sizeof text), 7u);
  EXPECT_STREQ(text, "FIF");
  EXPECT_EQ(oh_context_latency_of(&driver).count, 5u);
  driver.ops->stop(driver.self);
  EXPECT_EQ(served, 5);
}

TEST(LiveContext, RefusesWhatOnlyOtherSystemsOrAKernelRun) {
  for (const char* text : {"INT", "DPC", "SOFTIRQ", "THREADED", "THR 24", "RES 9/8", "RES 0.001ms/8ms"})
    EXPECT_THROW(LiveContextConfig::parse(text), std::invalid_argument) << text;
  for (const char* text : {"OTHER", "OTHER 5", "WORKER", "FIFO 1", "RR 99", "RES 1/4", "RES 2ms/8ms strict"})
    EXPECT_EQ(LiveContextConfig::parse(text).str(), text);
}

TEST(LiveContext, ABudgetIsAtMostItsPeriodAndAtLeastWhatTheKernelTakes) {
  for (const char* text : {"RES 8ms/8ms", "RES 2/2", "RES 0.001024ms/8ms", "RES 1ms/4000ms"})
    EXPECT_EQ(LiveContextConfig::parse(text).str(), text);
  for (const char* text : {"RES 8.001ms/8ms", "RES 3/2", "RES 0.001023ms/8ms", "RES 0.001ms/0.001ms"}) {
    try {
      LiveContextConfig::parse(text);
      ADD_FAILURE() << text << " was taken";
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find(std::string(text) + "\" cannot be reserved; expected X at least"),
                std::string::npos)
          << e.what();
    }
  }
  LiveContext context(spec("OTHER"), [] { return 0u; });
  context.start();
  EXPECT_THROW(context.reconfigure(ContextSpec::parse("RES 9ms/8ms")), std::invalid_argument);
  const oh_context driver = context.driver_context();
  const ContextSpec too_much = ContextSpec::parse("RES 9ms/8ms");
  EXPECT_EQ(driver.ops->reconfigure(driver.self, &too_much), -EINVAL);
  char text[16];
  driver.ops->describe(driver.self, text, sizeof text);
  EXPECT_STREQ(text, "OTHER") << "what it was before";
}

TEST(LiveContext, AReservationInTicksCountsTheKernelsClockInterrupts) {
  const LiveContextConfig one = spec("RES 1/2"), three = spec("RES 3/6");
  EXPECT_GT(one.live_budget_ns(), 0);
  EXPECT_EQ(three.live_budget_ns(), 3 * one.live_budget_ns());
  EXPECT_EQ(one.live_period_ns(), 2 * one.live_budget_ns());
  EXPECT_EQ(spec("RES 2ms/8ms").live_period_ns(), 8'000'000);
  EXPECT_EQ(spec("FIFO 50").live_period_ns(), 0);
}

TEST(OhContext, WhatIsOptionalHasADefault) {
  oh_context_ops ops = {
      sizeof(oh_context_ops), [](void*) { return 0; }, [](void*) {}, [](void*) {}, nullptr, nullptr, nullptr};
  const oh_context context = {&ops, nullptr};
  const ContextSpec fifo = ContextSpec::parse("FIFO 50");
  char text[8] = "before";
  for (const std::size_t size : {sizeof ops, offsetof(oh_context_ops, reconfigure)}) {
    ops.struct_size = static_cast<std::uint32_t>(size);
    EXPECT_TRUE(oh_context_is_complete(&context));
    EXPECT_EQ(oh_context_reconfigure(&context, &fifo), -EOPNOTSUPP);
    EXPECT_EQ(oh_context_latency_of(&context).count, 0u);
    EXPECT_EQ(oh_context_describe(&context, text, sizeof text), 0u);
    EXPECT_STREQ(text, "");
  }
  ops.struct_size = offsetof(oh_context_ops, stop);
  EXPECT_FALSE(oh_context_is_complete(&context));
}

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

TEST(LiveContext, AReservationThatKeepsItsBudgetNeitherYieldsNorIsThrottled) {
  LiveContext context(spec("RES 30ms/100ms"), [] {
    const double begin = cpu_seconds();
    while (cpu_seconds() - begin < 0.02) {
    }
    return 1u;
  });
  context.start();
  if (!context.shortcomings().empty()) GTEST_SKIP() << context.shortcomings().front();
  const oh_context driver = context.driver_context();
  for (int i = 0; i < 3; ++i) {
    driver.ops->request(driver.self);
    std::this_thread::sleep_for(120ms);
  }
  context.stop();
  EXPECT_EQ(context.calls(), 3u);
  EXPECT_EQ(context.yields(), 0u);
  EXPECT_EQ(context.throttles(), 0u);
}

TEST(LiveContext, AReservationYieldsWhenItsBudgetIsSpent) {
  LiveContext context(spec("RES 1ms/20ms"), [] {
    const auto until = std::chrono::steady_clock::now() + 1200us;
    while (std::chrono::steady_clock::now() < until) {
    }
    return 1u;
  });
  context.start();
  if (!context.shortcomings().empty()) GTEST_SKIP() << context.shortcomings().front();
  const oh_context driver = context.driver_context();
  for (int i = 0; i < 10; ++i) {
    driver.ops->request(driver.self);
    std::this_thread::sleep_for(20ms);
  }
  context.stop();
  EXPECT_GT(context.yields() + context.throttles(), 0u);
}

}  // namespace
}  // namespace offhook
