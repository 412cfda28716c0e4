// SPDX-License-Identifier: MIT
//
// Levels against liquid's gain control: what it says of a tone's strength, in dB, moves as our dBm0 do. Its loop has
// settled to 10^-4 after 20 time constants, 0.001 dB.
#include <gtest/gtest.h>

#include <cmath>

#include "dsp/blocks/level.h"
#include "tests/unit/liquid.h"

namespace offhook {
namespace {

float strength_db(double rms) {
  agc_crcf agc = agc_crcf_create();
  agc_crcf_set_bandwidth(agc, 0.01f);
  for (int n = 0; n < 20'000; ++n) {
    std::complex<float> y;
    agc_crcf_execute(agc, std::polar(static_cast<float>(rms / 32768), static_cast<float>(std::fmod(0.7 * n, 2 * M_PI))),
                     &y);
  }
  const float db = agc_crcf_get_rssi(agc);
  agc_crcf_destroy(agc);
  return db;
}

TEST(Level, MovesAsLiquidsGainControlSays) {
  const double zero_db = strength_db(dbm0_to_rms(0));
  for (const double dbm0 : {-48.0, -43.0, -22.5, -12.0, -9.0, 3.0}) {
    const double rms = dbm0_to_rms(dbm0);
    EXPECT_NEAR(strength_db(rms) - zero_db, dbm0, 0.01);
    EXPECT_NEAR(mean_square_to_dbm0(rms * rms), strength_db(rms) - zero_db, 0.01);
  }
}

}  // namespace
}  // namespace offhook
