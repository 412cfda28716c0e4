// SPDX-License-Identifier: MIT
//
// Jd, the DIL descriptor and MP of V.90 against sequences that a script worked out from Tables 12, 13 and 16.
#include "dsp/v90/coding/sequences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/dsp/v34/random.h"

namespace offhook::v90 {
namespace {

using Bits = std::vector<uint8_t>;

// The first bit is the most significant of the first digit.
std::string hex(const Bits& bits) {
  std::string out;
  for (std::size_t k = 0; k < bits.size(); k += 4) {
    int digit = 0;
    for (std::size_t i = k; i < k + 4; ++i) digit = 2 * digit + (i < bits.size() ? bits[i] : 0);
    out += "0123456789ABCDEF"[digit];
  }
  return out;
}

template <class T>
Bits bits_of(const T& sequence, int bits) {
  constexpr uint8_t kUntouched = 0xEE;
  Bits out(static_cast<std::size_t>(bits) + 200, kUntouched);
  EXPECT_EQ(encode(sequence, out.data()), bits);
  const auto end = out.begin() + bits;
  EXPECT_TRUE(std::all_of(end, out.end(), [](uint8_t b) { return b == kUntouched; })) << "nothing beyond its bits";
  out.erase(end, out.end());
  return out;
}

Dil three_segments() {
  Dil dil{};
  dil.segments = 3;
  dil.sign_length = 4;
  dil.sign[0] = 0b0011;
  dil.training_length = 6;
  dil.training[0] = 0b001111;
  for (int c = 0; c < 8; ++c) {
    dil.length[c] = c < 4 ? 0 : 1;
    dil.reference[c] = c < 4 ? 16 : 80;
  }
  dil.ucode[0] = 70, dil.ucode[1] = 10, dil.ucode[2] = 127;
  return dil;
}

Mp example_mp() {
  Mp mp{};
  mp.drn = 11;
  mp.trellis = v34::TrellisCode::k64;
  mp.nonlinear = mp.expanded = mp.acknowledge = true;
  mp.rate_mask = 0xFFF;
  return mp;
}

TEST(V90Jd, HasTheBitsOfTable13) {
  const Jd jd{(1u << 22) - 1, false, false, 1};
  EXPECT_EQ(hex(bits_of(jd, Jd::kBits)), "FFFFBFFFDF80476EE0");
  // Each field by itself: rates 1, 2, 17 and 22, sixteen points in training, two frames; 16 and 18, in renegotiations,
  // three.
  constexpr auto rate = [](int drn) { return 1u << (drn - 1); };
  const Jd training{rate(1) | rate(2) | rate(17) | rate(22), true, false, 2};
  EXPECT_EQ(hex(bits_of(training, Jd::kBits)), "FFFFB0001081271110");
  const Jd later{rate(16) | rate(18), false, true, 3};
  EXPECT_EQ(hex(bits_of(later, Jd::kBits)), "FFFF80004800ECEDB0");
}

TEST(V90Jd, ComesBackWithEveryField) {
  v34::Random random(13, 0);
  for (int round = 0; round < 100; ++round) {
    const Jd jd{random.below(1u << 22), random.below(2) == 1, random.below(2) == 1,
                static_cast<uint8_t>(1 + random.below(3))};
    FixedSequenceReceiver<Jd> receiver;
    Jd found{};
    int times = 0;
    for (int copy = 0; copy < 2; ++copy) {
      for (const uint8_t b : bits_of(jd, Jd::kBits)) times += receiver.put(b, &found);
    }
    EXPECT_EQ(times, 2);
    EXPECT_EQ(found, jd);
  }
}

TEST(V90Dil, HasTheBitsOfTable12) {
  EXPECT_EQ(hex(bits_of(Dil{}, Dil::kMinBits)), "FFFF8000000000000000000000000000000000000000000000000003BE28");
  EXPECT_EQ(hex(bits_of(three_segments(), 274)),
            "FFFFB00018140C0007800000000000808040400202010100A0A050518941FC00990F0");
  Dil longest{};
  longest.segments = 255;
  longest.sign_length = longest.training_length = 128;
  EXPECT_EQ(longest.bits(), Dil::kMaxBits);
}

TEST(V90Dil, WhatLiesBeyondAPatternIsNotSent) {
  const Dil dil = three_segments();
  Dil more = dil;
  more.sign[0] |= 0xF0, more.training[0] |= 0xC0;
  for (int k = 1; k < 16; ++k) more.sign[k] = more.training[k] = 0xFF;
  EXPECT_EQ(bits_of(more, more.bits()), bits_of(dil, dil.bits()));
}

TEST(V90Dil, SignalIsThatOf8_4_1) {
  const Dil dil = three_segments();
  std::string signal;
  for (int n = 0; n < dil.segments; ++n) {
    for (int k = 0; k < dil.symbols(n); ++k) {
      const Pcm p = dil.symbol(n, k);
      signal += (p.positive ? " +" : " -") + std::to_string(p.ucode);
    }
  }
  EXPECT_EQ(signal,
            " +70 +70 -70 -70 +80 +80 -70 -70 +70 +70 -80 -80 +10 +10 -10 -10 +16 +16 +127 +127 -127 -127 +80 +80 -127 "
            "-127 +127 +127 -80 -80");
}

TEST(V90Dil, ComesBackWhateverItsLengths) {
  v34::Random random(12, 0);
  for (int round = 0; round < 100; ++round) {
    Dil dil{};
    dil.segments = static_cast<uint8_t>(random.below(256));
    dil.sign_length = dil.training_length = 1;
    if (dil.segments > 0) {
      dil.sign_length = static_cast<uint8_t>(1 + random.below(128));
      dil.training_length = static_cast<uint8_t>(1 + random.below(128));
      for (int k = 0; k < dil.sign_length; ++k) dil.sign[k / 8] |= static_cast<uint8_t>(random.below(2) << k % 8);
      for (int k = 0; k < dil.training_length; ++k) {
        dil.training[k / 8] |= static_cast<uint8_t>(random.below(2) << k % 8);
      }
    }
    for (int c = 0; c < 8; ++c) {
      dil.length[c] = static_cast<uint8_t>(random.below(128));
      dil.reference[c] = static_cast<uint8_t>(random.below(128));
    }
    for (int n = 0; n < dil.segments; ++n) dil.ucode[n] = static_cast<uint8_t>(random.below(128));
    Bits bits = bits_of(dil, dil.bits());
    EXPECT_EQ(bits.size() % 2, 0u);
    DilReceiver receiver;
    Dil found{};
    int times = 0;
    for (int copy = 0; copy < 2; ++copy) {
      for (const uint8_t b : bits) times += receiver.put(b, &found);
    }
    EXPECT_EQ(times, 2);
    EXPECT_EQ(found, dil);
    bits[40 + random.below(100)] ^= 1;
    times = 0;
    for (const uint8_t b : bits) times += receiver.put(b, &found);
    EXPECT_EQ(times, 0) << "one bit was wrong";
  }
}

TEST(V90Mp, HasTheBitsOfTable16) {
  EXPECT_EQ(hex(bits_of(example_mp(), Mp::kBitsType0)), "FFFF80D3CFFF0000034048");
}

// Table 16, bits 31, 32 and 33, each by itself.
TEST(V90Mp, EachFlagHasTheBitOfTable16) {
  const Bits none = bits_of(Mp{}, Mp::kBitsType0);
  const auto differs_first_at = [&none](bool Mp::*flag) {
    Mp mp{};
    mp.*flag = true;
    const Bits bits = bits_of(mp, Mp::kBitsType0);
    return std::mismatch(bits.begin(), bits.end(), none.begin()).first - bits.begin();
  };
  EXPECT_EQ(differs_first_at(&Mp::nonlinear), 31);
  EXPECT_EQ(differs_first_at(&Mp::expanded), 32);
  EXPECT_EQ(differs_first_at(&Mp::acknowledge), 33);
}

TEST(V90Mp, BothTypesComeBack) {
  for (const bool type1 : {false, true}) {
    Mp mp = example_mp();
    mp.type1 = type1;
    if (type1) {
      for (int k = 0; k < 3; ++k) mp.precoder.h[k] = {static_cast<int16_t>(1000 * k - 7), static_cast<int16_t>(-k)};
    }
    MpReceiver receiver;
    Mp found{};
    int times = 0;
    for (int copy = 0; copy < 3; ++copy) {
      for (const uint8_t b : bits_of(mp, mp.bits())) times += receiver.put(b, &found);
      for (int fill = 0; fill < 4 + copy; ++fill) times += receiver.put(0, &found);
    }
    EXPECT_EQ(times, 3);
    EXPECT_EQ(found.drn, mp.drn);
    EXPECT_EQ(found.trellis, mp.trellis);
    EXPECT_EQ(found.rate_mask, mp.rate_mask);
    EXPECT_TRUE(found.nonlinear && found.expanded && found.acknowledge);
    EXPECT_EQ(found.type1, type1);
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(found.precoder.h[k].re, mp.precoder.h[k].re);
      EXPECT_EQ(found.precoder.h[k].im, mp.precoder.h[k].im);
    }
  }
}

TEST(V90Mp, UpstreamRateIsTheHighestOfBothMasksUpToItsOwn) {
  Mp mp = example_mp();
  EXPECT_EQ(upstream_rate(0x1FFF, mp), 11);
  EXPECT_EQ(upstream_rate(0x0001, mp), 2);
  mp.rate_mask = 0x2;
  EXPECT_EQ(upstream_rate(0x0001, mp), 0);
  mp.drn = 14, mp.rate_mask = 0x1FFF;
  EXPECT_EQ(upstream_rate(0x1FFF, mp), 14);
  mp.drn = 0;
  EXPECT_EQ(upstream_rate(0x1FFF, mp), 0);
}

}  // namespace
}  // namespace offhook::v90
