// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/precoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdlib>

#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {

std::ostream& operator<<(std::ostream& out, const Point& p) {
  return out << p.re << "," << p.im;
}
std::ostream& operator<<(std::ostream& out, const FixedPoint& p) {
  return out << p.re << "," << p.im;
}

namespace {

// h(1) = -0.6 + 0.2j, h(2) = 0.3 - 0.1j, h(3) = -0.05 + 2^-10 j.
constexpr PrecoderCoefficients kH{{{-9830, 3277}, {4915, -1638}, {-820, 16}}};

Point random_odd(Random& random, int range) {
  const auto odd = [&] { return static_cast<int16_t>(2 * static_cast<int>(random.below(range)) - range + 1); };
  const int16_t re = odd();
  return {re, odd()};
}

TEST(V34Precoder, HalvesAreRoundedTowardsZero) {
  EXPECT_EQ(round_half_to_zero(1, 1), 0);
  EXPECT_EQ(round_half_to_zero(-1, 1), 0);
  EXPECT_EQ(round_half_to_zero(3, 1), 1);
  EXPECT_EQ(round_half_to_zero(-3, 1), -1);
  EXPECT_EQ(round_half_to_zero(5, 1), 2);
  EXPECT_EQ(round_half_to_zero(128, 8), 0);  // p = 1, w = 1
  EXPECT_EQ(round_half_to_zero(-128, 8), 0);
  EXPECT_EQ(round_half_to_zero(129, 8), 1);
  EXPECT_EQ(round_half_to_zero(256, 9), 0);  // p = 2, w = 2
  EXPECT_EQ(round_half_to_zero(257, 9), 1);
}

// Computed with exact rationals from 9.6.2.
TEST(V34Precoder, EqualsTheAlgorithmOfClause962) {
  const Point u[8] = {{1, 1}, {-3, 1}, {5, -7}, {9, 13}, {-11, 3}, {1, -23}, {25, 9}, {-7, -31}};
  const Point c[2][8] = {{{0, 0}, {0, 0}, {2, -2}, {-2, 6}, {-8, -8}, {10, -2}, {0, 16}, {-18, -8}},
                         {{0, 0}, {0, 0}, {0, 0}, {0, 4}, {-8, -8}, {12, 0}, {0, 16}, {-20, -8}}};
  const FixedPoint x[2][8] = {
      {{128, 128}, {-282, 179}, {711, -1014}, {1193, 1606}, {-1521, 469}, {105, -3028}, {3128, 1149}, {-898, -3984}},
      {{128, 128}, {-282, 179}, {455, -758}, {1347, 1555}, {-1387, 306}, {356, -2853}, {3297, 1263}, {-1116, -3986}}};
  for (int w = 1; w <= 2; ++w) {
    Precoder precoder(kH, w);
    for (int n = 0; n < 8; ++n) {
      EXPECT_EQ(precoder.offset(), c[w - 1][n]) << n;
      Point y;
      EXPECT_EQ(precoder.encode(u[n], &y), x[w - 1][n]) << n;
      EXPECT_EQ(
          y, (Point{static_cast<int16_t>(u[n].re + c[w - 1][n].re), static_cast<int16_t>(u[n].im + c[w - 1][n].im)}));
    }
  }
}

TEST(V34Precoder, ReceiverSeesAPointOfTheGridWithinHalfAStepOfRounding) {
  for (int w = 1; w <= 2; ++w) {
    Precoder precoder(kH, w);
    Random random(6, static_cast<uint32_t>(w));
    std::complex<double> x[4]{};
    std::complex<double> h[4] = {1.0};
    for (int k = 0; k < 3; ++k) h[k + 1] = {kH.h[k].re / 16384.0, kH.h[k].im / 16384.0};
    for (int n = 0; n < 5000; ++n) {
      Point y;
      const FixedPoint sent = precoder.encode(random_odd(random, 40), &y);
      for (int k = 3; k > 0; --k) x[k] = x[k - 1];
      x[0] = {sent.re / 128.0, sent.im / 128.0};
      std::complex<double> received = 0;
      for (int k = 0; k < 4; ++k) received += h[k] * x[k];
      EXPECT_LE(std::abs(received.real() - y.re), 1.0 / 256 + 1e-12);
      EXPECT_LE(std::abs(received.imag() - y.im), 1.0 / 256 + 1e-12);
      ASSERT_EQ(y.re & 1, 1);
      ASSERT_EQ(y.im & 1, 1);
    }
  }
}

TEST(V34Precoder, DecoderInvertsItForAnyCoefficients) {
  Random random(7, 0);
  for (int trial = 0; trial < 200; ++trial) {
    PrecoderCoefficients h;
    for (auto& tap : h.h) {
      tap.re = static_cast<int16_t>(random.next());
      tap.im = static_cast<int16_t>(random.next());
    }
    const int w = 1 + trial % 2;
    Precoder transmitter(h, w);
    Precoder receiver(h, w);
    for (int n = 0; n < 500; ++n) {
      const Point u = random_odd(random, 42);
      Point y;
      const FixedPoint sent = transmitter.encode(u, &y);
      FixedPoint x;
      ASSERT_EQ(receiver.decode(y, &x), u);
      ASSERT_EQ(x, sent);
      ASSERT_LE(std::abs(sent.re - 128 * u.re), 128 * w);  // x stays within w of u, so power cannot run away
      ASSERT_LE(std::abs(sent.im - 128 * u.im), 128 * w);
    }
  }
}

TEST(V34Precoder, ReceiverRecoversFromAWrongDecision) {
  Precoder transmitter(kH, 1);
  Precoder receiver(kH, 1);
  Random random(8, 0);
  int wrong_late = 0;
  for (int n = 0; n < 400; ++n) {
    const Point u = random_odd(random, 20);
    Point y;
    transmitter.encode(u, &y);
    if (n == 100) y.re = static_cast<int16_t>(y.re + 2);
    if (!(receiver.decode(y) == u) && n > 150) ++wrong_late;
  }
  EXPECT_EQ(wrong_late, 0);
}

}  // namespace
}  // namespace offhook::v34
