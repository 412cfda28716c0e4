// SPDX-License-Identifier: MIT
#include "dsp/link/xid.h"

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
  ASSERT_EQ(n, 42u);
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

TEST(Xid, CarriesTheParametersOfV44AsItsTableA1HasThem) {
  Xid xid;
  xid.n401_tx = xid.n401_rx = 128, xid.k_tx = xid.k_rx = 15;
  xid.v42bis = xid.v44 = true, xid.v44_directions = 2;
  xid.v44_tx = {300, 32, 512}, xid.v44_rx = {2048, 255, 6144};
  uint8_t field[kXidSize];
  const size_t n = write_xid(xid, false, field);
  ASSERT_EQ(n, kXidSize);
  const uint8_t subfield[] = {0xFF, 0x40, 3, 'V',  '4', '4', 0x41, 1, 0,   0x42, 1, 2, 0x43, 2,    1, 44, 0x44,
                              2,    8,    0, 0x45, 1,   32,  0x46, 1, 255, 0x47, 2, 2, 0,    0x48, 2, 24, 0};
  EXPECT_EQ(memcmp(field + n - sizeof subfield, subfield, sizeof subfield), 0);
  Xid back;
  ASSERT_EQ(read_xid(field, n, &back), 0u);
  EXPECT_TRUE(back.v42bis && back.v44);
  EXPECT_EQ(back.v44_directions, 2);
  EXPECT_EQ(back.v44_tx.codewords, 300u);
  EXPECT_EQ(back.v44_tx.max_string, 32u);
  EXPECT_EQ(back.v44_tx.history, 512u);
  EXPECT_EQ(back.v44_rx.codewords, 2048u);
  EXPECT_EQ(back.v44_rx.max_string, 255u);
  EXPECT_EQ(back.v44_rx.history, 6144u);
}

TEST(Xid, WhatV44DoesNotSayIsItsDefault) {
  Xid xid;
  const uint8_t set_alone[] = {0x82, 0xFF, 0x40, 3, 0x2A, '4', '4'};
  ASSERT_EQ(read_xid(set_alone, sizeof set_alone, &xid), 0u);
  EXPECT_TRUE(xid.v44) << "with the V that V.42 prints";
  EXPECT_EQ(xid.v44_directions, 3);
  EXPECT_EQ(xid.v44_tx.codewords, 1024u);
  EXPECT_EQ(xid.v44_tx.max_string, 255u);
  EXPECT_EQ(xid.v44_tx.history, 3072u);
  const uint8_t more_codewords[] = {0x82, 0xFF, 0x40, 3, 'V', '4', '4', 0x44, 2, 0x10, 0};
  ASSERT_EQ(read_xid(more_codewords, sizeof more_codewords, &xid), 0u);
  EXPECT_EQ(xid.v44_rx.history, 3 * 4096u) << "3 x P1";
  const uint8_t makers[] = {0x82, 0xFF, 0xFF, 2, 0x01, 0x02, 0x41, 1, 0, 0x40, 3, 'V', '4', '4'};
  ASSERT_EQ(read_xid(makers, sizeof makers, &xid), 0u);
  EXPECT_TRUE(xid.v44) << "behind a manufacturer's";
  const uint8_t other[] = {0x82, 0xFF, 0x40, 3, 'V', '4', '5', 0x42, 1, 3};
  ASSERT_EQ(read_xid(other, sizeof other, &xid), 0u);
  EXPECT_FALSE(xid.v44);
  const uint8_t anything[] = {0x82, 0xFF, 0x40, 200, 'V'};
  EXPECT_EQ(read_xid(anything, sizeof anything, &xid), 0u) << "somebody's own data";
  const uint8_t cut[] = {0x82, 0xFF, 0x40, 3, 'V', '4', '4', 0x43, 2, 8};
  EXPECT_EQ(read_xid(cut, sizeof cut, &xid), 8u);
  const uint8_t too_long[] = {0x82, 0xFF, 0x40, 3, 'V', '4', '4', 0x43, 5, 0, 0, 0, 8, 0};
  EXPECT_EQ(read_xid(too_long, sizeof too_long, &xid), 9u);
}

TEST(Xid, SaysWhereAFieldIsWrong) {
  uint8_t field[kXidSize];
  Xid xid;
  xid.n401_tx = xid.n401_rx = 128, xid.k_tx = xid.k_rx = 15;
  const size_t n = write_xid(xid, false, field);
  Xid out;
  for (size_t cut = 0; cut < n; ++cut) {
    if (cut == 1) continue;  // only the format, which is a field without groups
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
