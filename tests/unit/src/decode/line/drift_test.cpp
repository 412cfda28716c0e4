// SPDX-License-Identifier: MIT
#include "src/decode/line/drift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "src/decode/call/call.h"
#include "src/decode/call/verdict.h"
#include "src/decode/line/samples.h"

namespace offhook::decode {
namespace {

std::vector<float> noise(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> gauss(0, 3000);
  std::vector<float> x(n);
  float a = 0, b = 0;
  for (float& v : x) {  // below 3 kHz or so
    const float now = gauss(random);
    v = now + a + 0.5F * b;
    b = a;
    a = now;
  }
  return x;
}

// Two directions with the echo of b in a, 12 dB down and 1 ms late; then the clock of b is `ppm` faster.
struct Pair {
  std::vector<float> a, b;
};
Pair recorded(double ppm, float echo) {
  constexpr std::size_t kSize = 12 * kRateHz, kLate = 8;
  Pair p{noise(kSize, 1), noise(kSize, 2)};
  for (std::size_t i = kLate; i < kSize; ++i) p.a[i] += echo * p.b[i - kLate];
  p.b = on_slower_clock(p.b, -ppm, kSize);
  return p;
}

TEST(DecodeDrift, TheEchoBetweenTwoChannelsTellsTheirClocksApart) {
  constexpr double kNearPpm = 1.5;  // the search for the echo's paths refines it
  for (const double ppm : {-300.0, -100.0, -10.0, 10.0, 100.0, 300.0}) {
    const Pair p = recorded(ppm, 0.25F);
    const auto measured = clock_difference_ppm(p.a, p.b);
    ASSERT_TRUE(measured.has_value()) << ppm;
    EXPECT_NEAR(*measured, ppm, kNearPpm) << ppm;
    const auto other_way = clock_difference_ppm(p.b, p.a);
    ASSERT_TRUE(other_way.has_value()) << ppm;
    EXPECT_NEAR(*other_way, -ppm, kNearPpm) << ppm;
  }
}

TEST(DecodeDrift, OneClockOrNoEchoIsNoDifference) {
  const Pair one = recorded(0, 0.25F), none = recorded(100, 0);
  EXPECT_EQ(clock_difference_ppm(one.a, one.b), std::nullopt);
  EXPECT_EQ(clock_difference_ppm(none.a, none.b), std::nullopt);
  EXPECT_EQ(clock_difference_ppm({}, {}), std::nullopt);
}

TEST(DecodeDrift, ASlowerClockTakesTheSameSignal) {
  constexpr std::size_t kSize = 8000;
  std::vector<float> x(kSize), y(kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    x[i] = static_cast<float>(std::sin(2.0 * static_cast<double>(i)));
    y[i] = static_cast<float>(std::sin(2.0 * 1.0002 * static_cast<double>(i)));
  }
  const std::vector<float> slower = on_slower_clock(x, 200, kSize);
  for (std::size_t i = 200; i < kSize - 200; ++i) ASSERT_NEAR(slower[i], y[i], 0.005) << i;
}

// A call of this project whose echo, 12 dB down, hides the data of the other direction.
TEST(DecodeDrift, ACallOfTwoClocksIsReadToTheEnd) {
  constexpr double kPpm = 100;
  Recording r = read_recording(std::filesystem::path(OFFHOOK_SOURCE_DIR) / "examples/call.wav");
  r.channel[1] = on_slower_clock(r.channel[1], -kPpm, r.channel[1].size());
  const Call call = analyse(std::move(r));
  ASSERT_TRUE(call.clock_difference_ppm.has_value());
  EXPECT_NEAR(*call.clock_difference_ppm, kPpm, 0.5);
  for (const Verdict::Direction& d : verdict_of(call).directions) {
    EXPECT_TRUE(d.to_the_end) << d.name << ": " << d.reason;
    EXPECT_EQ(d.bad_frames, 0) << d.name;
  }
}

}  // namespace
}  // namespace offhook::decode
