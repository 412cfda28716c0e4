// SPDX-License-Identifier: MIT
#include "dsp/link/start_stop.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace offhook::v14 {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes random_bytes(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(n);
  for (auto& b : bytes) b = uint8_t(random());
  return bytes;
}

TEST(StartStop, ACharacterIsStartDataLeastSignificantFirstAndStop) {
  Sender sender;
  std::string bits;
  bits += char('0' + sender.next());
  sender.put(0x41);
  while (!sender.ready()) bits += char('0' + sender.next());
  EXPECT_EQ(bits, "10100000101");
}

TEST(StartStop, CarriesEveryByteWithAndWithoutPauses) {
  Link a, b;
  const oh_bit_port from = a.port(), to = b.port();
  const Bytes sent = random_bytes(20000, 1);
  Bytes received;
  std::mt19937_64 random(2);
  for (size_t at = 0; received.size() < sent.size();) {
    if (random() % 3 == 0) at += a.write(sent.data() + at, uint32_t(std::min<size_t>(sent.size() - at, random() % 50)));
    for (int i = 0; i < 90; ++i) oh_port_put_bit(&to, oh_port_get_bit(&from));
    uint8_t buffer[64];
    received.insert(received.end(), buffer, buffer + b.read(buffer, sizeof buffer));
  }
  EXPECT_EQ(received, sent);
  EXPECT_EQ(b.lost() + b.breaks(), 0u);
}

// V.14, 7: one of eight stop bits may be omitted, or one of four in the extended range.
TEST(StartStop, UnderstandsCharactersWhoseStopBitIsLeftOut) {
  for (const int every : {8, 4}) {
    const Bytes sent = random_bytes(4000, unsigned(every));
    Bytes received;
    Receiver receiver;
    for (size_t i = 0; i < sent.size(); ++i) {
      Sender sender;
      sender.put(sent[i]);
      for (int bit = 0; bit < (i % unsigned(every) == 0 ? 9 : 10); ++bit) {
        const auto result = receiver.put(sender.next());
        if (result == Receiver::kCharacter) received.push_back(receiver.character());
        ASSERT_NE(result, Receiver::kBreak) << "character " << i;
      }
    }
    receiver.put(1);
    EXPECT_EQ(received, sent);
  }
}

TEST(StartStop, ABreakIsToldOnceAndCharactersFollowIt) {
  Receiver receiver;
  int breaks = 0;
  for (int i = 0; i < 400; ++i) breaks += receiver.put(0) == Receiver::kBreak;
  EXPECT_EQ(breaks, 1);
  receiver.put(1);
  Sender sender;
  sender.put('x');
  Receiver::Result last = Receiver::kNothing;
  while (!sender.ready()) last = receiver.put(sender.next());
  EXPECT_EQ(last, Receiver::kCharacter);
  EXPECT_EQ(receiver.character(), 'x');
}

TEST(StartStop, WhatNobodyReadsIsCountedAsLost) {
  Link link;
  Sender sender;
  const oh_bit_port to = link.port();
  for (int i = 0; i < 10000; ++i) {
    sender.put('x');
    while (!sender.ready()) oh_port_put_bit(&to, sender.next());
  }
  EXPECT_EQ(link.lost(), 10000u - 8192u);
}

}  // namespace
}  // namespace offhook::v14
