// SPDX-License-Identifier: MIT
#include "dsp/v42/hdlc.h"

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
        const int kind = int(random() % 3);  // ones make the most inserted zeros
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

}  // namespace
}  // namespace offhook::test
