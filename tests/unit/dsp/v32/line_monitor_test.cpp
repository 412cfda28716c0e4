// SPDX-License-Identifier: MIT
#include "dsp/v32/line_monitor.h"

#include <gtest/gtest.h>

namespace offhook::v32 {
namespace {

using Advice = LineMonitor::Advice;
constexpr int k9600 = 2, k12000 = 3;
constexpr float kSmallError = 0.1f, kLargeError = 0.9f;
constexpr double kUsual = 20;  // dB: enough for 9600 bit/s, too little for 12,000

/// @return the number of checks until an advice, and the advice; 0: none in `most`
struct Given {
  int looks;
  Advice advice;
  bool operator==(const Given&) const = default;
};
Given look(LineMonitor& monitor, float error, double snr_db, int next, int most) {
  for (int n = 1; n <= most; ++n) {
    if (const Advice advice = monitor.put(error, snr_db, next); advice != Advice::kNone) return {n, advice};
  }
  return {0, Advice::kNone};
}
const Given kNone = {0, Advice::kNone};

LineMonitor at_9600() {
  LineMonitor monitor;
  monitor.start(k9600);
  return monitor;
}

TEST(V32LineMonitor, ASignalThatIsLostForHalfASecondIsARetrain) {
  LineMonitor monitor = at_9600();
  EXPECT_EQ(look(monitor, LineMonitor::kLostError, kUsual, k12000, 1000), kNone) << "not yet lost";
  EXPECT_EQ(look(monitor, kLargeError, kUsual, k12000, LineMonitor::kLost), kNone);
  EXPECT_EQ(look(monitor, kSmallError, kUsual, k12000, 1), kNone) << "there again: from the beginning";
  EXPECT_EQ(look(monitor, kLargeError, kUsual, k12000, 1000), (Given{LineMonitor::kLost + 1, Advice::kRetrain}));
}

TEST(V32LineMonitor, NoiseOfTwoSecondsIsALowerRateAndAgainAfterTwoMore) {
  const double needed = kLeastSnrDb[k9600] - LineMonitor::kBelowDb;
  LineMonitor monitor = at_9600();
  EXPECT_EQ(look(monitor, kSmallError, needed, k12000, 1000), kNone) << "what it needs, exactly";
  EXPECT_EQ(look(monitor, kSmallError, needed - 0.1, k12000, LineMonitor::kBad), kNone);
  EXPECT_EQ(look(monitor, kSmallError, needed, k12000, 1), kNone);
  for (int n = 0; n < 2; ++n)
    EXPECT_EQ(look(monitor, kSmallError, needed - 0.1, k12000, 1000), (Given{LineMonitor::kBad + 1, Advice::kLower}));
}

// Where a line clips, the mean error is small, and the outer points are wrong.
TEST(V32LineMonitor, ManyLargeErrorsOfTwoSecondsAreALowerRateWhateverTheMean) {
  const double enough = kLeastSnrDb[k12000] + LineMonitor::kAboveDb + 1;
  LineMonitor monitor = at_9600();
  monitor.put_far_share(LineMonitor::kMostFar);
  EXPECT_EQ(look(monitor, kSmallError, enough, -1, 1000), kNone) << "no more than the most";
  monitor.put_far_share(2 * LineMonitor::kMostFar);
  EXPECT_EQ(look(monitor, kSmallError, enough, k12000, 1000), (Given{LineMonitor::kBad + 1, Advice::kLower}));
  monitor.start(k9600);
  EXPECT_EQ(look(monitor, kSmallError, enough, k12000, 1000), (Given{LineMonitor::kGood + 1, Advice::kHigher}));
}

TEST(V32LineMonitor, AHigherRateIsTriedAfterFiveSecondsAndThenHalfAsOften) {
  const double enough = kLeastSnrDb[k12000] + LineMonitor::kAboveDb;
  LineMonitor monitor = at_9600();
  EXPECT_EQ(look(monitor, kSmallError, enough, k12000, 2000), kNone) << "no more than it needs";
  EXPECT_EQ(look(monitor, kSmallError, enough + 9, -1, 2000), kNone) << "no faster rate of both ends";
  for (const int wait : {LineMonitor::kGood, 2 * LineMonitor::kGood, 4 * LineMonitor::kGood})
    EXPECT_EQ(look(monitor, kSmallError, enough + 0.1, k12000, 10'000), (Given{wait + 1, Advice::kHigher}));
}

TEST(V32LineMonitor, CountsAnewForARateThatBegins) {
  LineMonitor monitor = at_9600();
  look(monitor, kLargeError, 0, k12000, LineMonitor::kLost);
  monitor.start(k9600);
  EXPECT_EQ(look(monitor, kLargeError, kUsual, k12000, 1000), (Given{LineMonitor::kLost + 1, Advice::kRetrain}));
  LineMonitor noisy = at_9600();
  look(noisy, kSmallError, 0, k12000, LineMonitor::kBad);
  noisy.start(k9600);
  EXPECT_EQ(look(noisy, kSmallError, 0, k12000, 1000), (Given{LineMonitor::kBad + 1, Advice::kLower}));
  LineMonitor good = at_9600();
  look(good, kSmallError, 40, k12000, LineMonitor::kGood);
  good.start(k9600);
  EXPECT_EQ(look(good, kSmallError, 40, k12000, 1000), (Given{LineMonitor::kGood + 1, Advice::kHigher}));
}

}  // namespace
}  // namespace offhook::v32
