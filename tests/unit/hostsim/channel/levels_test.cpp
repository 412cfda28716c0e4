// SPDX-License-Identifier: MIT
#include "hostsim/channel/levels.h"

#include <gtest/gtest.h>

#include "tests/unit/hostsim/channel/tone.h"

namespace offhook::hostsim {
namespace {

TEST(Levels, GainIsThePowerOfTen) {
  for (double db : {-400.0, -96.3, -3.14, -1e-9, 0.0, 0.5, 3.0103, 20.0, 333.3})
    EXPECT_NEAR(db_to_gain(db) / std::pow(10, db / 20), 1, 1e-14) << db;
}

TEST(Levels, ZeroDbm0IsAnRmsOf16141AndFullScaleSineIs3Point14) {
  EXPECT_NEAR(dbm0_to_rms(0), 16141, 1);
  EXPECT_NEAR(dbm0_to_peak(3.14), 32768, 1e-9);
  EXPECT_NEAR(rms_to_dbm0(dbm0_to_rms(-17.3)), -17.3, 1e-9);
}

TEST(Levels, MeterReadsTheLevelOfASine) {
  for (double level : {-40.0, -13.0, 0.0}) {
    const auto x = test::sine(997, dbm0_to_peak(level), 8000);
    PowerMeter meter;
    meter.add(x.data(), 3000);
    meter.add(x.data() + 3000, 5000);
    EXPECT_NEAR(meter.dbm0(), level, 0.01);
  }
}

}  // namespace
}  // namespace offhook::hostsim
