// SPDX-License-Identifier: MIT
#include "dsp/link/hdlc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace offhook::test {
namespace {

using namespace offhook::v42;

TEST(Hdlc, FramesOfEveryLengthAndBitPatternComeBack) {
  std::mt19937 random(1);
  uint8_t tx[300], rx[300];
  for (bool fcs32 : {false, true}) {
    HdlcSender sender;
    HdlcReceiver receiver;
    sender.init(tx);
    receiver.init(rx, sizeof rx);
    int found = 0;
    std::vector<uint8_t> sent;
    for (int i = 0; i < 200000; ++i) {
      if (sender.ready()) {
        sent.resize(2 + random() % 200);
        const int kind = int(random() % 3);  // ones cause the most inserted zeros
        for (auto& b : sent) b = kind == 0 ? 0xFF : kind == 1 ? 0x7E : uint8_t(random());
        std::copy(sent.begin(), sent.end(), tx);
        sender.load(sent.size(), fcs32);
      }
      const auto result = receiver.put(sender.next());
      ASSERT_NE(result, HdlcReceiver::kBadFrame);
      if (result == HdlcReceiver::kFrame) {
        ++found;
        ASSERT_EQ(receiver.fcs32(), fcs32);
        ASSERT_EQ(std::vector<uint8_t>(rx, rx + receiver.size() - (fcs32 ? 4 : 2)), sent);
      }
    }
    EXPECT_GT(found, 150);
  }
}

TEST(Hdlc, CheckSequencesOfThePublishedVector) {
  // "123456789": CRC-16/X-25 is 0x906E, CRC-32 is 0xCBF43926 (Greg Cook's catalogue), low octet first.
  uint8_t buffer[16];
  HdlcSender sender;
  sender.init(buffer);
  memcpy(buffer, "123456789", 9);
  sender.load(9, false);
  EXPECT_EQ(buffer[9] | buffer[10] << 8, 0x906E);
  sender.load(9, true);
  EXPECT_EQ(uint32_t(buffer[9]) | uint32_t(buffer[10]) << 8 | uint32_t(buffer[11]) << 16 | uint32_t(buffer[12]) << 24,
            0xCBF43926u);
}

std::vector<int> bits_of_frame(const std::vector<uint8_t>& octets) {
  uint8_t buffer[64];
  HdlcSender sender;
  sender.init(buffer);
  std::vector<int> bits;
  while (!sender.ready()) bits.push_back(sender.next());
  std::copy(octets.begin(), octets.end(), buffer);
  sender.load(octets.size(), false);
  while (!sender.ready()) bits.push_back(sender.next());
  return bits;
}

std::vector<HdlcReceiver::Result> results_of(const std::vector<int>& bits) {
  uint8_t buffer[64];
  HdlcReceiver receiver;
  receiver.init(buffer, sizeof buffer);
  std::vector<HdlcReceiver::Result> results;
  for (int bit : bits) {
    const auto result = receiver.put(bit);
    if (result != HdlcReceiver::kNothing) results.push_back(result);
  }
  return results;
}

using Results = std::vector<HdlcReceiver::Result>;

TEST(Hdlc, AZeroFollowsFiveOnesAndNoMoreThanSixAreEverSent) {
  const auto bits = bits_of_frame(std::vector<uint8_t>(32, 0xFF));
  const std::vector<int> flag{0, 1, 1, 1, 1, 1, 1, 0};
  ASSERT_TRUE(std::equal(flag.begin(), flag.end(), bits.begin()));
  ASSERT_TRUE(std::equal(flag.begin(), flag.end(), bits.end() - 8));
  int ones = 0;
  for (size_t i = 8; i < bits.size() - 8; ++i) {
    ones = bits[i] ? ones + 1 : 0;
    ASSERT_LE(ones, 5) << "bit " << i;
  }
  EXPECT_GE(bits.size(), 16u + 34 * 8 + 32 * 8 / 5);
}

TEST(Hdlc, SevenOnesAbortAFrameAndTheNextOneIsFound) {
  auto bits = bits_of_frame({1, 2, 3, 4, 5});
  const auto whole = bits;
  ASSERT_EQ(results_of(whole), (Results{HdlcReceiver::kFlag, HdlcReceiver::kFrame}));
  bits.resize(30);
  bits.insert(bits.end(), 7, 1);
  bits.insert(bits.end(), whole.begin(), whole.end());
  EXPECT_EQ(results_of(bits),
            (Results{HdlcReceiver::kFlag, HdlcReceiver::kBadFrame, HdlcReceiver::kFlag, HdlcReceiver::kFrame}));
}

TEST(Hdlc, ABitLostOrDoubledOrChangedSpoilsTheFrame) {
  const auto whole = bits_of_frame({0x11, 0x22, 0x44, 0x88, 0x13});
  for (size_t i = 8; i < whole.size() - 8; ++i) {
    auto lost = whole, doubled = whole, changed = whole;
    lost.erase(lost.begin() + long(i));
    doubled.insert(doubled.begin() + long(i), whole[i]);
    changed[i] ^= 1;
    for (const auto& bits : {lost, doubled, changed}) {
      for (auto result : results_of(bits)) ASSERT_NE(result, HdlcReceiver::kFrame) << "bit " << i;
    }
  }
}

}  // namespace
}  // namespace offhook::test
