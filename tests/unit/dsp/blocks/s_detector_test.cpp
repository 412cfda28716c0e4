// SPDX-License-Identifier: MIT
//
// S at T/2, symbol for symbol: the first symbol, the second a quarter of a turn on, and half way between each two.
#include "dsp/blocks/s_detector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/unit/dsp/v34/random.h"

namespace offhook {
namespace {

constexpr float kAmplitude = 1000;

/// T/2 sample n of S through a band with only its lines: one at the carrier, and half as strong at both edges.
/// @param turns  of the carrier offset, per symbol
Complex s_sample(int n, double turns = 0, double edges = 1) {
  const double carrier = 2 * std::numbers::pi * turns * n / 2;
  const auto line = [&](double size, double quarters, double phase) {
    const double w = carrier + std::numbers::pi / 2 * quarters * n + phase;
    return Complex{static_cast<float>(size * std::cos(w)), static_cast<float>(size * std::sin(w))};
  };
  return kAmplitude * (line(0.7, 0, 0.3) + line(0.5 * edges, 1, 1) + line(0.5 * edges, -1, -0.4));
}

struct Found {
  int s_at = -1, s_bar_at = -1;  ///< T/2 samples; -1: never
  float age = 0, turns = 0;
};

/// `silent` samples of noise, `s` of S, then S-bar.
Found find(SDetector& d, int silent, int s, double turns = 0, double noise = 0, double edges = 1) {
  v34::Random random(4, 13);
  Found f;
  for (int n = 0; n < silent + s + 64; ++n) {
    Complex u{static_cast<float>(noise * random.gaussian()), static_cast<float>(noise * random.gaussian())};
    if (n >= silent) u += (n < silent + s ? 1.f : -1.f) * s_sample(n, turns, edges);
    d.put(u);
    if (f.s_at < 0 && d.in_s()) f.s_at = n;
    if (f.s_bar_at < 0 && d.s_bar()) f.s_bar_at = n, f.age = d.age(), f.turns = d.turns_per_symbol();
  }
  return f;
}

TEST(SDetector, FindsSAndThePlaceOfSBar) {
  for (int more = 0; more < 4; ++more) {  // for every phase of a group of four
    for (const double turns : {-0.002, 0.0, 0.002}) {
      SDetector d;
      const Found f = find(d, 40 + more, 256, turns, 20);
      ASSERT_GT(f.s_at, 40) << more;
      EXPECT_LT(f.s_at, 40 + 4 * (16 + 6 + 2)) << "16 groups, and six that agree";
      ASSERT_GE(f.s_bar_at, 296 + more);
      EXPECT_LT(f.s_bar_at, 296 + more + 5 * 4) << "the third group that is against it, at the latest";
      EXPECT_NEAR(f.s_bar_at + 1 - static_cast<double>(f.age), 296 + more, 1.5) << more << ": to less than a symbol";
      EXPECT_NEAR(f.turns, turns, 2e-5);
    }
  }
}

TEST(SDetector, NeedsSixteenGroupsAndSixThatAgree) {
  SDetector d;
  int n = 0;
  while (!d.in_s() && n < 1000) d.put(s_sample(n++));
  // From the first sample on: two thirds of 16 groups soon hold most of the power, but all earlier groups are empty.
  EXPECT_GE(n, 4 * 6);
  EXPECT_LE(n, 4 * 24);
}

TEST(SDetector, AToneAtTheCarrierOrAtAnEdgeIsNoS) {
  for (const double edges : {0.0, 0.03}) {
    SDetector d;
    EXPECT_EQ(find(d, 0, 400, 0, 1, edges).s_at, -1) << edges;
  }
  SDetector d;
  for (int n = 0; n < 400; ++n) {
    d.put(kAmplitude * Complex{n % 2 ? 0.f : 1.f, 0});  // half of it if a group of four has no line
    EXPECT_FALSE(d.in_s()) << n;
  }
}

// Its power counts in all four samples of a group: with noise at a third of S's power, the lines no longer have 0.65 of
// the total.
TEST(SDetector, HearsNoSInNoiseAsStrong) {
  SDetector clear, drowned;
  EXPECT_NE(find(clear, 0, 400, 0, 250).s_at, -1);
  EXPECT_EQ(find(drowned, 0, 400, 0, 1500).s_at, -1);
}

TEST(SDetector, SThatEndsInSilenceIsLostWithoutAnSBar) {
  SDetector d;
  for (int n = 0; n < 256; ++n) d.put(s_sample(n));
  ASSERT_TRUE(d.in_s());
  int after = 0;
  for (; d.in_s() && after < 1000; ++after) {
    d.put({});
    EXPECT_FALSE(d.s_bar());
  }
  EXPECT_EQ(after, 4 * 8) << "eight groups that are neither";
}

// A line that does not transmit one end of the band.
TEST(SDetector, OneEdgeOfTheBandIsEnough) {
  for (const int quarters : {-1, 1}) {
    SDetector d;
    for (int n = 0; n < 256; ++n) {
      const double w = std::numbers::pi / 2 * quarters * n;
      d.put(kAmplitude * Complex{static_cast<float>(0.7 + 0.5 * std::cos(w)), static_cast<float>(0.5 * std::sin(w))});
    }
    EXPECT_TRUE(d.in_s()) << quarters;
  }
}

// Three equally strong lines are a pulse in one of four samples: three quarters of its power, in any of them.
TEST(SDetector, ThePowerIsThatOfAllFourSamples) {
  for (int place = 0; place < 4; ++place) {
    SDetector d;
    for (int n = 0; n < 256; ++n) d.put({n % 4 == place ? kAmplitude : 0, 0});
    EXPECT_TRUE(d.in_s()) << place;
  }
}

TEST(SDetector, SThatBecomesAToneIsLost) {
  SDetector d;
  for (int n = 0; n < 256; ++n) d.put(s_sample(n));
  ASSERT_TRUE(d.in_s());
  int after = 0;
  for (; d.in_s() && after < 1000; ++after) d.put(s_sample(256 + after, 0, 0));
  EXPECT_LE(after, 4 * (16 + 8)) << "when its window holds the tone alone, and eight groups later";
}

// Gaps shorter than eight groups do not count, however frequent.
TEST(SDetector, ShortGapsDoNotAddUp) {
  SDetector d;
  int n = 0;
  for (; n < 256; ++n) d.put(s_sample(n));
  for (int gap = 0; gap < 4; ++gap) {
    for (const int end = n + 4 * 5; n < end; ++n) d.put({});
    for (const int end = n + 4 * 40; n < end; ++n) d.put(s_sample(n));
    EXPECT_TRUE(d.in_s()) << gap;
  }
  d.reset();
  EXPECT_FALSE(d.in_s());
}

}  // namespace
}  // namespace offhook
