// SPDX-License-Identifier: MIT
//
// Modulus encoder, signs, spectral shaper, data frames and power of V.90, against vectors that a script computed from
// the text with exact fractions, and against the plain definition.
#include "dsp/v90/coding/data_frame.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "dsp/blocks/scrambler.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::v90 {
namespace {

using Bits = std::vector<uint8_t>;

TEST(V90Modulus, DigitsAreThoseOfTheTextsRecursion) {
  struct Case {
    uint64_t r0;
    std::vector<uint8_t> moduli, digits;
  };
  const std::vector<Case> cases = {
      {0x5A5A5A5, {23, 23, 23, 23, 23, 23}, {3, 6, 18, 12, 16, 14}},
      {(1u << 27) - 1, {23, 23, 23, 23, 23, 23}, {8, 16, 6, 14, 19, 20}},
      {0x2AAAAAAA, {32, 32, 32, 32, 32, 32}, {10, 21, 10, 21, 10, 21}},
      {78187493530, {91, 91, 91, 91, 91, 91}, {55, 62, 88, 15, 48, 12}},
      {1000000, {12, 11, 10, 10, 9, 9}, {4, 8, 5, 7, 3, 8}},
  };
  for (const Case& c : cases) {
    std::vector<uint8_t> digits(6);
    modulus_encode(c.r0, c.moduli.data(), digits.data());
    EXPECT_EQ(digits, c.digits);
    EXPECT_EQ(modulus_decode(digits.data(), c.moduli.data()), c.r0);
  }
}

Bits scrambled_ones(int n) {
  Scrambler s(kGpc);
  Bits bits;
  for (int k = 0; k < n; ++k) bits.push_back(static_cast<uint8_t>(s.scramble(1)));
  return bits;
}

std::string text(const Bits& bits) {
  std::string s;
  for (const uint8_t b : bits) s += b ? '1' : '0';
  return s;
}

TEST(V90Signs, BeforeShapingAreDifferentialAsTables3And4Say) {
  const char* expected[] = {"101010101010101010000001", "011011010101001110000011", "011010001000011010001000",
                            "010100000101000001010000"};
  for (int shaping = 0; shaping <= 3; ++shaping) {
    const Bits source = scrambled_ones(24);
    SignEncoder encoder(shaping);
    Bits all;
    for (int frame = 0; frame < 4; ++frame) {
      uint8_t t[6];
      encoder.put(source.data() + frame * (6 - shaping), t);
      all.insert(all.end(), t, t + 6);
    }
    EXPECT_EQ(text(all), expected[shaping]) << shaping;
  }
}

Cp example(int shaping, int look_ahead, ShapingFilter filter) {
  Cp cp{};
  cp.data_mode = true;
  cp.drn = static_cast<uint8_t>(13 - shaping);  // K = 27
  cp.shaping_bits = static_cast<uint8_t>(shaping);
  cp.look_ahead = static_cast<uint8_t>(look_ahead);
  cp.a1 = filter.a1, cp.a2 = filter.a2, cp.b1 = filter.b1, cp.b2 = filter.b2;
  for (int u = 3; u <= 91; u += 4) cp.constellation[0].add(u);
  return cp;
}

// The first frames of B1d.
std::vector<Pcm> b1d(const FrameParameters& p, int frames) {
  FrameEncoder encoder(p);
  const Bits source = scrambled_ones(p.bits() * (frames + 4));
  std::vector<Pcm> codes;
  int put = 0;
  for (int k = 0; k < frames; ++k) {
    while (encoder.wants_frame()) encoder.put(source.data() + p.bits() * put++);
    Pcm out[6];
    encoder.next(out);
    codes.insert(codes.end(), out, out + 6);
  }
  return codes;
}

std::vector<int> signed_ucodes(const std::vector<Pcm>& codes) {
  std::vector<int> out;
  for (const Pcm& c : codes) out.push_back(c.positive ? c.ucode : -c.ucode);
  return out;
}

TEST(V90SpectralShaper, ChoosesTheSignsOfTheLeastMetric) {
  struct Case {
    int shaping, look_ahead;
    ShapingFilter filter;
    std::vector<int> codes;
  };
  const std::vector<Case> cases = {
      {1, 0, {64, 0, 0, 0}, {-3,  35, 55,  -27, 19,  11, -11, 23, -67, 83,  -71, -11,
                             -39, -3, -27, -67, -55, 47, 75,  55, -59, -47, -75, -71}},
      {1, 1, {64, 0, 0, 0}, {-3,  35, 55,  -27, 19,  11, -11, 23,  -67, 83, -71, -11,
                             -39, -3, -27, -67, -55, 47, -75, -55, 59,  47, 75,  71}},
      {2, 1, {64, -64, 0, 0}, {39, -39, -43, 19,  23,  11, -59, -3,  67, -43, -63, -19,
                               -3, 3,   27,  -15, -19, 63, 67,  -67, -3, 91,  39,  11}},
      {3, 0, {63, 0, 32, 0}, {-19, 51, -19, 3,  -31, -11, -59, -23, 63, -67, 23, 51,
                              43,  15, -91, 91, -91, -91, 15,  31,  83, 59,  67, 27}},
      {3, 2, {60, 16, -8, 24}, {19, -51, 19, 3,   31,  11, 59, -23, -63, 67, -23, 51,
                                43, 15,  91, -91, -91, 91, 15, -31, -83, 59, 67,  27}},
  };
  for (const Case& c : cases) {
    FrameParameters p;
    ASSERT_TRUE(frame_parameters(example(c.shaping, c.look_ahead, c.filter), Law::kMu, &p));
    EXPECT_EQ(signed_ucodes(b1d(p, 4)), c.codes) << c.shaping << " " << c.look_ahead;
  }
}

TEST(V90DataFrame, B1dAt44000HasTheOctetsOfTheText) {
  FrameParameters p;
  ASSERT_TRUE(frame_parameters(example(0, 0, {}), Law::kMu, &p));
  EXPECT_EQ(p.bits(), 33);
  const uint8_t expected[] = {0xE0, 0x60, 0xF0, 0x30, 0xF0, 0x74, 0xB8, 0x4C, 0xC0, 0xBC, 0xA8, 0xB8};
  const std::vector<Pcm> codes = b1d(p, 2);
  for (std::size_t k = 0; k < std::size(expected); ++k) EXPECT_EQ(octet_of(Law::kMu, codes[k]), expected[k]) << k;
}

TEST(V90DataFrame, TheFirstFrameKeepsItsMagnitudesAtEveryLookAhead) {
  std::vector<uint8_t> first;
  for (int look_ahead = 0; look_ahead <= 3; ++look_ahead) {
    FrameParameters p;
    ASSERT_TRUE(frame_parameters(example(3, look_ahead, {64, 0, 0, 0}), Law::kMu, &p));
    std::vector<uint8_t> magnitudes;
    for (const Pcm& c : b1d(p, 1)) magnitudes.push_back(c.ucode);
    if (look_ahead == 0) first = magnitudes;
    EXPECT_EQ(magnitudes, first);
  }
}

// Six constellations of 22 to 27 points, for K = 27; Ucodes of each interval, the largest, which label 0 means, first.
std::vector<std::vector<int>> six_constellations() {
  std::vector<std::vector<int>> ucodes(6);
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 22 + i; ++k) ucodes[static_cast<size_t>(i)].push_back(110 - i - 4 * k);
  }
  return ucodes;
}

