// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/timebase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>

namespace offhook::v90 {
namespace {

constexpr double kDelay = Timebase::kTaps / 2. - 1;  // samples

// Output m is the input at the instant m (1 + deviation), less the filter's delay and what was asked for besides.
TEST(V90Timebase, GivesTheInputAtTheInstantsOfTheOtherClockTo75Decibels) {
  for (const double hz : {300., 1000., 3000., 4600.}) {
    for (const double deviation : {0., 1e-4, 0.0123, -0.0123}) {
      SCOPED_TRACE(testing::Message() << hz << " Hz, " << deviation);
      auto timebase = std::make_unique<Timebase>();
      timebase->init(best_kernels());
      timebase->set_deviation(deviation);
      timebase->delay(0.37f);
      const auto input = [hz](double at) { return std::sin(2 * std::numbers::pi * hz * at / 16'000); };
      double error = 0, power = 0;
      int outputs = 0;
      for (int n = 0; n < 4000; ++n) {
        timebase->put(static_cast<float>(input(n)));
        for (float out = 0; timebase->next(&out); ++outputs) {
          if (n < 2 * Timebase::kTaps) continue;
          const double expected = input(outputs * (1 + deviation) + 0.37 - kDelay);
          error += (out - expected) * (out - expected);
          power += expected * expected;
        }
      }
      EXPECT_NEAR(outputs, 4000 / (1 + deviation), 2);
      EXPECT_LT(10 * std::log10(error / power), -70);
    }
  }
}

// Late by the least that there is, an output lies a whole sample before the newest, and its last phase ends the table:
// in the sanitizers' build a read beyond it ends the test.
TEST(V90Timebase, TheOldestInstantIsWithinTheTable) {
  auto timebase = std::make_unique<Timebase>();
  timebase->init(best_kernels());
  timebase->delay(1 / 4294967296.0f);
  float out = 0;
  int outputs = 0;
  for (int n = 0; n < 100; ++n) {
    timebase->put(static_cast<float>(n));
    while (timebase->next(&out)) ++outputs;
  }
  EXPECT_EQ(outputs, 99);
  EXPECT_NEAR(out, 99 - 1 - kDelay, 0.1);
}

}  // namespace
}  // namespace offhook::v90
