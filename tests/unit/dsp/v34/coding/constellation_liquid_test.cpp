// SPDX-License-Identifier: MIT
//
// The points of V.34 against liquid's square constellations: V.34 takes points by rising magnitude, so the first 16 are
// a square; 64 and 256 points of a square are among the first that reach as far as its corners, and no others lie
// within it. Both hold the points as floats: a part in 10^6 is rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "dsp/v34/coding/constellation.h"
#include "tests/unit/liquid.h"

namespace offhook::v34 {
namespace {

TEST(V34Constellation, HoldsLiquidsSquares) {
  const struct {
    modulation_scheme scheme;
    int side;
  } cases[] = {{LIQUID_MODEM_QAM4, 2}, {LIQUID_MODEM_QAM16, 4}, {LIQUID_MODEM_QAM64, 8}, {LIQUID_MODEM_QAM256, 16}};
  for (const auto& c : cases) {
    std::vector<std::complex<float>> ours;
    double power = 0;
    for (int k = 0; k < kQuarterPoints; ++k) {
      for (int turn = 0; turn < 4; ++turn) {
        const Point p = rotate_cw(quarter_point(k), turn);
        if (std::abs(p.re) >= c.side || std::abs(p.im) >= c.side) continue;
        ours.emplace_back(p.re, p.im);
        power += static_cast<double>(p.re * p.re + p.im * p.im);
      }
    }
    const auto liquid = test::liquid_points(c.scheme);
    ASSERT_EQ(ours.size(), liquid.size()) << c.side;
    const auto scale = static_cast<float>(1 / std::sqrt(power / static_cast<double>(ours.size())));
    EXPECT_LT(test::farthest(ours, liquid, scale), 1e-6f) << c.side;
  }
}

}  // namespace
}  // namespace offhook::v34
