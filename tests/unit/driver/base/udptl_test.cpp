// SPDX-License-Identifier: MIT
#include "driver/base/udptl.h"

#include <gtest/gtest.h>

#include <string>

#include "driver/base/ifp.h"

namespace offhook {
namespace {

using Octets = std::vector<std::uint8_t>;

/// Packet n: n + 1 octets.
Octets packet_of(std::size_t n) {
  return Octets(n + 1, static_cast<std::uint8_t>(n));
}

std::string taken(UdptlReader& reader, const Octets& datagram) {
  const auto news = reader.take(datagram);
  if (!news) return "none";
  std::string text = news->lost > 0 ? "lost " + std::to_string(news->lost) + " " : "";
  for (std::size_t k = 0; k < news->packets.size(); ++k) {
    const auto p = news->packets[k];
    if (p.size() != p[0] + 1u || p[0] != news->first + k) text += "wrong ";
    text += std::to_string(p[0]) + " ";
  }
  return text;
}

TEST(Udptl, ADatagramHasNumberPacketAndCopiesOfThoseBefore) {
  UdptlWriter writer(2, 1000);
  EXPECT_EQ(writer.next(packet_of(0)), (Octets{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(writer.next(packet_of(1)), (Octets{0, 1, 2, 1, 1, 0, 1, 1, 0}));
  EXPECT_EQ(writer.next(packet_of(2)), (Octets{0, 2, 3, 2, 2, 2, 0, 2, 2, 1, 1, 1, 0}));
  EXPECT_EQ(writer.next(packet_of(3)), (Octets{0, 3, 4, 3, 3, 3, 3, 0, 2, 3, 2, 2, 2, 2, 1, 1}));
}

TEST(Udptl, ALengthAbove127HasTwoOctets) {
  UdptlWriter writer(1, 1000);
  const Octets longest(300, 7);
  const Octets first = writer.next(longest), second = writer.next(longest);
  EXPECT_EQ(first.size(), 2 + 2 + 300 + 2u);
  EXPECT_EQ(first[2], 0x81);
  EXPECT_EQ(first[3], 300 - 256);
  const auto read = parse_udptl(second);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->whole);
  EXPECT_EQ(read->number, 1);
  EXPECT_EQ(Octets(read->packet.begin(), read->packet.end()), longest);
  ASSERT_EQ(read->before.size(), 1u);
  EXPECT_EQ(read->before[0].size(), 300u);
}

TEST(Udptl, CopiesThatDoNotFitAreLeftOut) {
  UdptlWriter writer(3, 14);
  for (std::size_t n = 0; n < 3; ++n) writer.next(packet_of(n));
  EXPECT_EQ(writer.next(packet_of(3)).size(), 2 + 5 + 2 + 4u);  // of packet 2 alone
  EXPECT_EQ(writer.next(Octets(50, 1)).size(), 2 + 51 + 2u);    // a packet is always sent
}

TEST(Udptl, CopiesMakeUpForLostDatagrams) {
  UdptlWriter writer(3, 1000);
  std::vector<Octets> sent;
  for (std::size_t n = 0; n < 12; ++n) sent.push_back(writer.next(packet_of(n)));
  UdptlReader reader;
  EXPECT_EQ(taken(reader, sent[1]), "0 1 ");  // the beginning was lost
  EXPECT_EQ(taken(reader, sent[2]), "2 ");
  EXPECT_EQ(taken(reader, sent[2]), "none");
  EXPECT_EQ(taken(reader, sent[6]), "3 4 5 6 ");
  EXPECT_EQ(taken(reader, sent[4]), "none");  // late
  EXPECT_EQ(taken(reader, sent[11]), "lost 1 8 9 10 11 ");
}

TEST(Udptl, NumbersGoRound) {
  UdptlReader reader;
  UdptlWriter writer(1, 100);
  for (int n = 0; n < 0x10000 - 1; ++n) writer.next(packet_of(0));
  const Octets last = writer.next(packet_of(0)), first = writer.next(packet_of(1)), second = writer.next(packet_of(2));
  ASSERT_TRUE(reader.take(last));
  const auto news = reader.take(second);
  ASSERT_TRUE(news);
  EXPECT_EQ(news->lost, 0u);
  EXPECT_EQ(news->first, 0);
  EXPECT_FALSE(reader.take(first));
}

TEST(Udptl, WhatIsCutOffIsNotWhole) {
  UdptlWriter writer(2, 1000);
  writer.next(packet_of(0));
  writer.next(packet_of(1));
  const Octets whole = writer.next(packet_of(2));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const auto read = parse_udptl(std::span(whole).first(n));
    EXPECT_TRUE(!read || !read->whole) << n;
  }
  EXPECT_TRUE(parse_udptl(whole)->whole);
}

TEST(Udptl, TheNewestDatagramIsSentAgainWhenTheDirectionIsSilent) {
  UdptlRepeat repeat;
  EXPECT_TRUE(repeat.due(0).empty());
  repeat.note({1, 2}, 1000);
  EXPECT_TRUE(repeat.due(1000 + UdptlRepeat::kAfterMs - 1).empty());
  std::int64_t now_ms = 1000;
  for (int k = 0; k < UdptlRepeat::kTimes; ++k) {
    now_ms += UdptlRepeat::kAfterMs;
    const auto again = repeat.due(now_ms);
    EXPECT_EQ((Octets{again.begin(), again.end()}), (Octets{1, 2}));
    EXPECT_TRUE(repeat.due(now_ms).empty());
  }
  EXPECT_TRUE(repeat.due(now_ms + 10'000).empty());
  repeat.note({3}, now_ms);
  EXPECT_EQ(repeat.due(now_ms + UdptlRepeat::kAfterMs).size(), 1u);
}

TEST(Ifp, AnIndicatorAndDataInBothPackings) {
  const Octets cng = {0x02}, frame = {0xC0, 0x01, 0x80, 0x00, 0x02, 1, 2, 3};  // one field is packed alike in both
  EXPECT_TRUE(is_ifp(cng, 0));
  EXPECT_TRUE(is_ifp(frame, 0));
  EXPECT_TRUE(is_ifp(frame, 1));
  EXPECT_FALSE(is_ifp(Octets{0xC0, 0x01, 0x80, 0x00, 0x03, 1, 2, 3}, 0));  // one octet is missing
  EXPECT_FALSE(is_ifp(Octets{0x02, 0x00}, 0));                             // one too many
  EXPECT_FALSE(is_ifp(Octets{}, 0));
}

}  // namespace
}  // namespace offhook
