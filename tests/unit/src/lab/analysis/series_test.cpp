// SPDX-License-Identifier: MIT
#include "src/lab/analysis/series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace offhook;

TEST(ExtremaSeries, KeepsEveryPointWhileThereIsRoom) {
  ExtremaSeries series(64);
  std::vector<SeriesPoint> expected;
  for (std::uint64_t i = 0; i < 60; ++i) {
    expected.push_back({i << 20, static_cast<double>(i * 7 % 13)});
    series.add(expected.back().time_ns, expected.back().value);
  }
  EXPECT_EQ(series.points(), expected);
}

TEST(ExtremaSeries, HasRoomFor4096BucketsUnlessToldOtherwise) {
  ExtremaSeries series;
  const std::uint64_t bucket = series.bucket_ns();
  for (std::uint64_t i = 0; i < 4096; ++i) series.add(i * bucket, 0);
  EXPECT_EQ(series.bucket_ns(), bucket);
  series.add(4096 * bucket, 0);
  EXPECT_EQ(series.bucket_ns(), 2 * bucket);
}

TEST(ExtremaSeries, NeverLosesAnExtremeHoweverLongTheCall) {
  std::mt19937_64 random(3);
  ExtremaSeries series(64);
  SeriesPoint least{0, 1e9}, greatest{0, -1e9};
  std::uint64_t time = 0;
  for (int i = 0; i < 100'000; ++i) {
    time += random() % 20'000'000;
    const double value = static_cast<double>(random() % 1'000'000);
    series.add(time, value);
    if (value < least.value) least = {time, value};
    if (value > greatest.value) greatest = {time, value};
  }
  const auto points = series.points();
  EXPECT_LE(points.size(), 128u);
  EXPECT_NE(std::find(points.begin(), points.end(), least), points.end());
  EXPECT_NE(std::find(points.begin(), points.end(), greatest), points.end());
  EXPECT_TRUE(std::is_sorted(points.begin(), points.end(), [](auto& a, auto& b) { return a.time_ns < b.time_ns; }));
  EXPECT_EQ(series.count(), 100'000u);
}

TEST(SumSeries, IntervalsAddUpToTheirLength) {
  SumSeries series(16);
  double total = 0;
  std::uint64_t time = 0;
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    const std::uint64_t length = i * 7919 % 3'000'000;
    series.add_interval(time, time + length);
    total += static_cast<double>(length);
    time += length + i * 104'729 % 2'000'000;
  }
  EXPECT_LE(series.sums().size(), 16u);
  EXPECT_EQ(std::accumulate(series.sums().begin(), series.sums().end(), 0.0), total);
  for (const double sum : series.sums()) EXPECT_LE(sum, static_cast<double>(series.bucket_ns()));
}

TEST(ThinnedSample, IsEvenlySpacedOverTheWholeStream) {
  ThinnedSample<int> sample(100);
  for (int i = 0; i < 12'345; ++i) sample.add(i);
  ASSERT_GT(sample.items().size(), 50u);
  EXPECT_LE(sample.items().size(), 100u);
  const int stride = sample.items()[1];
  for (std::size_t i = 0; i < sample.items().size(); ++i) EXPECT_EQ(sample.items()[i], static_cast<int>(i) * stride);
  EXPECT_GT(sample.items().back() + stride, 12'344);
  EXPECT_EQ(sample.seen(), 12'345u);
}
