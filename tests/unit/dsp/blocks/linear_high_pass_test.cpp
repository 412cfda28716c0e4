// SPDX-License-Identifier: MIT
#include "dsp/blocks/linear_high_pass.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

namespace offhook {
namespace {

/// The response to e^(j w n), relative to the input kDelaySamples ago.
std::complex<double> response(double hz) {
  const double w = 2 * std::numbers::pi * hz / 8000;
  LinearHighPass filter;
  std::complex<double> sum;
  for (int n = 0; n < 128; ++n) {
    const double tap = static_cast<double>(filter.process(n == 0 ? 1.f : 0.f));
    sum += tap * std::polar(1.0, -w * (n - LinearHighPass::kDelaySamples));
  }
  return sum;
}

double gain_db(double hz) {
  return 20 * std::log10(std::abs(response(hz)));
}

TEST(LinearHighPass, RemovesDcAndHumUpToTheFifthHarmonic) {
  for (const double hz : {0.0, 50.0, 60.0, 100.0, 120.0, 150.0, 180.0, 250.0, 285.0}) EXPECT_LT(gain_db(hz), -50) << hz;
  EXPECT_LT(gain_db(300), -35);
}

TEST(LinearHighPass, PassesTheBandOfEveryFaxSignalWithLinearPhase) {
  for (double hz = 515; hz <= 3900; hz += 5) {
    EXPECT_NEAR(gain_db(hz), 0, 0.1) << hz;
    EXPECT_NEAR(std::arg(response(hz)), 0, 1e-4) << hz;
  }
}

}  // namespace
}  // namespace offhook