struct Frames {
  std::vector<uint8_t> magnitudes;
  Bits signs, sign_bits;  // sent, and of the encoder's input
};

/// Random bits through the encoder: the K bits of each frame are the same for every `p`.
Frames random_frames(const FrameParameters& p, int frames) {
  FrameEncoder encoder(p);
  v34::Random k_bits(545, 1), sign_bits(545, 2);
  Frames f;
  for (int put = 0, frame = 0; frame < frames; ++frame) {
    for (; put < frames && encoder.wants_frame(); ++put) {
      Bits bits;
      for (int k = 0; k < p.sign_bits(); ++k) bits.push_back(static_cast<uint8_t>(sign_bits.below(2)));
      f.sign_bits.insert(f.sign_bits.end(), bits.begin(), bits.end());
      for (int k = 0; k < p.k; ++k) bits.push_back(static_cast<uint8_t>(k_bits.below(2)));
      encoder.put(bits.data());
    }
    if (put == frames) encoder.end();
    Pcm codes[6];
    encoder.next(codes);
    for (const Pcm& c : codes) {
      f.magnitudes.push_back(c.ucode);
      f.signs.push_back(c.positive);
    }
  }
  return f;
}

// Checklist V90-5.4.5-1: shaping alters signs alone. The K bits of a frame make the magnitudes of 5.4.3 and 5.4.4 at
// each S_r, look-ahead and filter: label i is R_i mod M_i. With S_r = 0 the signs are those of 5.4.5.1 whatever the
// filter.
TEST(V90DataFrame, ShapingAltersSignsAlone) {
  constexpr int kFrames = 400, kBits = 27;
  const auto ucodes = six_constellations();
  std::vector<uint8_t> expected;
  v34::Random k_bits(545, 1);
  for (int frame = 0; frame < kFrames; ++frame) {
    uint64_t r = 0;
    for (int k = 0; k < kBits; ++k) r |= uint64_t{k_bits.below(2)} << k;
    for (const auto& interval : ucodes) {
      expected.push_back(static_cast<uint8_t>(interval[r % interval.size()]));
      r /= interval.size();
    }
  }
  for (int shaping = 0; shaping <= 3; ++shaping) {
    for (int look_ahead = 0; look_ahead <= 3; ++look_ahead) {
      std::vector<Bits> signs;
      for (const ShapingFilter& filter : {ShapingFilter{64, 0, 0, 0}, ShapingFilter{-64, 0, 0, 24}}) {
        Cp cp = example(shaping, look_ahead, filter);
        for (int i = 0; i < 6; ++i) {
          cp.interval[i] = static_cast<uint8_t>(i);
          cp.constellation[i] = {};
          for (const int u : ucodes[static_cast<size_t>(i)]) cp.constellation[i].add(u);
        }
        FrameParameters p;
        ASSERT_TRUE(frame_parameters(cp, Law::kMu, &p));
        ASSERT_EQ(p.k, kBits);
        const Frames f = random_frames(p, kFrames);
        EXPECT_EQ(f.magnitudes, expected) << shaping << ' ' << look_ahead;
        signs.push_back(f.signs);
        for (size_t k = 0; shaping == 0 && k < f.signs.size(); ++k)
          ASSERT_EQ(f.signs[k], f.sign_bits[k] ^ (k == 0 ? 0 : f.signs[k - 1])) << k;
      }
      EXPECT_EQ(signs[0] == signs[1], shaping == 0) << shaping << ' ' << look_ahead;
    }
  }
}

