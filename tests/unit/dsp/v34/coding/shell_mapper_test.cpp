// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/shell_mapper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

#include "tests/unit/dsp/v34/parameter_sets.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {
namespace {

std::vector<int> map(int rings, uint32_t index) {
  uint8_t ring[8];
  shell_map(rings, index, ring);
  return {ring, ring + 8};
}

uint64_t power8(int m) {
  uint64_t p = 1;
  for (int k = 0; k < 8; ++k) p *= static_cast<uint64_t>(m);
  return p;
}

// Computed step by step from (9-3) to (9-24).
TEST(V34ShellMapper, EqualsTheAlgorithmOfClause94) {
  using V = std::vector<int>;
  EXPECT_EQ(map(2, 0), (V{0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(map(2, 9), (V{0, 0, 0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(map(2, 15), (V{0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(map(3, 2748), (V{1, 0, 0, 1, 0, 2, 2, 2}));
  EXPECT_EQ(map(4, 2748), (V{0, 0, 1, 0, 2, 1, 0, 3}));
  EXPECT_EQ(map(4, 4095), (V{3, 1, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(map(4, 65535), (V{3, 3, 3, 3, 3, 3, 3, 3}));
  EXPECT_EQ(map(12, 0x0ABCDEF), (V{6, 6, 0, 2, 0, 6, 3, 2}));
  EXPECT_EQ(map(14, 0x0ABCDEF), (V{5, 5, 0, 1, 3, 0, 4, 7}));
  EXPECT_EQ(map(12, (1u << 28) - 1), (V{4, 9, 4, 9, 0, 3, 11, 7}));
  EXPECT_EQ(map(14, (1u << 28) - 1), (V{1, 2, 2, 0, 11, 3, 10, 13}));
  EXPECT_EQ(map(15, 0x7FFFFFFF), (V{5, 10, 11, 12, 2, 2, 12, 14}));
  EXPECT_EQ(map(18, 0x12345678), (V{3, 2, 3, 12, 1, 9, 10, 0}));
}

TEST(V34ShellMapper, SmallMappersAreBijectiveAndOrderedBySum) {
  for (int rings = 1; rings <= 4; ++rings) {
    std::set<std::vector<int>> seen;
    int sum = 0;
    for (uint32_t index = 0; index < power8(rings); ++index) {
      const std::vector<int> m = map(rings, index);
      ASSERT_THAT(m, testing::Each(testing::AllOf(testing::Ge(0), testing::Lt(rings))));
      const int s = std::accumulate(m.begin(), m.end(), 0);
      ASSERT_GE(s, sum);
      sum = s;
      const std::vector<uint8_t> bytes(m.begin(), m.end());
      ASSERT_EQ(shell_unmap(rings, bytes.data()), index);
      if (rings <= 3) seen.insert(m);
    }
    if (rings <= 3) {
      EXPECT_EQ(seen.size(), power8(rings));
    }
  }
}

TEST(V34ShellMapper, InverseIsExactForEveryParameterSet) {
  for (const ParameterSet& set : all_parameter_sets()) {
    const Framing f = set.framing();
    Random random(2, f.rings * 64u + f.shell_bits);
    const uint32_t last = static_cast<uint32_t>((uint64_t{1} << f.shell_bits) - 1);
    for (int n = 0; n < 400; ++n) {
      const uint32_t index = n == 0 ? last : random.next() & last;
      uint8_t ring[8];
      shell_map(f.rings, index, ring);
      for (const uint8_t m : ring) ASSERT_LT(m, f.rings);
      ASSERT_EQ(shell_unmap(f.rings, ring), index) << set;
    }
  }
}

TEST(V34ShellMapper, InverseTakesAnyRings) {
  Random random(3, 0);
  for (int rings = 1; rings <= kMaxRings; ++rings) {
    for (int n = 0; n < 1000; ++n) {
      uint8_t ring[8];
      for (uint8_t& m : ring) m = static_cast<uint8_t>(random.below(static_cast<uint32_t>(rings)));
      EXPECT_LT(shell_unmap(rings, ring), power8(rings));
    }
  }
}

TEST(V34ShellMapper, RingProbabilitiesAgreeWithCounting) {
  for (const auto& [rings, bits] : {std::pair{2, 4}, {4, 12}, {5, 16}, {3, 12}}) {
    double probability[kMaxRings];
    shell_ring_probability(rings, bits, probability);
    std::vector<double> counted(static_cast<size_t>(rings));
    for (uint32_t index = 0; index < 1u << bits; ++index) {
      for (const int m : map(rings, index)) counted[static_cast<size_t>(m)] += 1.0 / (8u << bits);
    }
    double sum = 0;
    for (int m = 0; m < rings; ++m) {
      EXPECT_NEAR(probability[m], counted[static_cast<size_t>(m)], 0.03) << rings << " " << bits << " " << m;
      sum += probability[m];
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

}  // namespace
}  // namespace offhook::v34
