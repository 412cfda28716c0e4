// SPDX-License-Identifier: MIT
//
// The signal points of V.32bis against liquid's square and cross constellations. Those with an odd number of coded bits
// are crosses turned by 45 degrees. liquid prints its crosses with six decimals at best; neighbours are 0.15 apart.
#include <gtest/gtest.h>

#include <cmath>

#include "dsp/v32/transmitter.h"
#include "tests/unit/liquid.h"

namespace offhook::v32 {
namespace {

TEST(V32Constellations, AreLiquidsSquaresAndCrosses) {
  const struct {
    int rate;
    modulation_scheme scheme;
    float turn;
  } cases[] = {{0, LIQUID_MODEM_QAM4, 0},  {1, LIQUID_MODEM_QAM16, 0},       {2, LIQUID_MODEM_SQAM32, 0.25f},
               {3, LIQUID_MODEM_QAM64, 0}, {4, LIQUID_MODEM_SQAM128, 0.25f}, {kPlain9600, LIQUID_MODEM_QAM16, 0}};
  for (const auto& c : cases) {
    const Rate& rate = kRates[c.rate];
    std::vector<std::complex<float>> ours;
    for (int k = 0; k < rate.count; ++k) ours.emplace_back(rate.points[k].re, rate.points[k].im);
    const auto liquid = test::liquid_points(c.scheme);
    ASSERT_EQ(ours.size(), liquid.size()) << rate.bit_rate;
    // In Figure 2-5 the four points form a square that is turned by atan(1/3) from the axes' diagonals.
    const float turn = c.rate == 0 ? std::arg(std::complex<float>(1, 1)) - std::arg(std::complex<float>(3, 1))
                                   : c.turn * static_cast<float>(M_PI);
    const auto scale = std::polar(1 / std::sqrt(mean_power(rate)), turn);
    EXPECT_LT(test::farthest(ours, liquid, scale), 1e-4f) << rate.bit_rate;
  }
}

}  // namespace
}  // namespace offhook::v32
