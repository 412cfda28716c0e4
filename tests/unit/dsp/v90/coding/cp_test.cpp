// SPDX-License-Identifier: MIT
//
// Against sequences worked out from Table 14 of V.90, by hand and by a script from the text.
#include "dsp/v90/coding/cp.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/dsp/v34/random.h"

namespace offhook::v90 {
namespace {

// Every fourth Ucode from 3 to 91 in all intervals, 44,000 bit/s, no shaping, mu-law, upstream 4800 to 31,200 bit/s.
Cp example() {
  Cp cp{};
  cp.data_mode = true;
  cp.drn = 13;
  cp.upstream_mask = 0xFFF;
  cp.trn1d_ratio = 0x2000;
  for (int u = 3; u <= 91; u += 4) cp.constellation[0].add(u);
  return cp;
}

// CPt, two constellations in turn, seen otherwise at the codec.
Cp two_constellations() {
  Cp cp{};
  cp.drn = 10;
  cp.shaping_bits = 1;
  cp.upstream_mask = 0x1FFF;
  cp.look_ahead = 1;
  cp.trn1d_ratio = 0x4000;
  cp.a1 = 64;
  cp.b2 = -32;
  cp.codec_differs = true;
  for (const int i : {1, 3, 5}) cp.interval[i] = 1;
  for (int u = 40; u < 104; u += 8) {
    cp.constellation[0].add(u);
    cp.constellation[1].add(u + 4);
    cp.codec[0].add(u);
    cp.codec[1].add(u + 5);
  }
  return cp;
}

std::vector<uint8_t> bits_of(const Cp& cp) {
  std::vector<uint8_t> bits(Cp::kMaxBits);
  bits.resize(static_cast<std::size_t>(encode(cp, bits.data())));
  return bits;
}

// The first bit is the most significant of the first digit.
std::string hex(const std::vector<uint8_t>& bits) {
  std::string out;
  for (std::size_t k = 0; k < bits.size(); k += 4) {
    int digit = 0;
    for (std::size_t i = k; i < k + 4; ++i) digit = 2 * digit + (i < bits.size() ? bits[i] : 0);
    out += "0123456789ABCDEF"[digit];
  }
  return out;
}

int crc_of(const std::vector<uint8_t>& bits) {
  int crc = 0;
  for (std::size_t k = 0; k < 16; ++k) crc |= bits[bits.size() - 19 + k] << k;
  return crc;
}

bool same(const Cp& a, const Cp& b) {
  return bits_of(a) == bits_of(b);
}

TEST(V90Cp, SequencesEqualThoseWorkedOutFromTable14) {
  Cp cp = example();
  EXPECT_EQ(hex(bits_of(cp)), "FFFF9B000FFF000040000000000000000008888444422221111088884440000000003DF40");
  EXPECT_EQ(crc_of(bits_of(cp)), 0x17DE);
  cp.acknowledge = true;
  EXPECT_EQ(hex(bits_of(cp)), "FFFF9B004FFF0000400000000000000000088884444222211110888844400000000045870");
  EXPECT_EQ(crc_of(bits_of(cp)), 0x70D1);
  cp = example();
  cp.drn = 0;
  EXPECT_EQ(crc_of(bits_of(cp)), 0xB524);
  EXPECT_EQ(bits_of(two_constellations()).size(), 700u);
  EXPECT_EQ(crc_of(bits_of(two_constellations())), 0x2334);
}

TEST(V90Cp, RatesAndKEqualTheTextsRateTable) {
  Cp cp = example();
  EXPECT_EQ(cp.rate_thirds(), 3 * 44000);
  EXPECT_EQ(cp.k(), 27);
  cp.data_mode = false;
  cp.drn = 1;
  cp.shaping_bits = 3;
  EXPECT_EQ(cp.rate_thirds(), 3 * 12000);
  EXPECT_EQ(cp.k(), 6);
  cp.drn = 22;
  cp.data_mode = true;
  EXPECT_EQ(cp.rate_thirds(), 3 * 56000);
  EXPECT_EQ(cp.k(), 39);
}

Cp any(v34::Random& random) {
  Cp cp{};
  cp.data_mode = random.below(2);
  cp.drn = static_cast<uint8_t>(random.below(23));
  cp.silence = random.below(2);
  cp.shaping_bits = static_cast<uint8_t>(random.below(4));
  cp.acknowledge = random.below(2);
  cp.a_law = random.below(2);
  cp.upstream_mask = static_cast<uint16_t>(random.below(1 << 13));
  cp.look_ahead = static_cast<uint8_t>(random.below(4));
  cp.trn1d_ratio = static_cast<uint16_t>(random.below(1 << 16));
  for (int8_t* x : {&cp.a1, &cp.a2, &cp.b1, &cp.b2}) *x = static_cast<int8_t>(static_cast<int>(random.below(129)) - 64);
  const uint32_t sets = 1 + random.below(6);
  for (uint8_t& i : cp.interval) i = static_cast<uint8_t>(random.below(sets));
  cp.codec_differs = random.below(2);
  for (int i = 0; i < cp.constellations(); ++i) {
    for (int c = 0; c < 8; ++c) {
      cp.constellation[i].uchord[c] = static_cast<uint16_t>(random.below(1 << 16));
      if (cp.codec_differs) cp.codec[i].uchord[c] = static_cast<uint16_t>(random.below(1 << 16));
    }
  }
  return cp;
}

TEST(V90Cp, AnySequenceIsReadAsItWasWritten) {
  v34::Random random(1, 0);
  for (int n = 0; n < 500; ++n) {
    const Cp cp = any(random);
    const auto bits = bits_of(cp);
    ASSERT_EQ(static_cast<int>(bits.size()), cp.bits());
    Cp read;
    ASSERT_TRUE(decode(bits.data(), cp.bits() - Cp::kFillBits, &read));
    ASSERT_TRUE(same(cp, read));
    EXPECT_FALSE(decode(bits.data(), cp.bits() - Cp::kFillBits - 1, &read));
  }
}

TEST(V90Cp, ASequenceWithOneWrongBitIsRefusedUnlessTheBitIsReservedOrFill) {
  auto bits = bits_of(two_constellations());
  for (std::size_t k = 0; k < bits.size(); ++k) {
    bits[k] ^= 1;
    Cp cp;
    EXPECT_EQ(decode(bits.data(), static_cast<int>(bits.size()), &cp), k >= bits.size() - Cp::kFillBits) << k;
    bits[k] ^= 1;
  }
}

TEST(V90Cp, IndicesAboveFiveAndRatesAboveTwentyTwoAreRefused) {
  for (const bool rate : {true, false}) {
    auto bits = bits_of(example());
    const std::size_t at = rate ? 20 : 103, count = rate ? 5 : 4;
    const int value = rate ? 23 : 6;
    for (std::size_t k = 0; k < count; ++k) bits[at + k] = value >> k & 1;
    Crc crc;
    for (std::size_t k = 17; k < bits.size() - 19; ++k) {
      if (k % 17 != 0) crc.put(bits[k]);
    }
    for (std::size_t k = 0; k < 16; ++k) bits[bits.size() - 19 + k] = crc.value() >> k & 1;
    bits.resize(Cp::kMaxBits);
    Cp cp;
    EXPECT_FALSE(decode(bits.data(), Cp::kMaxBits, &cp));
  }
}

TEST(V90Cp, AReceiverFindsEachSequenceAmongOnesAndDamagedOnes) {
  v34::Random random(2, 0);
  std::vector<uint8_t> stream;
  std::vector<Cp> sent;
  for (int n = 0; n < 60; ++n) {
    const Cp cp = any(random);
    auto bits = bits_of(cp);
    const bool damaged = n % 3 == 1;
    // In the middle, or cut short.
    if (damaged && n % 2 == 0) bits.resize(bits.size() / 2);
    if (damaged && n % 2 == 1) bits[40 + random.below(200)] ^= 1;
    if (!damaged) sent.push_back(cp);
    stream.insert(stream.end(), bits.begin(), bits.end());
    if (n % 4 == 0) stream.insert(stream.end(), 30, 1);  // SCR
  }
  CpReceiver receiver;
  std::size_t found = 0;
  for (const uint8_t bit : stream) {
    Cp cp;
    if (!receiver.put(bit, &cp)) continue;
    ASSERT_LT(found, sent.size());
    EXPECT_TRUE(same(cp, sent[found])) << found;
    EXPECT_EQ(receiver.size(), cp.bits() - Cp::kFillBits);
    ++found;
  }
  EXPECT_EQ(found, sent.size());
}

}  // namespace
}  // namespace offhook::v90
