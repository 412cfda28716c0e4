// SPDX-License-Identifier: MIT
#include "driver/base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace offhook;

namespace {

std::uint64_t exact_quantile(const std::vector<std::uint64_t>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[rank < 1 ? 0 : static_cast<std::size_t>(rank) - 1];
}

}  // namespace

TEST(LogLinearHistogram, QuantilesLieWithinAPercentAboveTheExactOnes) {
  std::mt19937_64 random(7);
  for (const double sigma : {0.1, 1.0, 4.0}) {
    std::lognormal_distribution<double> latency(11.0, sigma);
    LogLinearHistogram histogram;
    std::vector<std::uint64_t> values;
    for (int i = 0; i < 20'000; ++i) {
      values.push_back(static_cast<std::uint64_t>(latency(random)));
      histogram.add(values.back());
    }
    std::sort(values.begin(), values.end());
    for (const double share : {0.0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
      const std::uint64_t exact = exact_quantile(values, share);
      EXPECT_GE(histogram.quantile(share), exact) << share;
      EXPECT_LE(static_cast<double>(histogram.quantile(share)), static_cast<double>(exact) * (1 + 1.0 / 128)) << share;
    }
    EXPECT_EQ(histogram.min(), values.front());
    EXPECT_EQ(histogram.max(), values.back());
  }
}

TEST(LogLinearHistogram, SmallValuesAreExact) {
  LogLinearHistogram histogram;
  for (std::uint64_t v = 0; v < 256; ++v) histogram.add(v);
  for (std::uint64_t v = 0; v < 256; ++v) EXPECT_EQ(histogram.quantile(static_cast<double>(v + 1) / 256), v);
}

TEST(LogLinearHistogram, TakesTheWholeRangeOf64Bits) {
  LogLinearHistogram histogram;
  histogram.add(0);
  for (unsigned bit = 0; bit < 64; ++bit) histogram.add(std::uint64_t{1} << bit);
  histogram.add(~std::uint64_t{0});
  EXPECT_EQ(histogram.quantile(1), ~std::uint64_t{0});
  std::uint64_t sum = 0;
  std::uint64_t previous_high = 0;
  for (const HistogramBar& bar : histogram.bars()) {
    EXPECT_LE(bar.low, bar.high);
    EXPECT_TRUE(sum == 0 || bar.low > previous_high);
    previous_high = bar.high;
    sum += bar.count;
  }
  EXPECT_EQ(sum, histogram.count());
  EXPECT_EQ(previous_high, ~std::uint64_t{0});
}

TEST(LogLinearHistogram, BarsHoldTheirValues) {
  for (const unsigned bits : {0u, 2u, 3u, 7u}) {
    for (std::uint64_t value = 1; value < (std::uint64_t{1} << 40); value = value * 3 + 1) {
      LogLinearHistogram histogram;
      histogram.add(value);
      const auto bars = histogram.bars(bits);
      ASSERT_EQ(bars.size(), 1u);
      EXPECT_LE(bars[0].low, value);
      EXPECT_GE(bars[0].high, value);
      EXPECT_LE(static_cast<double>(bars[0].high - bars[0].low), static_cast<double>(value) / (1 << bits));
    }
  }
}

TEST(LinearHistogram, CountsWhatLiesBeyondTheLastBucket) {
  LinearHistogram histogram(50'000, 4);
  for (const std::uint64_t v : {0u, 49'999u, 50'000u, 199'999u, 200'000u, 5'000'000u}) histogram.add(v);
  EXPECT_EQ(histogram.counts(), (std::vector<std::uint64_t>{2, 1, 0, 1}));
  EXPECT_EQ(histogram.beyond(), 2u);
  EXPECT_EQ(histogram.max(), 5'000'000u);
  EXPECT_EQ(histogram.count_between(50'000, 200'000), 2u);
}

TEST(LiveHistogram, QuantilesAreWithinAThirtySecondOfTheExactOnes) {
  LiveHistogram live;
  EXPECT_EQ(live.read().quantile(0.5), 0u);
  for (std::int64_t v = 1; v <= 100'000; ++v) live.add(v);
  LogLinearHistogram h = live.read();
  for (const double q : {0.001, 0.1, 0.5, 0.9, 0.999}) {
    const double exact = q * 100'000;
    EXPECT_GE(static_cast<double>(h.quantile(q)), exact);
    EXPECT_LE(static_cast<double>(h.quantile(q)), exact * (1 + 1.0 / 32) + 1);
  }
  EXPECT_EQ(h.quantile(1), 100'000u);
  EXPECT_EQ(h.max(), 100'000u);
  live.add(std::int64_t{1} << 62);
  EXPECT_EQ(live.read().count(), 100'001u);
  EXPECT_EQ(live.read().max(), std::uint64_t{1} << 62);
}

TEST(LogLinearHistogram, ASumOfTwoIsWhatOneWouldHaveCounted) {
  LogLinearHistogram a, b, all;
  for (std::uint64_t v = 1; v < 100'000; v += 7) (v % 2 == 0 ? a : b).add(v), all.add(v);
  a.add(b);
  EXPECT_EQ(a.count(), all.count());
  EXPECT_EQ(a.min(), all.min());
  EXPECT_EQ(a.max(), all.max());
  EXPECT_EQ(a.mean(), all.mean());
  for (const double q : {0.01, 0.5, 0.99}) EXPECT_EQ(a.quantile(q), all.quantile(q));
}