// Six different constellations and anything that CP can order: the bits come back, also on a line of the other
// polarity.
TEST(V90DataFrame, BitsComeBackForEveryShapingAndPolarity) {
  v34::Random random(90, 0);
  for (int round = 0; round < 200; ++round) {
    FrameParameters p;
    Cp cp{};
    cp.data_mode = true;
    cp.shaping_bits = static_cast<uint8_t>(random.below(4));
    cp.look_ahead = static_cast<uint8_t>(random.below(4));
    const auto coefficient = [&random] { return static_cast<int8_t>(static_cast<int>(random.below(129)) - 64); };
    cp.a1 = coefficient(), cp.a2 = coefficient(), cp.b1 = coefficient(), cp.b2 = coefficient();
    for (int i = 0; i < 6; ++i) {
      cp.interval[i] = static_cast<uint8_t>(i);
      for (int u = 0; u < kUcodes; ++u) {
        if (u < 8 || random.below(2) == 0) cp.constellation[i].add(u);
      }
    }
    cp.drn = static_cast<uint8_t>(1 + random.below(13));
    const Law law = random.below(2) == 0 ? Law::kMu : Law::kA;
    if (!frame_parameters(cp, law, &p)) continue;
    FrameEncoder encoder(p);
    FrameDecoder decoder(p);
    const bool inverted = random.below(2) == 1;
    constexpr int kFrames = 12;
    std::vector<Bits> source;
    for (int frame = 0; frame < kFrames; ++frame) {
      while (encoder.wants_frame()) {
        if (static_cast<int>(source.size()) == kFrames) {
          encoder.end();
          break;
        }
        source.emplace_back();
        for (int k = 0; k < p.bits(); ++k) source.back().push_back(static_cast<uint8_t>(random.below(2)));
        encoder.put(source.back().data());
      }
      Pcm codes[6];
      encoder.next(codes);
      uint8_t signs[6], labels[6];
      for (int i = 0; i < 6; ++i) {
        signs[i] = codes[i].positive != inverted;
        labels[i] = 0;
        while (p.points.ucode[i][labels[i]] != codes[i].ucode) ++labels[i];
      }
      Bits bits(static_cast<std::size_t>(p.bits()));
      decoder.put(signs, labels, bits.data());
      if (frame >= 2) {
        EXPECT_EQ(bits, source[static_cast<std::size_t>(frame)]) << round << " " << frame;
      }
    }
    EXPECT_TRUE(encoder.empty());
  }
}

