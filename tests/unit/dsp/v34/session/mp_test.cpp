// SPDX-License-Identifier: MIT
#include "dsp/v34/session/mp.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {
namespace {

constexpr uint16_t up_to(int n) {
  return static_cast<uint16_t>((1 << n) - 1);
}

constexpr Mp kType0{false, 12, 11, false, TrellisCode::k64, true, true, false, up_to(12), true, {}};
constexpr Mp kType1{true,
                    12,
                    11,
                    false,
                    TrellisCode::k64,
                    true,
                    true,
                    false,
                    up_to(12),
                    true,
                    {{{-9830, 3277}, {4915, -1638}, {-820, 16}}}};

std::string text(const Mp& mp) {
  uint8_t bits[Mp::kBitsType1];
  std::string out;
  const int n = encode(mp, bits);
  for (int k = 0; k < n; ++k) out += static_cast<char>('0' + bits[k]);
  return out;
}

bool read(const std::string& s, Mp* mp) {
  std::vector<uint8_t> bits;
  for (const char c : s) bits.push_back(static_cast<uint8_t>(c - '0'));
  return decode(bits.data(), mp);
}

bool same(const Mp& a, const Mp& b) {
  return text(a) == text(b);
}

TEST(V34Mp, SequencesEqualThoseWorkedOutFromTables20And21) {
  EXPECT_EQ(text(kType0), "1111111111111111100000111101001110011111111111100010000000000000000001000101000010010000");
  EXPECT_EQ(
      text(kType1),
      "111111111111111110100011110100111001111111111110001001011001100110110101100110011000001100110011001000001011"
      "00110011111000110011001111110000010000000000000000000000000000010000111001010000");
  Mp acknowledged = kType0;
  acknowledged.acknowledge = true;
  const std::string crc = text(acknowledged).substr(69, 16);  // C204, bit 0 first
  EXPECT_EQ(crc, "0010000001000011");
}

TEST(V34Mp, EverySingleErrorOutsideTheFillIsCaught) {
  for (const Mp& mp : {kType0, kType1}) {
    const std::string good = text(mp);
    Mp out;
    ASSERT_TRUE(read(good, &out));
    EXPECT_TRUE(same(out, mp));
    for (size_t k = 0; k + (mp.type1 ? 1 : 3) < good.size(); ++k) {
      std::string bad = good;
      bad[k] ^= 1;
      bad.resize(Mp::kBitsType1, '0');  // an error in the type bit makes the sequence longer
      EXPECT_FALSE(read(bad, &out)) << k;
    }
  }
}

TEST(V34Mp, ReservedBitsAreNotLookedAt) {
  std::string s = text(kType0);
  s[19] = '1';
  s[60] = '1';
  Crc crc;
  for (size_t k = 18; k < 69; ++k) {
    if (k != 34 && k != 51 && k != 68) crc.put(s[k] - '0');
  }
  for (size_t k = 0; k < 16; ++k) s[69 + k] = static_cast<char>('0' + (crc.value() >> k & 1));
  Mp out;
  EXPECT_TRUE(read(s, &out));
  EXPECT_TRUE(same(out, kType0));
}

TEST(V34Mp, EveryFieldSurvives) {
  Random random(34, 0);
  for (int n = 0; n < 2000; ++n) {
    Mp mp{};
    mp.type1 = random.bit() != 0;
    mp.max_call_to_answer = static_cast<uint8_t>(random.below(15));
    mp.max_answer_to_call = static_cast<uint8_t>(random.below(15));
    mp.aux = random.bit() != 0;
    mp.trellis = static_cast<TrellisCode>(random.below(3));
    mp.nonlinear = random.bit() != 0;
    mp.expanded = random.bit() != 0;
    mp.acknowledge = random.bit() != 0;
    mp.rate_mask = static_cast<uint16_t>(random.below(1 << 14));
    mp.asymmetric = random.bit() != 0;
    for (auto& tap : mp.precoder.h) {
      tap.re = static_cast<int16_t>(mp.type1 ? random.next() : 0);
      tap.im = static_cast<int16_t>(mp.type1 ? random.next() : 0);
    }
    Mp out;
    ASSERT_TRUE(read(text(mp), &out));
    ASSERT_EQ(text(out), text(mp));
    for (int k = 0; k < 3; ++k) {
      ASSERT_EQ(out.precoder.h[k].re, mp.precoder.h[k].re);
      ASSERT_EQ(out.precoder.h[k].im, mp.precoder.h[k].im);
    }
  }
}

TEST(V34Mp, ReservedTrellisCodeAndRate15AreRefused) {
  Mp bad = kType0;
  bad.trellis = static_cast<TrellisCode>(3);
  Mp out;
  EXPECT_FALSE(read(text(bad), &out));
  bad = kType0;
  bad.max_call_to_answer = 15;
  EXPECT_FALSE(read(text(bad), &out));
  bad.max_call_to_answer = 0;  // asks for cleardown
  EXPECT_TRUE(read(text(bad), &out));
}

TEST(V34Mp, ReceiverFindsBothTypesBackToBackAndAfterErrors) {
  std::string damaged = text(kType1);
  damaged[60] ^= 1;
  std::string stream = "1111110";
  std::vector<size_t> expected;  // lengths of the stream when a CRC is complete, without waiting for fill bits
  for (const Mp& mp : {kType0, kType1}) {
    stream += text(mp);
    expected.push_back(stream.size() - (mp.type1 ? 1 : 3));
  }
  stream += damaged;
  for (int k = 0; k < 2; ++k) {
    stream += text(kType0);
    expected.push_back(stream.size() - 3);
  }
  stream.append(30, '1');
  MpReceiver receiver;
  std::vector<size_t> found;
  for (size_t n = 0; n < stream.size(); ++n) {
    Mp mp;
    if (!receiver.put(stream[n] - '0', &mp)) continue;
    found.push_back(n + 1);
    EXPECT_TRUE(same(mp, found.size() == 2 ? kType1 : kType0));
  }
  EXPECT_EQ(found, expected);
}

TEST(V34Mp, RatesFollowFromBothSequences) {
  const auto mp = [](int c2a, int a2c, uint16_t mask, bool asymmetric) {
    Mp m{};
    m.max_call_to_answer = static_cast<uint8_t>(c2a);
    m.max_answer_to_call = static_cast<uint8_t>(a2c);
    m.rate_mask = mask;
    m.asymmetric = asymmetric;
    return m;
  };
  const uint16_t all = up_to(12);
  const uint16_t no24000 = all & ~(1 << 9);
  const auto rates = [](int c2a, int a2c) { return RatePair{static_cast<uint8_t>(c2a), static_cast<uint8_t>(a2c)}; };
  EXPECT_EQ(resolve_rates(mp(12, 10, all, true), mp(11, 12, all, true)), rates(11, 10));
  EXPECT_EQ(resolve_rates(mp(12, 10, all, true), mp(11, 12, all, false)), rates(10, 10));
  EXPECT_EQ(resolve_rates(mp(12, 10, all, true), mp(11, 12, no24000, true)), rates(11, 9));
  EXPECT_EQ(resolve_rates(mp(14, 14, up_to(14), true), mp(12, 14, all, true)), rates(12, 12));
  EXPECT_EQ(resolve_rates(mp(3, 3, 0b110000, true), mp(12, 12, all, true)), rates(0, 0));  // nothing in common
  EXPECT_EQ(resolve_rates(mp(0, 0, all, true), mp(12, 12, all, true)), rates(0, 0));       // cleardown
}

}  // namespace
}  // namespace offhook::v34
