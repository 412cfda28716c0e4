// SPDX-License-Identifier: MIT
#include "driver/live/clock_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace offhook {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMs = 1'000'000, kSecond = 1000 * kMs;
constexpr std::uint32_t kRate = 8000, kPeriod = 100;

ClockWatch begun(std::uint64_t samples = 0, std::int64_t ns = 0) {
  ClockWatch watch(kRate, kPeriod);
  watch.restart(samples, ns);
  return watch;
}

TEST(ClockWatch, ExpectsWhatTheNewestCountAndTheClockSay) {
  ClockWatch watch = begun(500, kSecond);
  EXPECT_EQ(watch.expected(kSecond), 500u);
  EXPECT_EQ(watch.expected(2 * kSecond), 8500u);
  EXPECT_EQ(watch.expected(0), 500u) << "a clock read earlier";
  watch.seen(600, kSecond + 12 * kMs);
  EXPECT_EQ(watch.expected(kSecond + 13 * kMs), 608u);
  watch.seen(600, kSecond + 20 * kMs);
  EXPECT_EQ(watch.expected(kSecond + 13 * kMs), 608u) << "the same count again says nothing new";
}

TEST(ClockWatch, ASecondWithoutSamplesIsTheEnd) {
  ClockWatch watch = begun();
  watch.seen(80, 10 * kMs);
  for (int i = 1; i <= 10; ++i) EXPECT_EQ(watch.verdict(10 * kMs + i * 100 * kMs), "");
  EXPECT_THAT(watch.verdict(10 * kMs + kSecond + 1), HasSubstr("no samples for a second"));
}

TEST(ClockWatch, AHostThatDidNotLookForASecondIsNotTheDevicesFault) {
  ClockWatch watch = begun();
  watch.seen(80, 10 * kMs);
  EXPECT_EQ(watch.verdict(10 * kMs + 5 * kSecond), "");
  for (int i = 1; i <= 7; ++i) EXPECT_EQ(watch.verdict(10 * kMs + 5 * kSecond + i * 100 * kMs), "");
  EXPECT_NE(watch.verdict(10 * kMs + 5 * kSecond + 800 * kMs), "") << "but what it saw then counts";
}

TEST(ClockWatch, MoreThanADevicesBufferAheadOfTheClockIsNoClock) {
  ClockWatch watch = begun();
  watch.seen(8000 + 6000, kSecond);  // three quarters of a second ahead
  EXPECT_EQ(watch.verdict(kSecond), "");
  watch.seen(8000 + 6001, kSecond);
  EXPECT_THAT(watch.verdict(kSecond),
              HasSubstr("do not arrive at a constant rate: it is not a sound device of 8000 Hz"));
}

TEST(ClockWatch, ARateMoreThanTwoPercentOffIsAnotherOneOverAWholeWindow) {
  const std::int64_t window = 2 * kSecond;
  for (const int sign : {-1, 1}) {
    SCOPED_TRACE(sign);
    const std::uint64_t bound = 16000 + static_cast<std::uint64_t>(sign * (320 + 100));  // of 2 s, and a period
    ClockWatch watch = begun();
    watch.seen(bound, window);
    EXPECT_EQ(watch.verdict(window), "");
    watch = begun();
    watch.seen(bound + static_cast<std::uint64_t>(sign), window);
    EXPECT_THAT(watch.verdict(window), HasSubstr("samples per second instead of 8000: its rate changed"));
    watch = begun();
    watch.seen(bound + static_cast<std::uint64_t>(sign), window - 1);
    EXPECT_EQ(watch.verdict(window - 1), "") << "the window is not over";
  }
  ClockWatch watch = begun();
  watch.seen(9000 * 2, window);
  EXPECT_THAT(watch.verdict(window), HasSubstr("passes 9000 samples per second"));
}

TEST(ClockWatch, TheRateIsJudgedOverAllStretchesBetweenOverruns) {
  for (const std::uint64_t rate : {8'000u, 10'000u}) {
    SCOPED_TRACE(rate);
    ClockWatch watch = begun();
    std::int64_t now = 0;
    for (int i = 1; i < 20; ++i) {  // 0.1 s each, and the same time without samples
      watch.seen(rate / 10, now += 100 * kMs);
      EXPECT_EQ(watch.verdict(now), "");
      watch.resume(0, now += 100 * kMs);
    }
    watch.seen(rate / 10, now += 100 * kMs);
    EXPECT_EQ(watch.verdict(now).empty(), rate == 8'000u);
  }
}

TEST(ClockWatch, EachWindowIsJudgedByItself) {
  ClockWatch watch = begun();
  watch.seen(16000, 2 * kSecond);
  EXPECT_EQ(watch.verdict(2 * kSecond), "");
  watch.seen(16000 + 16000 - 421, 4 * kSecond);
  EXPECT_NE(watch.verdict(4 * kSecond), "") << "too slow in the second window, though not over both";
}

}  // namespace
}  // namespace offhook
