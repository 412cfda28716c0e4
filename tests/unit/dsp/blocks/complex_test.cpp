// SPDX-License-Identifier: MIT
#include "dsp/blocks/complex.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace offhook {
namespace {

TEST(Complex, AnglesAreThoseOfTheTextbookInEveryOctant) {
  for (int n = -1000; n <= 1000; ++n) {
    const double turns = n / 2000.0;
    for (const double size : {1e-6, 1.0, 3e4}) {
      const Complex a{static_cast<float>(size * std::cos(2 * std::numbers::pi * turns)),
                      static_cast<float>(size * std::sin(2 * std::numbers::pi * turns))};
      const double expected = std::atan2(static_cast<double>(a.im), static_cast<double>(a.re)) / (2 * std::numbers::pi);
      EXPECT_NEAR(angle_turns(a), expected, 1e-7) << n;
    }
  }
  EXPECT_EQ(angle_turns({0, 0}), 0);
  EXPECT_EQ(angle_turns({1, 0}), 0);
  EXPECT_EQ(angle_turns({-1, 0}), 0.5f);
  EXPECT_EQ(angle_turns({0, -2}), -0.25f);
}

TEST(Complex, ProductsPowersAndSizes) {
  constexpr Complex a{3, 4}, b{-2, 0.5f};
  EXPECT_EQ(a + b, (Complex{1, 4.5f}));
  EXPECT_EQ(a - b, (Complex{5, 3.5f}));
  EXPECT_EQ(a * b, (Complex{-8, -6.5f}));
  EXPECT_EQ(2 * a, (Complex{6, 8}));
  EXPECT_EQ(conj(a), (Complex{3, -4}));
  EXPECT_EQ(norm(a), 25);
  EXPECT_EQ(magnitude(a), 5);
}

}  // namespace
}  // namespace offhook
