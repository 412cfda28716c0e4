// SPDX-License-Identifier: MIT
//
// Against sequences written down from V.92 (11/2000) Table 32 as Amendment 1 has it, and Table 33. Their CRCs were
// worked out as the remainder of a polynomial division from the highest power on, which Figure 14 of V.34 is; the
// program that did it gives the CRC of a recorded INFO1a, too.
#include "dsp/v90/coding/hold_sequence.h"

#include <gtest/gtest.h>

#include <string>

namespace offhook::v90 {
namespace {

std::string sent(const HoldMessage& message) {
  std::uint8_t bits[HoldMessage::kBits];
  encode(message, bits);
  std::string text;
  for (const std::uint8_t bit : bits) text += static_cast<char>('0' + bit);
  return text;
}

struct Vector {
  HoldMessage message;
  const char* bits;  // in order of time: fill, sync, signal, information, CRC, fill
};
constexpr Vector kVectors[] = {
    {hold_message(HoldSignal::kRequest),
     "1111"
     "01110010"
     "0011"
     "0011"
     "1110011111000000"
     "1111"},
    {{HoldSignal::kAcknowledge, 3},
     "1111"
     "01110010"
     "0101"
     "0011"
     "1000101101100110"
     "1111"},  // 30 s
    {{HoldSignal::kAcknowledge, 13},
     "1111"
     "01110010"
     "0101"
     "1101"
     "0110101010101000"
     "1111"},
    {{HoldSignal::kDeny, 0b0101},
     "1111"
     "01110010"
     "0111"
     "0101"
     "1100111111000010"
     "1111"},
    {{HoldSignal::kDeny, 0b0111},
     "1111"
     "01110010"
     "0111"
     "0111"
     "1110111110000000"
     "1111"},
    {{HoldSignal::kClearRequest, 0b0101},
     "1111"
     "01110010"
     "1001"
     "0101"
     "0011001011101100"
     "1111"},
    {{HoldSignal::kClearRequest, 0b0110},
     "1111"
     "01110010"
     "1001"
     "0110"
     "0000001010001111"
     "1111"},
    {{HoldSignal::kClearRequest, 0b1010},
     "1111"
     "01110010"
     "1001"
     "1010"
     "1100001100000011"
     "1111"},
    {hold_message(HoldSignal::kClearAcknowledge),
     "1111"
     "01110010"
     "1011"
     "1011"
     "1111011101000000"
     "1111"},
    {hold_message(HoldSignal::kReconnect),
     "1111"
     "01110010"
     "1101"
     "1101"
     "1111101100100000"
     "1111"},
};

TEST(V92HoldSequence, IsTable32BitByBit) {
  for (const Vector& v : kVectors) EXPECT_EQ(sent(v.message), v.bits);
}

TEST(V92HoldSequence, IsReadAsItWasWrittenAndNotWithAnyBitDamaged) {
  for (const Vector& v : kVectors) {
    std::uint8_t bits[HoldMessage::kBits];
    encode(v.message, bits);
    HoldMessage read{};
    ASSERT_TRUE(decode(bits, &read));
    EXPECT_EQ(read, v.message);
    for (int k = 4; k < HoldMessage::kBits - 4; ++k) {
      bits[k] ^= 1;
      EXPECT_FALSE(decode(bits, &read)) << k;
      bits[k] ^= 1;
    }
  }
}

TEST(V92HoldSequence, OfAReservedSignalIsIgnoredAndReservedInformationIsNot) {
  for (int signal = 0; signal < 16; ++signal) {
    for (int information = 0; information < 16; ++information) {
      const HoldMessage message{static_cast<HoldSignal>(signal), static_cast<std::uint8_t>(information)};
      std::uint8_t bits[HoldMessage::kBits];
      encode(message, bits);
      HoldMessage read{};
      const bool defined = signal == 3 || signal == 5 || signal == 7 || signal == 9 || signal == 11 || signal == 13;
      EXPECT_EQ(decode(bits, &read), defined) << signal;
      if (defined) {
        EXPECT_EQ(read, message);
      }
    }
  }
}

TEST(V92HoldSequence, LastsAsTable33Says) {
  constexpr std::uint32_t kSeconds[] = {10, 20, 30, 40, 60, 120, 180, 240, 360, 480, 720, 960};
  for (int k = 0; k < 12; ++k) EXPECT_EQ(hold_seconds(k + 1), kSeconds[k]);
  EXPECT_EQ(hold_seconds(kHoldWithoutLimit), kNoHoldLimit);
  for (const int reserved : {0, 14, 15}) EXPECT_EQ(hold_seconds(reserved), 0u);
}

}  // namespace
}  // namespace offhook::v90
