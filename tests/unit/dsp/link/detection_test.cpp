// SPDX-License-Identifier: MIT
#include "dsp/link/detection.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace offhook::test {
namespace {

using namespace offhook::v42;

// Start-stop characters as octets, each followed by `fill` ones.
std::vector<int> characters(const std::vector<uint8_t>& octets, int fill) {
  std::vector<int> bits(20, 1);
  for (uint8_t octet : octets) {
    bits.push_back(0);
    for (int i = 0; i < 8; ++i) bits.push_back(octet >> i & 1);
    bits.insert(bits.end(), size_t(1 + fill), 1);
  }
  return bits;
}

PatternReceiver::Result result_of(const std::vector<int>& bits) {
  PatternReceiver receiver;
  PatternReceiver::Result found = PatternReceiver::kNothing;
  for (int bit : bits) {
    const auto result = receiver.put(bit);
    if (result != PatternReceiver::kNothing) found = result;
  }
  return found;
}

constexpr uint8_t kDc1Even = 0x11, kDc1Odd = 0x91;  // 7.2.1.2

TEST(Detection, OriginatorPatternIsDc1OfAlternatingParityWithEightOnesBetween) {
  PatternSender sender;
  sender.start(PatternSender::kOriginator);
  std::string bits;
  for (int i = 0; i < 36; ++i) bits += char('0' + sender.next());
  EXPECT_EQ(bits,
            "0100010001111111110100010011"
            "11111111");  // 7.2.1.2, as printed there
  EXPECT_EQ(sender.repeats(), 1u);
}

TEST(Detection, EachPatternIsKnownWithEightToSixteenOnesBetweenCharacters) {
  for (int fill : {8, 12, 16}) {
    // The stop bit does not count among the ones between characters.
    EXPECT_EQ(result_of(characters({kDc1Even, kDc1Odd, kDc1Even, kDc1Odd}, fill)), PatternReceiver::kOriginator);
    EXPECT_EQ(result_of(characters({'E', 'C', 'E', 'C'}, fill)), PatternReceiver::kAnswerer);
    EXPECT_EQ(result_of(characters({'E', 0, 'E', 0}, fill)), PatternReceiver::kRefused);
  }
}

TEST(Detection, WhatIsNearlyAPatternIsNone) {
  EXPECT_EQ(result_of(characters({kDc1Even, kDc1Odd, kDc1Even}, 8)), PatternReceiver::kNothing) << "three of four";
  EXPECT_EQ(result_of(characters({kDc1Even, kDc1Even, kDc1Even, kDc1Even}, 8)), PatternReceiver::kNothing);
  EXPECT_EQ(result_of(characters({'E', 'C', 'C', 'E'}, 8)), PatternReceiver::kNothing);
  EXPECT_EQ(result_of(characters({'E', 'C', 'E', 'C'}, 3)), PatternReceiver::kNothing) << "too close";
  EXPECT_EQ(result_of(characters({'E', 'C', 'E', 'C'}, 30)), PatternReceiver::kNothing) << "too far apart";
  EXPECT_EQ(result_of(std::vector<int>(1000, 1)), PatternReceiver::kNothing);
  EXPECT_EQ(result_of(std::vector<int>(1000, 0)), PatternReceiver::kNothing);
}

TEST(Detection, AfterABrokenCharacterOrALongGapAWholePatternIsNeededAgain) {
  constexpr int kFill = 8, kOnesBefore = 20, kStop = 9;
  const auto begin = characters({kDc1Even, kDc1Odd}, kFill);
  auto broken = characters({kDc1Even}, kFill);
  broken[kOnesBefore + kStop] = 0;
  broken.erase(broken.begin(), broken.begin() + kOnesBefore);
  const std::vector<int> gap(kOnesBefore, 1);
  for (const std::vector<int>& between : {broken, gap}) {
    for (const bool whole : {false, true}) {
      std::vector<uint8_t> again = {kDc1Even, kDc1Odd, kDc1Even};
      if (whole) again.push_back(kDc1Odd);
      auto end = characters(again, kFill);
      end.erase(end.begin(), end.begin() + kOnesBefore);
      std::vector<int> bits = begin;
      bits.insert(bits.end(), between.begin(), between.end());
      bits.insert(bits.end(), end.begin(), end.end());
      EXPECT_EQ(result_of(bits), whole ? PatternReceiver::kOriginator : PatternReceiver::kNothing) << between.size();
    }
  }
}

}  // namespace
}  // namespace offhook::test
