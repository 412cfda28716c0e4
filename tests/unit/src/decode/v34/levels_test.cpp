// SPDX-License-Identifier: MIT
#include "src/decode/v34/levels.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "tests/unit/dsp/v34/random.h"
#include "tests/unit/src/decode/v34/dil_from.h"

namespace offhook::decode {
namespace {

using v90::Law;

int by_tables(Law law, int u) {
  return converted_ucode(Conversion::kTables, law, u);
}

int nearest(Law law, int u) {
  return converted_ucode(Conversion::kNearest, law, u);
}

// The Ucodes that come back as another one, from the other law and back; by its signed distance.
std::vector<std::pair<int, int>> changed_by_both(Law law) {
  std::vector<std::pair<int, int>> all;
  for (int u = 0; u < v90::kUcodes; ++u) {
    const int back = by_tables(other_law(law), by_tables(law, u));
    if (back != u) all.emplace_back(u, back - u);
  }
  return all;
}

TEST(DecodeLawConversion, EveryUcodeHasOneOfTheOtherLawInTheSameOrder) {
  for (const Law law : {Law::kMu, Law::kA}) {
    EXPECT_EQ(by_tables(law, 0), law == Law::kMu ? 0 : 1);  // mu-0 is is mu-1
    EXPECT_EQ(by_tables(law, 127), 127);
    for (int u = 1; u < v90::kUcodes; ++u) {
      EXPECT_GE(by_tables(law, u), by_tables(law, u - 1)) << u;
      EXPECT_LE(by_tables(law, u), by_tables(law, u - 1) + 2) << u;
    }
  }
}

// Note 2 of Table 3 and of Table 4.
TEST(DecodeLawConversion, TwiceConvertedOnlyTheValuesThatTheNotesNameAreChanged) {
  const std::vector<std::pair<int, int>> mu = {{0, 1}, {2, 1}, {4, 1}, {6, 1}, {8, 1}, {10, 1}, {12, 1}, {14, 1}};
  EXPECT_EQ(changed_by_both(Law::kMu), mu);
  std::vector<int> a;
  for (const auto& [u, by] : changed_by_both(Law::kA)) {
    a.push_back(u + 1);                   // the notes count from 1
    EXPECT_EQ(u / 2, (u + by) / 2) << u;  // but bit 8 nothing is changed
  }
  EXPECT_EQ(a, (std::vector<int>{26, 28, 30, 32, 45, 47, 63, 80}));
}

// Where the tables leave the nearest value it is by one, and in the fifth segment, or two are about equally near.
TEST(DecodeLawConversion, TheTablesLeaveTheNearestValueFromUcode80On) {
  EXPECT_EQ(by_tables(Law::kMu, 80), 81 - 1);  // "modified slightly from the optimum"
  EXPECT_EQ(by_tables(Law::kA, 80 - 1), 79);
  for (const Law law : {Law::kMu, Law::kA}) {
    for (int u = 16; u < v90::kUcodes; ++u) {
      const int off = by_tables(law, u) - nearest(law, u);
      const bool fifth = law == Law::kMu ? u >= 80 && u < 96 : u >= 79 && u < 95;
      if (fifth) {
        EXPECT_EQ(off, law == Law::kMu ? 1 : -1) << u;
      }
      const int far = 2 * (linear_of(law, u) - linear_of(law, u - 1));
      EXPECT_LE(std::abs(linear_of(law, u) - linear_of(other_law(law), by_tables(law, u))), far) << u;
      if (u >= 96) {
        EXPECT_EQ(off, 0) << u;
      }
    }
  }
}

// A DIL of the Ucodes from one on, heard once through a network; what it does not show is where the network puts it.
struct Network {
  Law law;
  std::optional<Conversion> conversion;
  int robbed_interval;
};

class DecodeDilLevels : public testing::TestWithParam<Network> {};

v90::LearntLevels levels_behind(const Network& network, int from) {
  const v90::Dil dil = dil_from(from, 5);
  const auto arrives = [&](int u) {
    if (!network.conversion) return static_cast<float>(linear_of(network.law, u));
    return static_cast<float>(linear_of(other_law(network.law), converted_ucode(*network.conversion, network.law, u)));
  };
  const float unit = static_cast<float>(linear_of(network.law, kUInfo)) / arrives(kUInfo);
  DilLevels heard(dil, network.law, kUInfo);
  v34::Random random(4, 2);
  for (int segment = 0, n = 0; segment < dil.segments; ++segment) {
    for (int k = 0; k < dil.symbols(segment); ++k, ++n) {
      v90::Pcm p = dil.symbol(segment, k);
      if (n % v90::kFrameIntervals == network.robbed_interval) p.ucode |= 1;
      const float level = unit * arrives(p.ucode) + static_cast<float>(10 * random.gaussian());
      heard.put(p.positive ? level : -level, n % v90::kFrameIntervals);
    }
  }
  EXPECT_TRUE(heard.whole());
  v90::LearntLevels levels = levels_of({}, network.law);
  EXPECT_GT(heard.take(levels, 0), 0);
  for (int i = 0; i < v90::kFrameIntervals; ++i) {
    for (int u = 0; u < from; ++u) {
      if (u == kUInfo) continue;
      EXPECT_NEAR(levels.level[i][u], unit * arrives(u), 0.01f) << "Ucode " << u << " in " << i;
    }
  }
  return levels;
}

TEST_P(DecodeDilLevels, WhatIsNotShownIsExpectedWhereTheNetworkSendsIt) {
  levels_behind(GetParam(), 88);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, DecodeDilLevels,
    testing::Values(Network{Law::kMu, {}, -1}, Network{Law::kA, {}, -1}, Network{Law::kMu, Conversion::kNearest, -1},
                    Network{Law::kA, Conversion::kNearest, -1}, Network{Law::kMu, Conversion::kTables, -1},
                    Network{Law::kA, Conversion::kTables, -1}, Network{Law::kMu, Conversion::kTables, 2},
                    Network{Law::kA, Conversion::kTables, 2}));

// From Ucode 96 on, with UINFO below, there is nothing between the two: a recorded network takes the nearest value.
TEST(DecodeDilLevelsAlike, TheNearestValueIsTakenWhereBothConversionsFit) {
  levels_behind({Law::kMu, Conversion::kNearest, -1}, 96);
}

}  // namespace
}  // namespace offhook::decode
