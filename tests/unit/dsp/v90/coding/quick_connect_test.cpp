// SPDX-License-Identifier: MIT
//
// Against octets worked out by hand from V.92 (11/2000) Tables 2 to 5 and 11 to 14.
#include "dsp/v90/coding/quick_connect.h"

#include <gtest/gtest.h>

namespace offhook::v90 {
namespace {

constexpr QuickConnect kAnalogue{false, false, true, 78, 0};  // WXYZ 1001

TEST(V90QuickConnect, OctetsEqualThoseWorkedOutFromTheTables) {
  // In time: 0 0 1 W=1 0 X=0 Y=0 Z=1
  EXPECT_EQ(encode_qc1(kAnalogue), 0b10001100);
  // 0 1 0 W=0 0 X=0 Y=0 Z=1: 62
  EXPECT_EQ(encode_qc1({true, false, false, 62, 0}), 0b10000010);
  // 1 0 1 0 0 0 L=0 M=1: -12 dBm0
  EXPECT_EQ(encode_qc1({false, true, true, 0, -120}), 0b10000101);
  // 1 1 0 0 0 0 L=1 M=0: -15 dBm0
  EXPECT_EQ(encode_qc1({true, true, false, 0, -150}), 0b01000011);
  std::uint8_t octets[2];
  // 1011 revision 0100 in time, then WXYZ=1001 0 P=1 0 0
  encode_qc2(kAnalogue, 2, octets);
  EXPECT_EQ(octets[0], 0x2D);
  EXPECT_EQ(octets[1], 0x29);
  // L=0 M=1 000 P=1 1 1
  encode_qc2({true, true, true, 0, -120}, 2, octets);
  EXPECT_EQ(octets[1], 0b11100010);
}

TEST(V90QuickConnect, AllThatCanBeSaidIsReadAsItWasWritten) {
  constexpr int kUcodes[] = {61, 62, 63, 66, 67, 70, 71, 74, 75, 78, 79, 82, 83, 86, 87, 0};
  for (int n = 0; n < 8; ++n) {
    for (const int value : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}) {
      QuickConnect qc{(n & 1) != 0, (n & 2) != 0, (n & 4) != 0, 0, 0};
      constexpr int kLevels[] = {-95, -120, -150, -180};
      if (qc.digital) {
        qc.anspcm_tenth_dbm0 = static_cast<int16_t>(kLevels[value & 3]);
      } else {
        qc.uqts = static_cast<uint8_t>(kUcodes[value]);
      }
      QuickConnect read{};
      ASSERT_TRUE(decode_qc1(encode_qc1(qc), &read));
      EXPECT_EQ(read, qc);
      std::uint8_t octets[2];
      encode_qc2(qc, n, octets);
      ASSERT_TRUE(decode_qc2(octets, 2, &read));
      EXPECT_EQ(read, qc);
    }
  }
}

TEST(V90QuickConnect, EveryOctetWithAWrongFixedBitIsRefused) {
  int accepted = 0;
  for (int octet = 0; octet < 256; ++octet) {
    QuickConnect qc{};
    if (!decode_qc1(static_cast<uint8_t>(octet), &qc)) continue;
    ++accepted;
    EXPECT_EQ(encode_qc1(qc), octet);
  }
  EXPECT_EQ(accepted, 4 * 16 + 4 * 4);
  QuickConnect qc{};
  const std::uint8_t message[] = {0x2C, 0x29};
  EXPECT_FALSE(decode_qc2(message, 2, &qc));
  EXPECT_FALSE(decode_qc2(message, 0, &qc));
}

}  // namespace
}  // namespace offhook::v90