TEST(V90SpectralShaper, AZeroOfTheMetricsFilterAtZeroHertzTakesThePowerAway) {
  double power[2] = {};
  for (const int shaped : {0, 1}) {
    FrameParameters p;
    ASSERT_TRUE(frame_parameters(example(shaped * 3, 2, {64, 0, 0, 0}), Law::kMu, &p));
    double mean = 0, total = 0;  // of runs of 128 symbols: 0 to 31 Hz
    const std::vector<Pcm> codes = b1d(p, 4096);
    for (std::size_t k = 0; k + 128 <= codes.size(); k += 128) {
      double sum = 0;
      for (std::size_t i = k; i < k + 128; ++i) {
        const double x = linear_of(Law::kMu, codes[i]);
        sum += x;
        total += x * x;
      }
      mean += sum * sum / 128;
    }
    power[shaped] = mean / total;
  }
  EXPECT_NEAR(power[0], 1. / 128, 0.1 / 128);  // white
  EXPECT_LT(power[1], power[0] / 10);
}

TEST(V90Power, IsThatOfAllCombinations) {
  LabelledPoints points{};
  points.count[0] = 3;
  points.ucode[0][0] = 100, points.ucode[0][1] = 90, points.ucode[0][2] = 80;
  for (int i = 1; i < 6; ++i) {
    points.count[i] = 2;
    points.ucode[i][0] = 95, points.ucode[i][1] = 85;
  }
  EXPECT_TRUE(total_power(6, Law::kMu, points) == uint64_t{151435520} * 2 * 64);
  uint64_t all = 0;
  for (uint64_t r = 0; r < 64; ++r) {
    uint8_t digits[6];
    modulus_encode(r, points.count, digits);
    for (int i = 0; i < 6; ++i) {
      const auto x = static_cast<uint64_t>(linear_of(Law::kMu, points.ucode[i][digits[i]]));
      all += x * x;
    }
  }
  EXPECT_TRUE(total_power(6, Law::kMu, points) == all);
}

TEST(V90Power, OfTheExampleMeetsTable15WhereTheTextsFormulaSays) {
  FrameParameters p;
  ASSERT_TRUE(frame_parameters(example(0, 0, {}), Law::kMu, &p));
  EXPECT_NEAR(average_power(27, Law::kMu, p.points), 7002710.033, 1e-3);
  EXPECT_TRUE(is_within_limit(27, Law::kMu, p.points, 30));   // -15.5 dBm0
  EXPECT_FALSE(is_within_limit(27, Law::kMu, p.points, 31));  // -16.0 dBm0
  EXPECT_NEAR(average_power(27, Law::kA, p.points), 7488899.236, 1e-3);
  EXPECT_TRUE(is_within_limit(27, Law::kA, p.points, 29));
  EXPECT_FALSE(is_within_limit(27, Law::kA, p.points, 30));
}

TEST(V90Power, LimitsAreThoseOfPrintedTable15) {
  constexpr int kPrinted[] = {15124, 14276, 13480, 12724, 12012, 11340, 10708, 10108, 9544, 9008, 8504,
                              8028,  7580,  7156,  6756,  6380,  6020,  5684,  5368,  5068, 4784, 4516,
                              4264,  4024,  3800,  3588,  3388,  3196,  3020,  2852,  2692, 2540};
  ASSERT_EQ(std::size(kPrinted), 32u);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(power_limit_root(i), kPrinted[i]) << -0.5 * (i + 1) << " dBm0";
  }
}

TEST(V90DataFrame, RefusesRatesOutsideTheTablesAndTooFewPoints) {
  FrameParameters p;
  for (int shaping = 0; shaping <= 3; ++shaping) {
    for (int drn = 0; drn <= 22; ++drn) {
      Cp cp{};
      cp.shaping_bits = static_cast<uint8_t>(shaping);
      cp.drn = static_cast<uint8_t>(drn);
      for (int u = 0; u < kUcodes; ++u) cp.constellation[0].add(u);
      cp.data_mode = true;
      EXPECT_EQ(frame_parameters(cp, Law::kMu, &p), drn > 0);
      cp.data_mode = false;
      EXPECT_EQ(frame_parameters(cp, Law::kMu, &p), drn >= 4 - shaping && drn <= 22 - shaping && drn > 0);
    }
  }
  Cp cp = example(0, 0, {});
  EXPECT_TRUE(frame_parameters(cp, Law::kMu, &p));
  cp.constellation[0] = {};
  for (int u = 3; u <= 87; u += 4) cp.constellation[0].add(u);  // 22 points: 2^26.76
  EXPECT_FALSE(frame_parameters(cp, Law::kMu, &p));
}

}  // namespace
}  // namespace offhook::v90
