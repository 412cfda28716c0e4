// SPDX-License-Identifier: MIT
#include "dsp/blocks/high_pass.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace offhook {
namespace {

double gain_db(double hz) {
  HighPass filter;
  double in = 0, out = 0;
  for (int n = 0; n < 32'000; ++n) {
    const auto x = static_cast<float>(10'000 * std::cos(2 * std::numbers::pi * hz * n / 8000));
    const float y = filter.process(x);
    if (n < 16'000) continue;
    in += static_cast<double>(x) * static_cast<double>(x);
    out += static_cast<double>(y) * static_cast<double>(y);
  }
  return 10 * std::log10(out / in);
}

TEST(HighPass, TakesDcAndTheMainsAway) {
  for (const double hz : {0., 49.8, 50., 50.2, 59.8, 60., 60.2}) EXPECT_LT(gain_db(hz), -80) << hz;
  EXPECT_LT(gain_db(100), -34);
  EXPECT_LT(gain_db(120), -22);
}

TEST(HighPass, LeavesTheBandOfEverySymbolRate) {
  for (const double hz : {229., 245., 300., 1000., 1800., 3400., 3674.}) EXPECT_NEAR(gain_db(hz), 0, 1.2) << hz;
  for (const double hz : {1800., 2400., 3674.}) EXPECT_NEAR(gain_db(hz), 0, 0.1) << hz;
}

}  // namespace
}  // namespace offhook
