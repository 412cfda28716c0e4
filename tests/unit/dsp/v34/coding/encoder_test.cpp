// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/unit/dsp/v34/parameter_sets.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {
namespace {

constexpr PrecoderCoefficients kNoPrecoding{};
constexpr PrecoderCoefficients kH{{{-9830, 3277}, {4915, -1638}, {-820, 16}}};

// FNV-1a of 16-bit little-endian values, in place of thousands of printed numbers.
class Hash {
 public:
  void add(int16_t v) {
    for (const int shift : {0, 8}) value_ = (value_ ^ (static_cast<uint16_t>(v) >> shift & 255)) * 0x100000001b3u;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

struct Expected {
  Scrambling scrambling;
  ParameterSet set;
  TrellisCode code;
  bool precoding;
  Point y[8];         // the first of B1
  int trellis_state;  // after B1
  int z;
  uint64_t hash_b1;  // of all x of B1
  uint64_t hash;     // followed by two superframes of data
};

// From an independent implementation of the Recommendation in exact integers (Python); see the issue.
const Expected kExpected[] = {
    {kGpc,
     {SymbolRate::k2400, 2400, false, false},
     TrellisCode::k16,
     false,
     {{1, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}, {1, -1}, {1, 1}, {-1, -1}},
     0b0010,
     3,
     0x0e23d188ce096810,
     0xa3f572c296fc8e28},
    {kGpc,
     {SymbolRate::k3200, 28800, false, true},
     TrellisCode::k64,
     false,
     {{31, 13}, {-13, -9}, {-21, -7}, {-11, -11}, {3, 27}, {17, 21}, {1, -1}, {5, -7}},
     0b110111,
     3,
     0x5fa7eeef73b26fcb,
     0x30ee2f3c604a3e06},
    {kGpa,
     {SymbolRate::k3200, 28800, false, true},
     TrellisCode::k64,
     true,
     {{-31, -9}, {33, 1}, {-31, -3}, {17, -9}, {-19, -7}, {3, 21}, {13, -1}, {-13, -27}},
     0b111001,
     3,
     0x219e4877366349ca,
     0x2b6efbfc6b0b04f2},
    {kGpc,
     {SymbolRate::k3000, 19200, false, false},
     TrellisCode::k32,
     true,
     {{3, 5}, {1, 1}, {1, 3}, {5, -11}, {-1, 7}, {-9, 1}, {1, -7}, {-3, -1}},
     0b11001,
     0,
     0x6b474de5d686c399,
     0x67f1280ff54aa189},
    {kGpa,
     {SymbolRate::k3429, 33600, false, true},
     TrellisCode::k16,
     true,
     {{-9, 13}, {-13, 15}, {23, -9}, {-21, 13}, {33, 35}, {-1, -21}, {-3, -9}, {13, -23}},
     0b0010,
     1,
     0x246e2b135ff320a8,
     0x5c582bca2edaa1fb},
    {kGpa,
     {SymbolRate::k3429, 4800, false, false},
     TrellisCode::k16,
     true,
     {{-1, 1}, {-1, -1}, {1, 1}, {-1, 1}, {1, 1}, {1, 1}, {1, -1}, {1, 1}},
     0b0010,
     1,
     0x05c0b513ebfd0d85,
     0x27ef9e85bd974460},
    {kGpc,
     {SymbolRate::k2800, 14400, true, true},
     TrellisCode::k64,
     true,
     {{-5, -3}, {3, -1}, {-3, -5}, {-1, -5}, {1, -3}, {-3, -3}, {1, 3}, {5, -3}},
     54,
     0,
     0x63c889c4981ee154,
     0x1e2163a1d6893f8d},
    {kGpc,
     {SymbolRate::k3200, 31200, true, true},
     TrellisCode::k32,
     true,
     {{31, 13}, {-57, 11}, {23, 29}, {1, -15}, {-27, 5}, {11, 1}, {-7, -19}, {-3, 33}},
     15,
     1,
     0x6716563a6806fb7f,
     0x981e7da985912186},
};

TEST(V34Encoder, EqualsAnIndependentImplementationOverB1AndTwoSuperframes) {
  for (const Expected& e : kExpected) {
    SCOPED_TRACE(testing::Message() << e.set);
    const Framing f = e.set.framing();
    Encoder encoder({f, e.scrambling, e.code, e.precoding ? kH : kNoPrecoding});
    uint32_t lcg = 12345;
    int aux = 0;
    Hash hash;
    for (int i = 0; i < f.mapping_frames * (1 + 2 * f.data_frames); ++i) {
      if (i == f.mapping_frames) {
        EXPECT_EQ(encoder.trellis_state(), e.trellis_state);
        EXPECT_EQ(encoder.quadrant_state(), e.z);
        EXPECT_EQ(hash.value(), e.hash_b1);
      }
      uint8_t bits[kMaxMappingFrameBits];
      for (int k = 0; k < encoder.primary_bits(); ++k) {
        bits[k] = 1;
        if (i >= f.mapping_frames) {
          lcg = (lcg * 1103515245 + 12345) & 0x7fffffff;
          bits[k] = lcg >> 16 & 1;
        }
      }
      if (encoder.takes_aux()) aux ^= 1;
      Encoder::Symbol symbols[8];
      encoder.frame(bits, aux, symbols);
      for (int n = 0; n < 8; ++n) {
        if (i == 0) {
          EXPECT_EQ(symbols[n].y, e.y[n]) << n;
        }
        hash.add(symbols[n].x.re);
        hash.add(symbols[n].x.im);
      }
    }
    EXPECT_EQ(hash.value(), e.hash);
  }
}

TEST(V34Encoder, LabelParityOfEachPairIsY0ExclusiveOrV0) {
  for (const ParameterSet& set : all_parameter_sets()) {
    if (set.bit_rate % 9600 != 0) continue;
    const Framing f = set.framing();
    Encoder encoder({f, kGpc, TrellisCode::k64, kH});
    TrellisEncoder trellis(TrellisCode::k64);
    Random random(9, set.bit_rate);
    for (int i = 0; i < 2 * f.mapping_frames * f.data_frames; ++i) {
      const FramePosition at = encoder.position();
      uint8_t bits[kMaxMappingFrameBits];
      for (uint8_t& b : bits) b = static_cast<uint8_t>(random.bit());
      Encoder::Symbol s[8];
      encoder.frame(bits, random.bit(), s);
      for (int j = 0; j < 4; ++j) {
        const Point y0 = s[2 * j].y;
        const Point y1 = s[2 * j + 1].y;
        ASSERT_EQ((subset_label(y0) ^ subset_label(y1)) & 1, trellis.output() ^ at.bit_inversion(j)) << set;
        trellis.put(y0, y1);
      }
    }
  }
}

// Every symbol rate, data rate, minimum and expanded, with and without auxiliary channel, all three codes, with and
// without precoding: one superframe and a data frame of random bits; all bits and x are recovered exactly.
TEST(V34Encoder, DecoderInvertsItForEveryParameterSet) {
  for (const ParameterSet& set : all_parameter_sets()) {
    const Framing f = set.framing();
    for (const TrellisCode code : {TrellisCode::k16, TrellisCode::k32, TrellisCode::k64}) {
      for (const bool precoding : {false, true}) {
        const CodingParameters p{f, precoding ? kGpc : kGpa, code, precoding ? kH : kNoPrecoding};
        Encoder encoder(p);
        Decoder decoder(p);
        Random random(10, set.bit_rate);
        for (int i = 0; i < f.mapping_frames * (1 + f.data_frames); ++i) {
          uint8_t sent[kMaxMappingFrameBits];
          const int n = encoder.primary_bits();
          for (int k = 0; k < n; ++k) sent[k] = static_cast<uint8_t>(random.bit());
          const uint8_t aux = static_cast<uint8_t>(random.bit());
          const bool has_aux = encoder.takes_aux();
          Encoder::Symbol symbols[8];
          encoder.frame(sent, aux, symbols);
          Point y[8];
          for (int k = 0; k < 8; ++k) y[k] = symbols[k].y;
          uint8_t received[kMaxMappingFrameBits];
          uint8_t aux_received = 0;
          FixedPoint x[8];
          ASSERT_EQ(decoder.gives_aux(), has_aux);
          ASSERT_EQ(decoder.frame(y, received, &aux_received, x), n);
          ASSERT_TRUE(std::equal(sent, sent + n, received)) << set << " frame " << i;
          if (has_aux) {
            ASSERT_EQ(aux_received, aux) << set << " frame " << i;
          }
          for (int k = 0; k < 8; ++k) ASSERT_EQ(x[k], symbols[k].x);
        }
      }
    }
  }
}

// Data are differentially encoded, so a receiver locked 90, 180 or 270 degrees off loses only the start.
TEST(V34Encoder, DataSurvivesRotationByQuarters) {
  const ParameterSet set{SymbolRate::k3200, 28800, false, true};
  const CodingParameters p{set.framing(), kGpc, TrellisCode::k64, kNoPrecoding};
  for (int turns = 1; turns < 4; ++turns) {
    Encoder encoder(p);
    Decoder decoder(p);
    Random random(11, static_cast<uint32_t>(turns));
    for (int i = 0; i < 100; ++i) {
      uint8_t sent[kMaxMappingFrameBits];
      const int n = encoder.primary_bits();
      for (int k = 0; k < n; ++k) sent[k] = static_cast<uint8_t>(random.bit());
      Encoder::Symbol symbols[8];
      encoder.frame(sent, 0, symbols);
      Point y[8];
      for (int k = 0; k < 8; ++k) y[k] = rotate_cw(symbols[k].y, turns);
      uint8_t received[kMaxMappingFrameBits];
      uint8_t aux;
      decoder.frame(y, received, &aux);
      if (i >= 1) {
        ASSERT_TRUE(std::equal(sent, sent + n, received)) << turns << " frame " << i;
      }
    }
  }
}

TEST(V34Decoder, TakesAnyPoints) {
  Random random(12, 0);
  for (const ParameterSet& set : all_parameter_sets()) {
    Decoder decoder({set.framing(), kGpc, TrellisCode::k16, kH});
    for (int i = 0; i < 30; ++i) {
      Point y[8];
      for (Point& p : y) {
        p = {static_cast<int16_t>(2 * static_cast<int>(random.below(256)) - 255),
             static_cast<int16_t>(2 * static_cast<int>(random.below(256)) - 255)};
      }
      uint8_t bits[kMaxMappingFrameBits];
      uint8_t aux;
      const int expected = decoder.primary_bits();
      ASSERT_EQ(decoder.frame(y, bits, &aux), expected);
      for (int k = 0; k < expected; ++k) ASSERT_LE(bits[k], 1);
    }
  }
}

// Coefficients so small that p almost never leaves [-w, w], medium ones, and ones that fold p many times.
TEST(V34Encoder, MeanEnergyIsThatOfRandomData) {
  constexpr PrecoderCoefficients kSmall{{{1328, -98}, {-1836, -164}, {1333, -40}}};
  constexpr PrecoderCoefficients kMiddling{{{3014, -290}, {-1762, 292}, {7069, 752}}};
  for (const ParameterSet& set : all_parameter_sets()) {
    if (set.aux) continue;
    const Framing f = set.framing();
    for (const PrecoderCoefficients& h : {kNoPrecoding, kSmall, kMiddling, kH}) {
      Encoder encoder({f, kGpc, TrellisCode::k16, h});
      Random random(13, set.bit_rate);
      double energy = 0;
      const int frames = 40 * f.mapping_frames;
      for (int i = 0; i < frames; ++i) {
        uint8_t bits[kMaxMappingFrameBits];
        for (uint8_t& b : bits) b = static_cast<uint8_t>(random.bit());
        Encoder::Symbol s[8];
        encoder.frame(bits, 0, s);
        for (const auto& symbol : s) energy += symbol.x.re * symbol.x.re + symbol.x.im * symbol.x.im;
      }
      const double measured = energy / (8.0 * frames * 128 * 128);
      // With 4 to 20 points p is not normal.
      const double tolerance_db = h.h[0].re != 0 && f.points() <= 20 ? 0.3 : 0.1;
      EXPECT_NEAR(10 * std::log10(measured / mean_energy(f, h)), 0, tolerance_db) << set << " " << h.h[2].re;
    }
    EXPECT_EQ(mean_energy(f, kNoPrecoding), mean_energy(f, false));
    EXPECT_LE(mean_energy(f, kH), mean_energy(f, true));
  }
}

}  // namespace
}  // namespace offhook::v34
