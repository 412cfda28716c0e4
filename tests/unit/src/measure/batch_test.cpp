// SPDX-License-Identifier: MIT
#include "src/measure/batch.h"

#include <gtest/gtest.h>

#include <string>

using namespace offhook;
using namespace offhook::measure;

namespace {

class Batch : public testing::TestWithParam<Modulation> {};

TEST_P(Batch, CallsThatAdvanceTogetherCarryTheirBitsAndGiveTheSamplesThatTheyGiveAlone) {
  BatchConfig config;
  config.modem = GetParam();
  config.calls = 3;
  config.data_s = 0.5;
  const BatchResult r = measure_batch(config, [](double) { return true; });
  EXPECT_EQ(r.connected, 3);
  EXPECT_EQ(r.calls_alone, 3);
  EXPECT_EQ(r.calls_same, 3);
  EXPECT_EQ(r.bits_wrong, 0u);
  // At least half a second of the slowest direction.
  EXPECT_GT(r.bits, static_cast<std::uint64_t>(3 * 0.5 * GetParam().min_bit_rate));
  int pumps = 0;
  for (const BatchGroup& g : r.groups) {
    pumps += g.pumps;
    EXPECT_GT(g.together_ns, 0) << g.name;
    EXPECT_GT(g.one_by_one_ns, 0) << g.name;
    EXPECT_GT(g.alone_ns, 0) << g.name;
    EXPECT_GT(g.state_bytes, 0u) << g.name;
  }
  EXPECT_EQ(pumps, 6);
}

INSTANTIATE_TEST_SUITE_P(Of, Batch, testing::Values(kV22bis, kV32bis, kV34, kV90),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(BatchProgress, ThatIsRefusedEndsTheMeasurement) {
  BatchConfig config;
  config.modem = kV22bis;
  config.calls = 1;
  int asked = 0;
  const BatchResult r = measure_batch(config, [&asked](double) { return ++asked < 3; });
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(r.calls_alone, 0);
}

}  // namespace
