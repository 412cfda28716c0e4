// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "dsp/v90/session/analogue.h"

namespace offhook::v90 {
namespace {

constexpr double kZeroDbm0 = 16141;  // in the units of Table 1

double dbm0(Law law, int ucode) {
  return 20 * std::log10(linear_of(law, ucode) / kZeroDbm0);
}

TEST(V90UInfo, IsTheHighestUcodeWithinTheDigitalModemsPowerAndThoseOfTable10) {
  constexpr double kRounding = 0.01;  // of Table 15
  for (const Law law : {Law::kMu, Law::kA}) {
    for (int v = 0; v < 32; ++v) {  // bits 33:37 of INFO0d
      const double limit = -0.5 * (v + 1);
      const int u = choose_u_info(law, v);
      EXPECT_GE(u, 67);
      EXPECT_LE(u, 111) << "UINFO + 16 is sent, too";
      EXPECT_LE(dbm0(law, u), limit + kRounding) << v;
      if (u < 111) {
        EXPECT_GT(dbm0(law, u + 1), limit - 0.1) << v;
      }
    }
  }
}

}  // namespace
}  // namespace offhook::v90
