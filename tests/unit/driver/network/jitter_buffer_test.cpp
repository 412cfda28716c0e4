// SPDX-License-Identifier: MIT
#include "driver/network/jitter_buffer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace offhook {
namespace {

constexpr std::uint32_t kPacket = 160, kDepth = 320;
using Kind = JitterBuffer::Kind;

/// A far end that counts: sample t is the octet t % 251.
struct Far {
  JitterBuffer buffer{kDepth};
  std::uint16_t sequence = 65'500;  // wraps within a test
  std::uint32_t timestamp = 0xffff'f000;
  std::uint32_t sent = 0;  // samples since the beginning

  std::vector<std::uint8_t> payload(std::uint32_t from) const {
    std::vector<std::uint8_t> octets(kPacket);
    for (std::uint32_t i = 0; i < kPacket; ++i) octets[i] = static_cast<std::uint8_t>((from + i) % 251);
    return octets;
  }
  /// Packet number n, counted from the first.
  void put(std::uint32_t n) {
    buffer.put(static_cast<std::uint16_t>(sequence + n), timestamp + n * kPacket, payload(n * kPacket));
  }
  /// n samples as text: '.' silent, 'x' lost, '=' the right sample, '!' a wrong one. Runs are written as "=160".
  std::string take(std::uint32_t n, std::uint32_t* next) {
    std::string text, runs;
    while (n > 0) {
      std::vector<std::uint8_t> out(n);
      Kind kind;
      const auto k = static_cast<std::uint32_t>(buffer.take(out.data(), n, &kind));
      char c = kind == Kind::kSilent ? '.' : kind == Kind::kLost ? 'x' : '=';
      for (std::uint32_t i = 0; c == '=' && i < k; ++i)
        if (out[i] != (*next + i) % 251) c = '!';
      if (kind != Kind::kSilent) *next += k;
      text += std::string(k, c);
      n -= k;
    }
    for (std::size_t i = 0, j; i < text.size(); i = j) {
      for (j = i; j < text.size() && text[j] == text[i]; ++j) {
      }
      runs += text[i] + std::to_string(j - i);
    }
    return runs;
  }
};

TEST(JitterBuffer, ALineWithoutPacketsIsSilentAndNothingIsLost) {
  Far far;
  std::uint32_t next = 0;
  EXPECT_EQ(far.take(1000, &next), ".1000");
  EXPECT_EQ(far.buffer.counters().lost_samples, 0u);
}

TEST(JitterBuffer, PlaysEverySampleOnceBehindItsDepthAcrossWraps) {
  Far far;
  std::uint32_t next = 0;
  std::string all;
  far.put(0);
  EXPECT_EQ(far.take(kPacket, &next), ".160");
  far.put(1);
  EXPECT_EQ(far.take(kPacket, &next), ".160") << "the depth of 40 ms";
  for (std::uint32_t n = 2; n < 100; ++n) {
    far.put(n);
    EXPECT_EQ(far.take(kPacket, &next), "=160") << n;
  }
  EXPECT_EQ(far.buffer.counters().received, 100u);
  EXPECT_EQ(far.buffer.counters().lost, 0u);
  EXPECT_EQ(far.buffer.counters().jumps, 0u);
}

TEST(JitterBuffer, ALostPacketIsAGapOfItsLength) {
  Far far;
  std::uint32_t next = 0;
  for (std::uint32_t n = 0; n < 10; ++n) {
    if (n != 5) far.put(n);
    const std::string heard = far.take(kPacket, &next);
    EXPECT_EQ(heard, n < 2 ? ".160" : n == 7 ? "x160" : "=160") << n;
  }
  EXPECT_EQ(far.buffer.counters().lost, 1u);
  EXPECT_EQ(far.buffer.counters().lost_samples, 160u);
}

TEST(JitterBuffer, AReorderedPacketIsInPlaceAndADuplicateCountsOnce) {
  Far far;
  std::uint32_t next = 0;
  for (const std::uint32_t n : {0u, 2u, 1u, 1u, 3u}) far.put(n);
  EXPECT_EQ(far.take(kDepth + 4 * kPacket, &next), ".320=640");
  EXPECT_EQ(far.buffer.counters().reordered, 1u);
  EXPECT_EQ(far.buffer.counters().duplicates, 1u);
  EXPECT_EQ(far.buffer.counters().lost, 0u);
  EXPECT_EQ(far.buffer.counters().received, 4u);
}

TEST(JitterBuffer, ThePartOfALatePacketThatIsStillDueIsPlayed) {
  Far far;
  std::uint32_t next = 0;
  far.put(0);
  EXPECT_EQ(far.take(kDepth + kPacket + 60, &next), ".320=160x60");
  far.put(1);
  EXPECT_EQ(far.take(100, &next), "=100");
  EXPECT_EQ(far.buffer.counters().late, 0u);
  EXPECT_EQ(far.take(kPacket, &next), "x160");
  far.put(2);
  EXPECT_EQ(far.buffer.counters().late, 1u);
}

TEST(JitterBuffer, ATimestampThatJumpsWithoutALossIsAGapAndIsCounted) {
  Far far;
  std::uint32_t next = 0;
  far.put(0);
  far.timestamp += 80;  // 10 ms that no packet has
  far.buffer.put(static_cast<std::uint16_t>(far.sequence + 1), far.timestamp + kPacket, far.payload(kPacket + 80));
  EXPECT_EQ(far.take(kDepth + 400, &next), ".320=160x80=160");
  EXPECT_EQ(far.buffer.counters().jumps, 1u);
  EXPECT_EQ(far.buffer.counters().lost, 0u);
}

TEST(JitterBuffer, OneStrangePacketChangesNothingAndTwoInARowAreANewStream) {
  Far far;
  std::uint32_t next = 0;
  for (std::uint32_t n = 0; n < 4; ++n) far.put(n);
  far.buffer.put(12'345, 99, far.payload(0));
  EXPECT_EQ(far.buffer.counters().strange, 1u);
  EXPECT_EQ(far.take(kDepth + 2 * kPacket, &next), ".320=320");
  far.buffer.put(12'346, 99 + kPacket, far.payload(0));
  EXPECT_EQ(far.buffer.counters().restarts, 1u);
  next = 0;
  EXPECT_EQ(far.take(kDepth + kPacket, &next), ".320=160");
}

TEST(JitterBuffer, ADelayThatGrowsForGoodMovesTheReaderOnce) {
  Far far;
  std::uint32_t next = 0;
  for (std::uint32_t n = 0; n < 10; ++n) far.put(n), far.take(kPacket, &next);
  for (int k = 0; k < 4; ++k) far.take(kPacket, &next);  // from now on, an additional delay of 80 ms
  std::string last;
  for (std::uint32_t n = 10; n < 40; ++n) far.put(n), last = far.take(kPacket, &next);
  EXPECT_EQ(far.buffer.counters().slips, 1u);
  EXPECT_EQ(last.front(), '!') << "samples, later than they would have been";
  EXPECT_LT(far.buffer.counters().slipped_samples, 0);
}

TEST(JitterBuffer, AfterASecondWithoutPacketsTheLineIsSilent) {
  Far far;
  std::uint32_t next = 0;
  far.put(0);
  far.take(kDepth + kPacket, &next);
  EXPECT_EQ(far.take(8000, &next), "x8000");
  EXPECT_EQ(far.take(100, &next), ".100");
}

// The far clock is faster by 100 ppm: one sample in ten thousand.
TEST(JitterBuffer, TheFarClockIsMeasured) {
  Far far;
  std::uint32_t next = 0, taken = 0, n = 0;
  for (; taken < 60 * 8000; taken += 8) {
    if (n * kPacket <= taken + taken / 10'000) far.put(n++);
    far.take(8, &next);
  }
  EXPECT_NEAR(far.buffer.counters().clock_ppm, 100, 25);
  EXPECT_EQ(far.buffer.counters().slips, 0u);
  EXPECT_EQ(far.buffer.counters().lost_samples, 0u);
}

}  // namespace
}  // namespace offhook
