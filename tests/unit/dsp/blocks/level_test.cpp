// SPDX-License-Identifier: MIT
#include "dsp/blocks/level.h"

#include <gtest/gtest.h>

#include <cmath>

namespace offhook {
namespace {

TEST(Level, GainIsThePowerOfTen) {
  for (double db : {-400.0, -96.3, -3.14, -1e-9, 0.0, 0.5, 3.0103, 20.0, 333.3})
    EXPECT_NEAR(db_to_gain(db) / std::pow(10, db / 20), 1, 1e-14) << db;
}

TEST(Level, ZeroDbm0IsAnRmsOf16141AndFullScaleSineIs3Point14) {
  EXPECT_NEAR(dbm0_to_rms(0), 32768 / std::sqrt(2) / std::pow(10, 3.14 / 20), 1e-9);
  EXPECT_NEAR(dbm0_to_peak(3.14), 32768, 1e-9);
  EXPECT_NEAR(mean_square_to_dbm0(std::pow(dbm0_to_rms(-17.3), 2)), -17.3, 1e-9);
}

TEST(Level, OfASineIsThatOfItsMeanSquare) {
  for (double level : {-40.0, -13.0, 0.0}) {
    double sum = 0;
    for (int k = 0; k < 8000; ++k) sum += std::pow(dbm0_to_peak(level) * std::sin(2 * M_PI * 997 * k / 8000), 2);
    EXPECT_NEAR(mean_square_to_dbm0(sum / 8000), level, 1e-9);
  }
}

}  // namespace
}  // namespace offhook
