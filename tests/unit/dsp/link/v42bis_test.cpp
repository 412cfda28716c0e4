// SPDX-License-Identifier: MIT
#include "dsp/link/v42bis.h"

#include <gtest/gtest.h>
#include <spandsp.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/dsp/compressible.h"

namespace offhook::v42 {
namespace {

using namespace offhook::test;

struct Size {
  uint16_t codewords = 512;
  uint8_t max_string = 6;
};
constexpr std::array<Size, 7> kSizes = {
    {{512, 6}, {512, 250}, {513, 7}, {1024, 32}, {2048, 32}, {4096, 250}, {65535, 250}}};

template <class Codec>
struct With : Codec {
  explicit With(Size size = {}) : memory(Dictionary::size(size.codewords) / 8) {
    this->init(reinterpret_cast<uint8_t*>(memory.data()), size.codewords, size.max_string);
  }
  std::vector<uint64_t> memory;
};

/// Codewords written out by hand, least significant bit first (Figure 3).
class Words : public BitWriter {
 public:
  Words& octet(int value) {
    bytes.push_back(uint8_t(value));
    return *this;
  }
  Words& word(int value, int width = 9) {
    put(value, width);
    return *this;
  }
  Words& align() {
    fill = 0;
    return *this;
  }
};
constexpr int kEscape = 0, kEcm = 0, kEid = 1, kReset = 2, kEtm = 0, kFlush = 1, kStepUp = 2;
constexpr int of(char c) {
  return 3 + uint8_t(c);
}

TEST(V42bis, BeginsTransparentAndCyclesTheEscapeCharacterBy51) {
  With<Encoder> e;
  Bytes sent;
  encode(e, {0, 'A', 0, 51, 51, 102}, sent);
  EXPECT_EQ(sent, (Bytes{0, kEid, 'A', 0, 51, kEid, 51, 102, kEid}));
  With<Decoder> d;
  EXPECT_EQ(decode(d, sent), (Bytes{0, 'A', 0, 51, 51, 102}));
}

TEST(V42bis, UnderstandsTheExamplesOfAppendixII) {
  // II.4.3: "CCCCC". The third C may not yet use CC; the fourth and the fifth do.
  const Words repeated = Words().octet(kEscape).octet(kEcm).word(of('C')).word(of('C')).word(259).word(of('C'));
  With<Decoder> d;
  EXPECT_EQ(decode(d, Words(repeated).word(kFlush).bytes), bytes("CCCCC"));
  // II.4.1 and II.4.2: BA is known from transparent mode, where "BA" and "AB" were learnt from "BAB".
  With<Decoder> e;
  EXPECT_EQ(decode(e, Words()
                          .octet('B')
                          .octet('A')
                          .octet('B')
                          .octet('A')
                          .octet(kEscape)
                          .octet(kEcm)
                          .word(of('Y'))
                          .word(259)
                          .word(261)
                          .word(kFlush)
                          .bytes),
            bytes("BABAYBABAY"));
}

TEST(V42bis, LeavesTransparentModeAndComesBack) {
  With<Decoder> d;
  Words w;
  w.octet('A').octet(kEscape).octet(kEcm).word(of('B')).word(of('C')).word(kEtm).align().octet('D').octet('E');
  // AB, BC and, across the change, CD and DE were learnt.
  w.octet(kEscape).octet(kEcm).word(259).word(260).word(261).word(kFlush).align().word(262);
  EXPECT_EQ(decode(d, w.bytes), bytes("ABCDEABBCCDDE"));
  EXPECT_TRUE(d.compressed());
  EXPECT_FALSE(d.failed());
}

TEST(V42bis, ResetForgetsStringsAndTheEscapeCharacter) {
  With<Decoder> d;
  EXPECT_EQ(decode(d, {0, kEid, 'A', 51, kReset, 'B', 0, kEid}), (Bytes{0, 'A', 'B', 0}));
  EXPECT_FALSE(d.failed());
  // Learnt since then: B NUL is 259, NUL x is 260.
  EXPECT_EQ(decode(d, Words().octet(51).octet(kEcm).word(of('x')).word(259).word(kFlush).bytes), (Bytes{'x', 'B', 0}));
}

// 5.8
TEST(V42bis, ReportsWhatNoEncoderSends) {
  const auto fails = [](const Bytes& octets, Size size = {}) {
    With<Decoder> d(size);
    decode(d, octets);
    return d.failed();
  };
  EXPECT_TRUE(fails({kEscape, 3}));  // reserved command codes
  EXPECT_TRUE(fails({kEscape, 255}));
  const Words start = Words().octet(kEscape).octet(kEcm);
  EXPECT_TRUE(fails(Words(start).word(259).bytes));                              // C1
  EXPECT_TRUE(fails(Words(start).word(of('a')).word(of('b')).word(260).bytes));  // C1
  EXPECT_FALSE(fails(Words(start).word(of('a')).word(of('b')).word(259).bytes));
  EXPECT_TRUE(fails(Words(start).word(300).bytes));  // empty
  EXPECT_TRUE(fails(Words(start).word(511).bytes));
  EXPECT_TRUE(fails(Words(start).word(kStepUp).bytes, {512, 6}));  // C2 would be 10
  EXPECT_FALSE(fails(Words(start).word(kStepUp).bytes, {513, 6}));
  EXPECT_TRUE(fails(Words(start).word(kStepUp).word(kStepUp, 10).bytes, {1024, 6}));
  EXPECT_TRUE(fails(Words(start).word(kStepUp).word(513, 10).bytes, {513, 6}));  // beyond N2
}

TEST(V42bis, WhatIsFlushedCanBeRead) {
  for (const Size size : kSizes) {
    for (const Kind kind : kKinds) {
      SCOPED_TRACE(testing::Message() << "P1 " << size.codewords << " P2 " << int(size.max_string) << " data "
                                      << int(kind));
      std::mt19937_64 random(size.codewords + size.max_string);
      const Bytes data = sample(kind, 60000, 3);
      With<Encoder> e(size);
      With<Decoder> d(size);
      for (size_t at = 0; at < data.size();) {
        const size_t n = std::min<size_t>(data.size() - at, random() % 8 == 0 ? random() % 20000 : random() % 100);
        const Bytes piece(data.begin() + long(at), data.begin() + long(at + n));
        Bytes sent;
        encode(e, piece, sent);
        flush(e, sent);
        ASSERT_EQ(decode(d, sent, 1 + random() % 300), piece) << "at " << at;
        at += n;
      }
      EXPECT_FALSE(d.failed());
      EXPECT_EQ(e.compressed(), d.compressed());
    }
  }
}

double ratio(Kind kind, Size size) {
  const Bytes data = sample(kind, 200000, 9);
  With<Encoder> e(size);
  Bytes sent;
  encode(e, data, sent);
  flush(e, sent);
  return double(data.size()) / double(sent.size());
}

TEST(V42bis, GainsOnTextAndLosesLessThanAPercentOnNoise) {
  EXPECT_GT(ratio(Kind::kText, {2048, 32}), 3.0);
  EXPECT_GT(ratio(Kind::kZeros, {2048, 250}), 100);
  EXPECT_GT(ratio(Kind::kRandom, {512, 6}), 0.99);
  EXPECT_GT(ratio(Kind::kRandom, {4096, 250}), 0.99);
}

// An independent implementation of the Recommendation: spandsp's encoder and decoder with ours.
struct Spandsp {
  explicit Spandsp(Size size) {
    const auto put = [](void* user, const uint8_t* message, int n) {
      auto* to = static_cast<Bytes*>(user);
      to->insert(to->end(), message, message + std::max(n, 0));
    };
    state = v42bis_init(nullptr, 3, size.codewords, size.max_string, put, &compressed, 512, put, &plain, 512);
  }
  ~Spandsp() { v42bis_free(state); }
  Spandsp(const Spandsp&) = delete;
  Spandsp& operator=(const Spandsp&) = delete;
  Bytes compressed, plain;
  v42bis_state_t* state;
};

class V42bisInterop : public testing::TestWithParam<Kind> {};

TEST_P(V42bisInterop, SpandspReadsOurs) {
  for (const Size size : {Size{512, 6}, Size{1024, 32}, Size{2048, 32}, Size{4096, 250}}) {
    SCOPED_TRACE(testing::Message() << "P1 " << size.codewords << " P2 " << int(size.max_string));
    const Bytes data = sample(GetParam(), 50000, 5);
    With<Encoder> e(size);
    Bytes sent;
    for (size_t at = 0; at < data.size(); at += 2500) {
      encode(e, {data.begin() + long(at), data.begin() + long(at + 2500)}, sent);
      if (at % 5000 == 0) flush(e, sent);
    }
    flush(e, sent);
    Spandsp far(size);
    ASSERT_EQ(v42bis_decompress(far.state, sent.data(), int(sent.size())), 0);
    v42bis_decompress_flush(far.state);
    EXPECT_EQ(far.plain, data);
  }
}

TEST_P(V42bisInterop, WeReadSpandsp) {
  for (const Size size : {Size{512, 6}, Size{1024, 32}, Size{2048, 32}, Size{4096, 250}}) {
    SCOPED_TRACE(testing::Message() << "P1 " << size.codewords << " P2 " << int(size.max_string));
    const Bytes data = sample(GetParam(), 50000, 6);
    Spandsp far(size);
    ASSERT_EQ(v42bis_compress(far.state, data.data(), int(data.size())), 0);
    v42bis_compress_flush(far.state);
    With<Decoder> d(size);
    EXPECT_EQ(decode(d, far.compressed), data);
    EXPECT_FALSE(d.failed());
  }
}

INSTANTIATE_TEST_SUITE_P(Data, V42bisInterop, testing::ValuesIn(kKinds));

}  // namespace
}  // namespace offhook::v42
