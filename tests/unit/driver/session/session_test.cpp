// SPDX-License-Identifier: MIT
#include "driver/session/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

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
  const auto is_demoted = [](const std::vector<std::string>& all) {
    return !all.empty() && all.back().find("the watchdog made a normal thread of it") != std::string::npos;
  };
  // It may have happened already: the spinner can have had this thread's CPU.
  std::vector<std::string> all = session.shortcomings();
  if (!all.empty() && !is_demoted(all)) GTEST_SKIP() << all.front();
  for (int i = 0; i < 500 && !is_demoted(all); ++i, all = session.shortcomings())
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(is_demoted(all)) << testing::PrintToString(all);
}

}  // namespace
}  // namespace offhook::modem
