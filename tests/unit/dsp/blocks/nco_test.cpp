// SPDX-License-Identifier: MIT
#include "dsp/blocks/nco.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace offhook {
namespace {

constexpr double kTwoPi = 6.283185307179586476925;

TEST(Nco, IsTheComplexExponentialWithin136dBOverTheWholeTurn) {
  double worst = 0;
  for (std::uint64_t phase = 0; phase < (1ull << 32); phase += 65'521) {  // a prime: every place between the points
    const oh_complex z = Nco::at(static_cast<std::uint32_t>(phase));
    const double angle = kTwoPi * static_cast<double>(phase) * 0x1p-32;
    worst = std::max(
        worst, std::hypot(static_cast<double>(z.re) - std::cos(angle), static_cast<double>(z.im) - std::sin(angle)));
  }
  EXPECT_LT(worst, 1.5e-7);
}

TEST(Nco, QuartersOfATurnAreExact) {
  const auto expect = [](std::uint32_t phase, float re, float im) {
    EXPECT_NEAR(Nco::at(phase).re, re, 1e-15f);
    EXPECT_NEAR(Nco::at(phase).im, im, 1e-15f);
  };
  expect(0, 1, 0);
  expect(0x40000000u, 0, 1);
  expect(0x80000000u, -1, 0);
  expect(0xC0000000u, 0, -1);
}

TEST(Nco, PhaseAfterTenMinutesIsThatOfTheStepTo32Bits) {
  for (double hz : {1800.0, -1200.5, 0.0}) {
    const std::uint32_t step = Nco::step_of(hz, 8000);
    EXPECT_NEAR(static_cast<double>(static_cast<std::int32_t>(step)) * 8000 * 0x1p-32, hz, 8000 * 0x1p-33);
    Nco nco(step, 77);
    std::uint64_t n = 0;
    for (; n < 4'800'000; ++n) nco.next();
    EXPECT_EQ(nco.phase(), static_cast<std::uint32_t>(77 + n * step));
  }
}

TEST(Nco, AdjustMovesThePhaseBothWays) {
  Nco nco(0, 100);
  nco.adjust(-200);
  EXPECT_EQ(nco.phase(), static_cast<std::uint32_t>(-100));
  nco.adjust(300);
  EXPECT_EQ(nco.phase(), 200u);
}

}  // namespace
}  // namespace offhook
