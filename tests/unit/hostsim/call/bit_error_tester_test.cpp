// SPDX-License-Identifier: MIT
#include "hostsim/call/bit_error_tester.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace offhook::hostsim {
namespace {

std::vector<int> bits_of(BitErrorTester& t, std::size_t n) {
  std::vector<std::uint8_t> octets((n + 7) / 8);
  t.get(octets.data(), n);
  std::vector<int> bits(n);
  for (std::size_t i = 0; i < n; ++i) bits[i] = octets[i / 8] >> i % 8 & 1;
  return bits;
}

void put(BitErrorTester& t, const std::vector<int>& bits) {
  std::vector<std::uint8_t> octets((bits.size() + 7) / 8);
  for (std::size_t i = 0; i < bits.size(); ++i) octets[i / 8] |= static_cast<std::uint8_t>(bits[i] << i % 8);
  t.put(octets.data(), bits.size());
}

TEST(BitErrorTester, SendsTheSequenceOfO150HoweverItIsAskedForIt) {
  BitErrorTester one(7), other(7);
  const std::vector<int> b = bits_of(one, 5000);
  std::vector<int> pieces;
  for (std::size_t n = 1; pieces.size() < b.size(); n = n % 29 + 1) {
    const std::vector<int> more = bits_of(other, std::min(n, b.size() - pieces.size()));
    pieces.insert(pieces.end(), more.begin(), more.end());
  }
  EXPECT_EQ(pieces, b);
  int ones = 0;
  for (std::size_t n = 31; n < b.size(); ++n) {
    ASSERT_EQ(b[n], b[n - 28] ^ b[n - 31]) << n;
    ones += b[n];
  }
  EXPECT_NEAR(ones, 2500, 250);
}

TEST(BitErrorTester, CountsEachWrongBitOnce) {
  BitErrorTester sender(3), receiver(9);
  std::vector<int> b = bits_of(sender, 10'000);
  for (const std::size_t at : {500u, 501u, 4000u, 9999u}) b[at] ^= 1;
  put(receiver, b);
  EXPECT_EQ(receiver.received(), 10'000u);
  EXPECT_EQ(receiver.wrong(), 4u);
  EXPECT_GT(receiver.compared(), 9'850u);
  EXPECT_EQ(receiver.losses(), 0u);
}

TEST(BitErrorTester, BitsThatAreLeftOutCostASynchronisationAndNotEveryBitAfterThem) {
  BitErrorTester sender(3), receiver(9);
  std::vector<int> b = bits_of(sender, 3'000'000);
  b.erase(b.begin() + 50'000, b.begin() + 50'123);
  put(receiver, b);
  EXPECT_EQ(receiver.losses(), 1u);
  EXPECT_NEAR(static_cast<double>(receiver.wrong()), ((1 << 20) - 50'000) / 2, 5000);
  EXPECT_GT(receiver.compared(), 2'999'000u);
}

TEST(BitErrorTester, WhereAnotherPieceIsExpectedNothingIsWrong) {
  BitErrorTester sender(3), receiver(9);
  put(receiver, bits_of(sender, 5000));
  (void)bits_of(sender, 777);
  receiver.restart();
  put(receiver, bits_of(sender, 5000));
  EXPECT_EQ(receiver.wrong(), 0u);
  EXPECT_EQ(receiver.losses(), 0u);
  EXPECT_GT(receiver.compared(), 9700u);
}

TEST(BitErrorTester, ABurstOfWrongBitsCostsNoSynchronisation) {
  BitErrorTester sender(3), receiver(9);
  std::vector<int> b = bits_of(sender, 200'000);
  for (std::size_t at = 100'000; at < 110'000; at += 2) b[at] ^= 1;
  put(receiver, b);
  EXPECT_EQ(receiver.losses(), 0u);
  EXPECT_EQ(receiver.wrong(), 5000u);
}

TEST(BitErrorTester, SilenceIsNotThePattern) {
  BitErrorTester receiver;
  for (const int bit : {0, 1}) put(receiver, std::vector<int>(3000, bit));
  EXPECT_EQ(receiver.compared(), 0u);
}

}  // namespace
}  // namespace offhook::hostsim
