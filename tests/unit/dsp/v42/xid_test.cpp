// SPDX-License-Identifier: MIT
#include "dsp/v42/xid.h"

#include <gtest/gtest.h>

#include <cstring>

namespace offhook::test {
namespace {

using namespace offhook::v42;

TEST(Xid, ReadsBackWhatItWritesAndPassesOverWhatItDoesNotKnow) {
  Xid xid;
  xid.srej = true, xid.n401_tx = 1024, xid.n401_rx = 200, xid.k_tx = 127, xid.k_rx = 1;
  uint8_t field[64];
  size_t n = write_xid(xid, false, field);
  EXPECT_LT(n, kXidSize);
  const uint8_t unknown[] = {0xF0, 0, 8, 0, 3, 'X', '4', '2', 1, 1, 3, 0xFF, 0x41, 1, 1};
  memcpy(field + n, unknown, sizeof unknown);
  Xid back;
  ASSERT_EQ(read_xid(field, n + sizeof unknown, &back), 0u);
  EXPECT_TRUE(back.srej && !back.fcs32 && !back.test);
  EXPECT_EQ(back.n401_tx, 1024u);
  EXPECT_EQ(back.n401_rx, 200u);
  EXPECT_EQ(back.k_tx, 127u);
  EXPECT_EQ(back.k_rx, 1u);
  EXPECT_FALSE(back.v42bis) << "another maker's set";
}

TEST(Xid, CarriesTheParametersOfV42bisAsTable11bHasThem) {
  Xid xid;
  xid.n401_tx = xid.n401_rx = 128, xid.k_tx = xid.k_rx = 15;
  xid.v42bis = true, xid.compress = kToInitiator, xid.codewords = 2048, xid.max_string = 32;
  uint8_t field[kXidSize];
  const size_t n = write_xid(xid, false, field);
  ASSERT_EQ(n, kXidSize);
  const uint8_t group[] = {0xF0, 0, 15, 0, 3, 'V', '4', '2', 1, 1, 2, 2, 2, 8, 0, 3, 1, 32};
  EXPECT_EQ(memcmp(field + n - sizeof group, group, sizeof group), 0);
  Xid back;
  ASSERT_EQ(read_xid(field, n, &back), 0u);
  EXPECT_TRUE(back.v42bis);
  EXPECT_EQ(back.compress, kToInitiator);
  EXPECT_EQ(back.codewords, 2048u);
  EXPECT_EQ(back.max_string, 32u);

  const uint8_t only_p0[] = {0x82, 0xF0, 0, 8, 0, 3, 'V', '4', '2', 1, 1, 3};
  ASSERT_EQ(read_xid(only_p0, sizeof only_p0, &back), 0u);
  EXPECT_TRUE(back.v42bis);
  EXPECT_EQ(back.codewords, 512u) << "the default";
  EXPECT_EQ(back.max_string, 6u);
  const uint8_t without_p0[] = {0x82, 0xF0, 0, 9, 0, 3, 'V', '4', '2', 2, 2, 8, 0};
  ASSERT_EQ(read_xid(without_p0, sizeof without_p0, &back), 0u);
  EXPECT_FALSE(back.v42bis) << "no request";
}

TEST(Xid, SaysWhereAFieldIsWrong) {
  uint8_t field[kXidSize];
  Xid xid;
  xid.n401_tx = xid.n401_rx = 128, xid.k_tx = xid.k_rx = 15;
  const size_t n = write_xid(xid, false, field);
  Xid out;
  for (size_t cut = 0; cut < n; ++cut) {
    if (cut == 1) continue;  // the format alone is a field without groups
    EXPECT_NE(read_xid(field, cut, &out), 0u) << cut;
  }
  field[0] = 0x81;
  EXPECT_EQ(read_xid(field, n, &out), 1u);
  field[0] = 0x82;
  field[n - 1] = 0;
  EXPECT_EQ(read_xid(field, n, &out), n) << "a window of 0";
  field[n - 1] = 200;
  EXPECT_EQ(read_xid(field, n, &out), n) << "a window of 200";
}

}  // namespace
}  // namespace offhook::test
