// SPDX-License-Identifier: MIT
#include "driver/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "driver/card/live/live_card.h"
#include "offhook/modem_card.h"

namespace offhook::modem {
namespace {

/// Its interrupt is always raised, for some seconds of CPU time at the most.
class StuckCard final : public LocalCard {
 public:
  StuckCard() : LocalCard(oh_modem_streams(OH_MODEM_RATE_HZ)) {}
  void start() override {}
  Wait wait() override { return stopped_ || monotonic_ns() > end_ns_ ? Wait::kStopped : Wait::kInterrupt; }
  void stop() override { stopped_ = true; }

 private:
  std::atomic<bool> stopped_{false};
  std::int64_t end_ns_ = monotonic_ns() + 5'000'000'000;
};

TEST(Session, AnInterruptThatNeverEndsMakesItsThreadANormalOne) {
  StuckCard card;
  SessionConfig config;
  config.context.best_effort = true;
  Session session(card, config);
  if (!session.shortcomings().empty()) GTEST_SKIP() << session.shortcomings().front();
  for (int i = 0; i < 500 && session.shortcomings().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_THAT(session.shortcomings(), testing::Contains(testing::HasSubstr("the watchdog made a normal thread of it")));
}

}  // namespace
}  // namespace offhook::modem
