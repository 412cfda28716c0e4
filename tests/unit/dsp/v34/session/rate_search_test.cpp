// SPDX-License-Identifier: MIT
#include "dsp/v34/session/rate_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {
namespace {

struct Seen {
  int moves = 0;
  int at[15]{};  // windows at each rate
  int errors = 0;
  uint8_t last = 0;
};

// A receiver at 14 (33600) on a line with `errors_a_second(rate)`, which increases its rate whenever permitted.
Seen follow(int minutes, const std::function<double(int)>& errors_a_second, uint32_t seed = 1) {
  RateSearch search;
  Random random(seed, 0);
  Seen seen;
  uint8_t rate = 14;
  search.start(rate, 2);
  for (int w = 0; w < minutes * 360; ++w) {
    ++seen.at[rate];
    const int errors = random.uniform() < 1 - std::exp(-errors_a_second(rate) / 6);
    seen.errors += errors;
    if (search.put(errors) || search.may_rise()) {
      rate = search.most();
      ++seen.moves;
      search.start(rate, 2);
    }
  }
  seen.last = rate;
  return seen;
}

TEST(V34RateSearch, FewErrorsChangeNothing) {
  EXPECT_EQ(follow(600, [](int) { return 0.0; }).moves, 0);
  for (uint32_t seed = 1; seed < 20; ++seed)
    EXPECT_EQ(follow(
                  60, [](int) { return 0.01; }, seed)
                  .moves,
              0)
        << seed;
}

TEST(V34RateSearch, OneBadSecondChangesNothing) {
  RateSearch search;
  search.start(14, 2);
  for (int w = 0; w < 6; ++w) EXPECT_FALSE(search.put(w < 4));
  for (int w = 0; w < 3600; ++w) EXPECT_FALSE(search.put(0));
}

TEST(V34RateSearch, TheHighestRateWithoutErrorsIsFoundAndKept) {  // robbed bits: 12 is good, 13 is bad
  for (const int good : {13, 12, 8}) {
    const Seen s = follow(20, [&](int rate) { return rate > good ? 1.0 * (rate - good) : 0.002; });
    EXPECT_GE(s.last, good);
    EXPECT_LE(s.last, good + 1);
    EXPECT_GT(s.at[good], 20 * 360 * 0.8) << good;
    EXPECT_LE(s.moves, (14 - good) + 8) << good;
  }
}

TEST(V34RateSearch, WhereNoRateHelpsTheHighestIsTaken) {  // great impulses
  for (const double errors : {0.1, 1.0}) {
    const Seen s = follow(60, [&](int) { return errors; });
    EXPECT_GT(s.at[14], 60 * 360 * 0.8) << errors;
    EXPECT_LE(s.moves, 30);
  }
}

TEST(V34RateSearch, ALineThatHasBecomeBetterIsUsed) {
  RateSearch search;
  uint8_t rate = 14;
  search.start(rate, 2);
  for (int w = 0; w < 60 * 360; ++w) {
    if (!search.put(w < 360 && rate > 10) && !search.may_rise()) continue;
    rate = search.most();
    search.start(rate, 2);
    EXPECT_GE(rate, 10);
  }
  EXPECT_EQ(rate, 14);
}

// The rate that was left out is tried when the one below it is good.
TEST(V34RateSearch, AfterTwoRatesThatCarryNothingEverySecondOneIsLeftOut) {
  const auto requested = [](uint8_t lowest, uint8_t good) {
    RateSearch search;
    uint8_t rate = 14;
    search.start(rate, lowest);
    std::vector<int> rates;
    for (int w = 0; w < 1000; ++w) {
      if (!search.put(rate > good ? 2 : 0) && !search.may_rise()) continue;
      search.start(rate = search.most(), lowest);
      rates.push_back(rate);
    }
    return rates;
  };
  EXPECT_EQ(requested(2, 7), (std::vector<int>{13, 11, 9, 7, 8, 7}));
  EXPECT_EQ(requested(2, 8), (std::vector<int>{13, 11, 9, 7, 8}));
  EXPECT_EQ(requested(8, 7), (std::vector<int>{13, 11, 9, 8}));
}

TEST(V34RateSearch, NothingBelowTheLowestRateIsAskedFor) {
  RateSearch search;
  uint8_t rate = 4;
  search.start(rate, 3);
  for (int w = 0; w < 3600; ++w) {
    if (search.put(1)) search.start(rate = search.most(), 3);
    EXPECT_GE(rate, 3);
  }
}

}  // namespace
}  // namespace offhook::v34
