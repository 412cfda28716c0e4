// SPDX-License-Identifier: MIT
#include "dsp/v34/phase2/info.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {
namespace {

template <class T>
std::string text(const T& info) {
  uint8_t bits[T::kBits];
  encode(info, bits);
  std::string out;
  for (const uint8_t b : bits) out += static_cast<char>('0' + b);
  return out;
}

template <class T>
bool read(const std::string& s, T* info) {
  std::vector<uint8_t> bits;
  for (const char c : s) bits.push_back(static_cast<uint8_t>(c - '0'));
  return decode(bits.data(), info);
}

std::string from_hex(const std::string& hex, size_t length) {
  std::string out;
  for (const char c : hex) {
    const int v = std::stoi(std::string(1, c), nullptr, 16);
    for (int k = 3; k >= 0; --k) out += v >> k & 1 ? '1' : '0';
  }
  return out.substr(0, length);
}

constexpr Info0 kAllCapabilities{
    true, true, true, true, true, true, true, true, true, 5, false, true, TransmitClock::kInternal, false};
constexpr Info0 kMandatoryOnly{
    false, false, false, true, true, true, true, false, false, 0, false, false, TransmitClock::kInternal, false};
constexpr Info1a kInfo1a{3, 2, 0, {Carrier::kHigh, 4, 12}, SymbolRate::k3200, SymbolRate::k3200, -7};
constexpr Info1c kInfo1c{3,
                         2,
                         10,
                         {{Carrier::kLow, 0, 9},
                          {Carrier::kLow, 2, 10},
                          {Carrier::kHigh, 2, 10},
                          {Carrier::kHigh, 3, 11},
                          {Carrier::kLow, 6, 12},
                          {Carrier::kLow, 6, 13}},
                         kOffsetUnknown};
constexpr Info0d kInfo0d{kAllCapabilities, 6, 21, true, false, true};
constexpr Info1aV90 kInfo1aV90{5, 79, SymbolRate::k3200, 150};

TEST(V34Info, CrcIsTheReflectedCcittCrcWithoutInversion) {
  Crc crc;
  for (const char c : std::string("123456789")) {
    for (int k = 0; k < 8; ++k) crc.put(c >> k & 1);
  }
  EXPECT_EQ(crc.value(), 0x6F91);
}

TEST(V34Info, SequencesEqualThoseWorkedOutFromTheTables) {
  Info0 acknowledged = kAllCapabilities;
  acknowledged.acknowledge = true;
  EXPECT_EQ(text(kAllCapabilities), "1111011100101111111111010100000111010001100111111");
  EXPECT_EQ(text(acknowledged), "1111011100101111111111010100100101010000100101111");
  EXPECT_EQ(text(kMandatoryOnly), "1111011100100001111000000000001111010111001101111");
  EXPECT_EQ(text(Info0{}), "1111011100100000000000000000000111010000111101111");
  EXPECT_EQ(text(kInfo1a), "1111011100101100100000000100100011001001100111111111000110001101001111");
  EXPECT_EQ(
      text(kInfo1c),
      "1111011100101100100101000000001001001000101101000101111001101001100011001101011000000000101111011011001101111");
}

// V.90's forms, from V.90, Tables 7, 8 and 10.
TEST(V34Info, V90SequencesDecode) {
  Info0d d;
  EXPECT_TRUE(read(from_hex("F723F5437431A6FC", 62), &d));
  EXPECT_EQ(text(d), from_hex("F723F5437431A6FC", 62));
  Info0 a;
  EXPECT_TRUE(read(from_hex("F721E84646FF8", 49), &a));
  EXPECT_EQ(text(a), from_hex("F721E84646FF8", 49));
  Info1aV90 v90;
  EXPECT_TRUE(read(from_hex("F72000790B00576B3C", 70), &v90));
  EXPECT_EQ(text(v90), from_hex("F72000790B00576B3C", 70));
  Info1a v34;
  EXPECT_FALSE(read(from_hex("F72000790B00576B3C", 70), &v34)) << "6 in bits 37:39 is not a V.34 symbol rate";
  EXPECT_FALSE(read(text(kInfo1a), &v90));
}

// V.90, Table 7, bits 38 and 39, each separately.
TEST(V34Info, TheCodecsPowerAndItsLawHaveTheBitsOfTable7) {
  const std::string none = text(Info0d{});
  const auto differs_first_at = [&none](bool Info0d::*flag) {
    Info0d d{};
    d.*flag = true;
    const std::string bits = text(d);
    return std::mismatch(bits.begin(), bits.end(), none.begin()).first - bits.begin();
  };
  EXPECT_EQ(differs_first_at(&Info0d::power_at_codec), 38);
  EXPECT_EQ(differs_first_at(&Info0d::a_law), 39);
}

template <class T>
void expect_round_trip_and_detection(const T& info) {
  const std::string good = text(info);
  T out{};
  ASSERT_TRUE(read(good, &out));
  EXPECT_EQ(out, info);
  for (size_t k = 4; k + 4 < good.size(); ++k) {  // every single error in sync, information and CRC is detected
    std::string bad = good;
    bad[k] ^= 1;
    EXPECT_FALSE(read(bad, &out)) << k;
  }
  Random random(30, T::kBits);
  int accepted = 0;
  for (int n = 0; n < 20000; ++n) {  // also bursts of up to 16 bits
    std::string bad = good;
    const size_t at = 12 + random.below(static_cast<uint32_t>(good.size()) - 32);
    const uint32_t burst = (random.next() & 0xFFFF) | 1;
    for (size_t k = 0; k < 16; ++k) bad[at + k] = static_cast<char>(bad[at + k] ^ (burst >> k & 1));
    accepted += read(bad, &out);
  }
  EXPECT_EQ(accepted, 0);
}

TEST(V34Info, EachKindDecodesAndEverySingleErrorAndShortBurstIsCaught) {
  expect_round_trip_and_detection(kAllCapabilities);
  expect_round_trip_and_detection(kMandatoryOnly);
  expect_round_trip_and_detection(kInfo0d);
  expect_round_trip_and_detection(kInfo1a);
  expect_round_trip_and_detection(kInfo1c);
  expect_round_trip_and_detection(kInfo1aV90);
}

TEST(V34Info, EveryFieldSurvives) {
  Random random(31, 0);
  for (int n = 0; n < 2000; ++n) {
    Info1c c{};
    c.min_power_reduction = static_cast<uint8_t>(random.below(8));
    c.extra_power_reduction = static_cast<uint8_t>(random.below(8));
    c.md_length = static_cast<uint8_t>(random.below(128));
    for (ProbingResult& r : c.probing) {
      r = {static_cast<Carrier>(random.bit()), static_cast<uint8_t>(random.below(11)),
           static_cast<uint8_t>(random.below(15))};
    }
    c.frequency_offset = static_cast<int16_t>(static_cast<int>(random.below(1024)) - 512);
    Info1c back{};
    ASSERT_TRUE(read(text(c), &back));
    ASSERT_EQ(back, c);
    Info0d d{};
    d.v34.max_rate_difference = static_cast<uint8_t>(random.below(6));
    d.v34.cme = random.bit() != 0;
    d.nominal_power = static_cast<uint8_t>(random.below(16));
    d.max_power = static_cast<uint8_t>(random.below(32));
    d.a_law = random.bit() != 0;
    Info0d d_back{};
    ASSERT_TRUE(read(text(d), &d_back));
    ASSERT_EQ(d_back, d);
  }
}

TEST(V34Info, UndefinedChoicesAreRefused) {
  Info1a bad = kInfo1a;
  bad.call_to_answer.pre_emphasis = 11;
  Info1a out;
  EXPECT_FALSE(read(text(bad), &out));
  bad = kInfo1a;
  bad.rate_answer_to_call = static_cast<SymbolRate>(7);
  EXPECT_FALSE(read(text(bad), &out));
}

// A far end may put any values into unused fields: the frame is valid, and only that symbol rate is lost.
TEST(V34Info, AnUndefinedResultOfOneSymbolRateLeavesTheOthers) {
  Info1c c = kInfo1c;
  c.probing[5].max_rate = 15;
  c.probing[1].pre_emphasis = 11;
  Info1c out;
  ASSERT_TRUE(read(text(c), &out));
  EXPECT_EQ(out, c);
  for (int k = 0; k < kSymbolRates; ++k) {
    const ProbingResult unusable = {c.probing[k].carrier, 0, 0};
    EXPECT_EQ(usable(out.probing[k]), k == 5 || k == 1 ? unusable : kInfo1c.probing[k]) << k;
  }
}

TEST(V34Info, ReceiverFindsSequencesInAStreamWithFalseSyncs) {
  Random random(32, 0);
  std::string stream;
  for (int k = 0; k < 500; ++k) stream += random.bit() != 0 ? '1' : '0';
  std::vector<size_t> ends;
  for (int k = 0; k < 3; ++k) {
    stream += "01110010011100100111";  // looks like the frame sync, twice
    stream += text(kInfo1c).substr(k == 1 ? 4 : 0);
    ends.push_back(stream.size() - 4);  // the receiver need not wait for the fill bits
  }
  InfoReceiver<Info1c> receiver;
  std::vector<size_t> found;
  for (size_t n = 0; n < stream.size(); ++n) {
    Info1c out;
    if (!receiver.put(stream[n] - '0', &out)) continue;
    EXPECT_EQ(out, kInfo1c);
    found.push_back(n + 1);
  }
  EXPECT_EQ(found, ends);
}

TEST(V34Info, ReceiverFindsNothingInAnHourOfRandomBits) {
  Random random(33, 0);
  InfoReceiver<Info0> info0;
  InfoReceiver<Info1a> info1a;
  int found = 0;
  for (int n = 0; n < 600 * 3600; ++n) {
    const int bit = random.bit();
    Info0 a;
    Info1a b;
    found += info0.put(bit, &a) + info1a.put(bit, &b);
  }
  EXPECT_LE(found, 2);  // 24 known bits: 0.13 expected of each
}

}  // namespace
}  // namespace offhook::v34
