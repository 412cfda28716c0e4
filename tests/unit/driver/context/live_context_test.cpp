// SPDX-License-Identifier: MIT
#include "driver/context/live_context.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace offhook {
namespace {

using namespace std::chrono_literals;

ContextSpec spec(const char* text) {
  ContextSpec s = ContextSpec::parse(text);
  s.best_effort = true;  // of an unprivileged user's machine
  return s;
}

TEST(ContextSpec, ReadsWhatItWrites) {
  for (const char* text : {"OTHER", "FIFO 50", "RR 1", "RES 2/8", "RES 1.5/12.5", "FIFO 99"}) {
    EXPECT_EQ(ContextSpec::parse(text).str(), text);
  }
  for (const char* text : {"", "FIFO", "FIFO 0", "FIFO 100", "FIFO 1.5", "RES 2", "RES 9/8", "RES 0/8", "RES 2/8 x",
                           "OTHER 1", "THR 24", "RES nan/8", "RES 1/9999"}) {
    EXPECT_THROW(ContextSpec::parse(text), std::invalid_argument) << text;
  }
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
  context.start();
  for (int i = 0; i < 20; ++i) {
    driver.request_service(driver.self);
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
INSTANTIATE_TEST_SUITE_P(Live, EveryContext, testing::Values("OTHER", "FIFO 20", "RR 20", "RES 2/8"),
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
  driver.request_service(driver.self);
  for (int i = 0; i < 200 && policy < 0; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(policy & ~SCHED_RESET_ON_FORK, SCHED_FIFO);
}

TEST(LiveContext, AReservationYieldsWhenItsBudgetIsSpent) {
  LiveContext context(spec("RES 1/20"), [] {
    const auto until = std::chrono::steady_clock::now() + 1200us;
    while (std::chrono::steady_clock::now() < until) {
    }
    return 1u;
  });
  context.start();
  if (!context.shortcomings().empty()) GTEST_SKIP() << context.shortcomings().front();
  const oh_context driver = context.driver_context();
  for (int i = 0; i < 10; ++i) {
    driver.request_service(driver.self);
    std::this_thread::sleep_for(20ms);
  }
  context.stop();
  EXPECT_GT(context.yields() + context.throttles(), 0u);
}

TEST(LiveContext, AThreadGoneWildIsMadeANormalOne) {
  std::atomic<bool> enough{false};
  LiveContext context(spec("FIFO 10"), [&] {
    const auto until = std::chrono::steady_clock::now() + 20s;  // the test's own backstop
    while (!enough && std::chrono::steady_clock::now() < until) {
    }
    return 1u;
  });
  context.start();
  if (!context.shortcomings().empty()) GTEST_SKIP() << context.shortcomings().front();
  const oh_context driver = context.driver_context();
  driver.request_service(driver.self);
  for (int i = 0; i < 1800 && !context.demoted(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(context.demoted());
  enough = true;
}

}  // namespace
}  // namespace offhook
