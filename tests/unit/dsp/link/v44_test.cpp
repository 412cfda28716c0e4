// SPDX-License-Identifier: MIT
#include "dsp/link/v44.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "dsp/link/v42bis.h"
#include "tests/unit/dsp/compressible.h"

namespace offhook::v44 {
namespace {

using namespace offhook::test;

constexpr std::array<Parameters, 7> kParameters = {{{256, 32, 512},
                                                    {256, 255, 65535},
                                                    {257, 46, 513},
                                                    {1024, 255, 3072},
                                                    {1500, 78, 1000},
                                                    {2048, 142, 6144},
                                                    {65535, 255, 65535}}};

template <class Codec>
struct With : Codec {
  explicit With(Parameters p = {}) : memory(Codec::size(p) / 8) {
    this->init(reinterpret_cast<uint8_t*>(memory.data()), p);
  }
  std::vector<uint64_t> memory;
};

Bytes encoded(const Bytes& in, Parameters p = {}) {
  With<Encoder> e(p);
  Bytes out;
  encode(e, in, out);
  flush(e, out);
  return out;
}
/// Codes written out by hand, least significant bit first (6.6).
class Codes : public BitWriter {
 public:
  Codes& bits(int value, int width) {
    put(value, width);
    return *this;
  }
  Codes& align() {
    fill = 0;
    return *this;
  }
  Codes& octet(int value) { return align().bits(value, 8); }
  Codes& ordinal(int c, int width = 7) { return bits(0, 1).bits(c, width); }
  Codes& after_codeword(int c, int width = 7) { return bits(0, 2).bits(c, width); }
  Codes& word(int value, int width = 6) { return bits(1, 1).bits(value, width); }
  Codes& text(const std::string& s) {
    for (const char c : s) ordinal(c);
    return *this;
  }
};
constexpr int kEtm = 0, kFlush = 1, kStepUp = 2, kReinit = 3, kEcm = 0, kEid = 1, kEpm = 2;

// Table II.1, one octet per row, bit 8 first.
TEST(V44, TheExampleOfAppendixII1ComesOutToTheBit) {
  const Bytes table = {0b10000010, 0b10000100, 0b10000110, 0b10001000, 0b10001010, 0b10110000, 0b00001001, 0b00101001,
                       0b01011011, 0b00101001, 0b11111000, 0b00010111, 0b01100100, 0b01101000, 0b00000000};
  const Bytes text = bytes(
      "ABCDEXABCDEYABCDE\xFF"
      "AC");
  EXPECT_EQ(encoded(text), table);
  With<Decoder> d;
  EXPECT_EQ(decode(d, table), text);
}

// II.2: a codeword that the decoder has not created yet, and a string that overlaps itself.
TEST(V44, TheExampleOfAppendixII2IsOrdinalCodewordLengthOrdinal) {
  const Bytes octets = Codes().ordinal('C').word(4).bits(2, 2).bits(0, 4).bits(2, 3).ordinal('X').word(kFlush).bytes;
  EXPECT_EQ(encoded(bytes("CCCCCCCCCCX")), octets);
  With<Decoder> d;
  EXPECT_EQ(decode(d, octets), bytes("CCCCCCCCCCX"));
}

// Table 6, after data that bring C2 to 11 and C5 to 8. A, B ... are its names; codewords A and D exist by then.
TEST(V44, TheOctetsOfTable6AreRead) {
  Codes w;
  w.word(kStepUp).ordinal(200, 8);
  for (int i = 0; i < 1100; ++i) w.ordinal(i % 7 * 31 + i / 7 % 8, 8);
  for (int width = 6; width < 11; ++width) w.word(kStepUp, width);
  const size_t before = w.bytes.size();
  With<Decoder> reference({2048, 255, 6144});
  const Bytes plain = decode(reference, w.bytes);
  ASSERT_EQ(plain.size(), 1101u);
  const auto string = [&](int codeword) { return Bytes{plain[size_t(codeword) - 4], plain[size_t(codeword) - 3]}; };
  w.word(1029, 11).after_codeword(66, 8).ordinal(67, 8).word(1050, 11);
  w.bits(2, 2).bits(0, 1).bits(0, 2).bits(0, 1).bits(3, 3).ordinal(69, 8).word(kEtm, 11).align().octet(70);
  ASSERT_GT(w.bytes.size(), before);
  With<Decoder> d({2048, 255, 6144});
  Bytes expected = plain;
  for (const uint8_t c : string(1029)) expected.push_back(c);
  expected.push_back(66);
  expected.push_back(67);
  for (const uint8_t c : string(1050)) expected.push_back(c);
  for (size_t i = 0; i < 8; ++i) expected.push_back(plain[1050 - 2 + i]);  // what follows it
  expected.push_back(69);
  expected.push_back(70);
  EXPECT_EQ(decode(d, w.bytes), expected);
  EXPECT_FALSE(d.compressed());
}

// Tables 3 and 4: every length, in the widths of all four ranges.
TEST(V44, StringExtensionsOfEveryLengthAreSentAndRead) {
  for (const uint8_t max_string : std::to_array<uint8_t>({32, 46, 47, 78, 79, 142, 143, 255})) {
    for (int length = 1; length <= max_string - 2; ++length) {
      const Parameters p{1024, max_string, 6144};
      // When they occur again, the first two characters are a codeword, and the rest is its extension.
      Bytes text = {0, 1};
      for (int i = 0; i < length; ++i) text.push_back(uint8_t(2 + i % 100));
      const Bytes once = text;
      text.push_back(126);
      const size_t first = encoded(text, p).size();
      text.insert(text.end(), once.begin(), once.end());
      text.push_back(127);
      const Bytes sent = encoded(text, p);
      With<Decoder> d(p);
      ASSERT_EQ(decode(d, sent), text) << int(max_string) << ' ' << length;
      ASSERT_LE(sent.size() - first, 6u) << int(max_string) << ' ' << length;
    }
  }
}

TEST(V44, WhatIsFlushedCanBeRead) {
  for (const Parameters& p : kParameters) {
    for (const Kind kind : kKinds) {
      SCOPED_TRACE(testing::Message() << "P1 " << p.codewords << " P2 " << int(p.max_string) << " P3 " << p.history
                                      << " data " << int(kind));
      std::mt19937_64 random(p.codewords + p.history);
      const Bytes data = sample(kind, 60000, 3);
      With<Encoder> e(p);
      With<Decoder> d(p);
      for (size_t at = 0; at < data.size();) {
        const size_t n = std::min<size_t>(data.size() - at, random() % 8 == 0 ? random() % 20000 : random() % 100);
        const Bytes piece(data.begin() + long(at), data.begin() + long(at + n));
        Bytes sent;
        encode(e, piece, sent);
        flush(e, sent);
        ASSERT_EQ(decode(d, sent, 1 + random() % 300), piece) << "at " << at;
        ASSERT_FALSE(d.failed());
        at += n;
      }
      EXPECT_EQ(e.compressed(), d.compressed());
    }
  }
}

// Bits that fill the octet after FLUSH and ETM are ignored, whatever a far end puts there.
TEST(V44, TheRestOfAFlushedOctetIsNotLookedAt) {
  for (const int filling : {0, 1}) {
    Codes w;
    w.ordinal('a').word(kFlush).bits(filling, 1).align().ordinal('b').word(kEtm).bits(filling, 1).align().octet('c');
    With<Decoder> d;
    EXPECT_EQ(decode(d, w.bytes), bytes("abc")) << filling;
  }
}

TEST(V44, NothingIsFlushedTwice) {
  With<Encoder> e;
  Bytes sent;
  encode(e, bytes("a"), sent);
  flush(e, sent);
  EXPECT_EQ(sent, Codes().ordinal('a').word(kFlush).bytes);
  flush(e, sent);
  EXPECT_EQ(sent.size(), 2u);
}

// The first test of compressibility is after 256 characters; the ESCAPE for earlier characters is not cycled.
TEST(V44, NoiseIsSentAsItIsAndTextAfterItCompressed) {
  Bytes data = sample(Kind::kRandom, 2000, 1);
  data[1000] = 0;  // the ESCAPE, and its next value
  data[1001] = 51;
  const size_t noise = data.size();
  const Bytes text = sample(Kind::kText, 4000, 1);
  data.insert(data.end(), text.begin(), text.end());
  With<Encoder> e;
  With<Decoder> d;
  Bytes sent;
  for (size_t i = 0; i < noise; ++i) encode(e, {data[i]}, sent);
  EXPECT_FALSE(e.compressed());
  EXPECT_LT(sent.size(), noise * 105 / 100);
  const size_t plain = sent.size();
  encode(e, text, sent);
  flush(e, sent);
  EXPECT_TRUE(e.compressed());
  EXPECT_LT(sent.size() - plain, text.size() / 2);
  EXPECT_EQ(decode(d, sent), data);
}

TEST(V44, TheEscapeCharacterOfTransparentModeIsCycledBy51) {
  With<Decoder> d;
  const Bytes octets = Codes()
                           .ordinal('a')
                           .word(kEtm)
                           .octet(0)
                           .octet(kEid)
                           .octet('b')
                           .octet(51)
                           .octet(kEid)
                           .octet(102)
                           .octet(kEcm)
                           .ordinal('c')
                           .word(kFlush)
                           .bytes;
  EXPECT_EQ(decode(d, octets), (Bytes{'a', 0, 'b', 51, 'c'}));
  EXPECT_TRUE(d.compressed());
  EXPECT_FALSE(d.failed());
}

TEST(V44, ReinitForgetsStringsAndSizes) {
  With<Decoder> d;
  const Bytes octets =
      Codes().text("ab").word(kStepUp).ordinal(200, 8).word(kReinit).text("xy").word(4).word(kFlush).bytes;
  EXPECT_EQ(decode(d, octets), (Bytes{'a', 'b', 200, 'x', 'y', 'x', 'y'}));
  EXPECT_FALSE(d.failed());
}

// Table 2: strings continue across a FLUSH, but not after an extension.
TEST(V44, StringsAreMadeAsTable2Says) {
  With<Decoder> d;
  Codes w;
  w.text("ab").word(kFlush).align().text("c").word(4).after_codeword('d');  // ab 4, bc 5, ca 6, abd 7
  w.word(7).word(5).bits(2, 2).bits(1, 1).text("z");  // dabd: da 8, abdb 9, bca 10, no string with z
  w.word(8).after_codeword('!').word(9).after_codeword('!').word(10).word(kFlush);  // za 11, da! 12, !a 13, abdb! 14
  EXPECT_EQ(decode(d, w.bytes), bytes("abcabdabdbcazda!abdb!bca"));
  EXPECT_FALSE(d.failed());
}

// 7.15, and data that would exceed the memory.
TEST(V44, ReportsWhatNoEncoderSends) {
  const auto fails = [](const Codes& w, Parameters p = {}) {
    With<Decoder> d(p);
    decode(d, w.bytes);
    return d.failed();
  };
  EXPECT_TRUE(fails(Codes().word(4))) << "before any character";
  EXPECT_FALSE(fails(Codes().text("a").word(4)));
  EXPECT_TRUE(fails(Codes().text("a").word(5)));
  EXPECT_TRUE(fails(Codes().text("a").word(4).bits(2, 2).bits(1, 1).word(6))) << "no string follows an extension";
  EXPECT_FALSE(fails(Codes().text("a").word(4).bits(2, 2).bits(1, 1).word(5)));
  Codes steps;
  for (int width = 6; width < 8; ++width) steps.word(kStepUp, width);
  EXPECT_FALSE(fails(Codes(steps).word(kFlush, 8), {256, 32, 512}));
  EXPECT_TRUE(fails(Codes(steps).word(kStepUp, 8).word(kFlush, 9), {256, 32, 512})) << "C2 of 9 for 256 codewords";
  EXPECT_FALSE(fails(Codes().word(kStepUp).ordinal('a', 8)));
  EXPECT_TRUE(fails(Codes().word(kStepUp).ordinal('a', 8).word(kStepUp).ordinal('a', 9))) << "C5 of 9";
  EXPECT_FALSE(fails(Codes().text(std::string(512, 'a')), {256, 32, 512}));
  EXPECT_TRUE(fails(Codes().text(std::string(513, 'a')), {256, 32, 512})) << "more than the history";
  EXPECT_TRUE(fails(Codes().text("a").word(4).bits(2, 2).bits(8, 4).bits(31, 5), {256, 32, 512})) << "longer than N7";
  EXPECT_TRUE(fails(Codes().text("a").word(kEtm).octet(0).octet(kEpm))) << "parameters were never to come later";
  EXPECT_TRUE(fails(Codes().text("a").word(kEtm).octet(0).octet(77)));
}

// A peer need not discard its dictionary when it is full: strings are used, but none is created.
TEST(V44, AFullDictionaryIsReadOnUntilReinit) {
  With<Decoder> d({256, 255, 3072});
  Codes w;
  std::string text;
  for (int i = 0; i < 300; ++i) text += char(' ' + i % 90);
  w.text(text).word(kStepUp, 6).word(kStepUp, 7).word(255, 8).bits(2, 2).bits(1, 1).word(255, 8).word(kReinit, 8);
  w.text("ab").word(4).word(kFlush);
  const std::string last = text.substr(251, 2);
  EXPECT_EQ(decode(d, w.bytes), bytes(text + last + text[253] + last + "abab"));
  EXPECT_FALSE(d.failed());
}

Bytes file(const char* name) {
  std::ifstream in(std::string(OFFHOOK_SOURCE_DIR "/") + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// V.44 1: "better performance than V.42 bis on many types of data". docs/v44.md has the output of this test.
TEST(V44, TextsGetShorterThanByV42bis) {
  const Bytes page = file("docs/v44.md");
  for (const char* name :
       {"LICENSES/GPL-2.0-only.txt", "dsp/v34/coding/shell_mapper.cpp", "tests/unit/dsp/v34/printed_tables.h"}) {
    const Bytes text = file(name);
    ASSERT_GT(text.size(), 1000u) << name;
    const Bytes sent = encoded(text, {2048, 255, 6144});
    std::vector<uint64_t> memory(v42::Dictionary::size(2048) / 8);
    v42::Encoder bis;
    bis.init(reinterpret_cast<uint8_t*>(memory.data()), 2048, 32);
    Bytes before;
    encode(bis, text, before);
    flush(bis, before);
    char row[200];
    std::snprintf(row, sizeof row, "| %s | %zu | %.2f | %.2f |", name, text.size(),
                  double(text.size()) / double(before.size()), double(text.size()) / double(sent.size()));
    std::puts(row);
    EXPECT_LT(sent.size(), before.size()) << name;
    EXPECT_NE(std::string(page.begin(), page.end()).find(row), std::string::npos) << row;
  }
}

TEST(V44, GainsOnTextAndLosesLessThanAPercentOnNoise) {
  const auto ratio = [](Kind kind, Parameters p) {
    const Bytes data = sample(kind, 200000, 9);
    return double(data.size()) / double(encoded(data, p).size());
  };
  EXPECT_GT(ratio(Kind::kText, {2048, 255, 6144}), 3.0);
  EXPECT_GT(ratio(Kind::kZeros, {2048, 255, 6144}), 60);
  EXPECT_GT(ratio(Kind::kRandom, {256, 32, 512}), 0.99);
  EXPECT_GT(ratio(Kind::kRandom, {4096, 255, 12288}), 0.99);
}

}  // namespace
}  // namespace offhook::v44
