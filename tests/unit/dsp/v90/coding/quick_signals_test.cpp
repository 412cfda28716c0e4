// SPDX-License-Identifier: MIT
//
// QTS and ANSpcm against the text of V.92 8.3: Tables 7 to 10 by a hash (FNV-1a) over the 301 octets of each, as
// printed.
#include "dsp/v90/coding/quick_signals.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "dsp/blocks/level.h"

namespace offhook::v90 {
namespace {

struct Printed {
  int tenth_dbm0;
  Law law;
  uint64_t hash;
  uint8_t first, second, middle, last;  // octets 0, 1, 150, 300
};
constexpr Printed kTables[] = {{-95, Law::kMu, 0x838c7f5c4d5bdd2c, 0xA1, 0x58, 0x2B, 0x59},
                               {-95, Law::kA, 0x43849647409cb897, 0x88, 0x76, 0x01, 0x74},
                               {-120, Law::kMu, 0xd5319c5f5212a295, 0xA9, 0x5D, 0x30, 0x5E},
                               {-120, Law::kA, 0x581e59d42b047dd3, 0x83, 0x49, 0x1B, 0x4F},
                               {-150, Law::kMu, 0xf52d6032bf975249, 0xAF, 0x63, 0x39, 0x64},
                               {-150, Law::kA, 0xec8737d87f300c41, 0x9A, 0x41, 0x10, 0x46},
                               {-180, Law::kMu, 0x94f8c56db48526f5, 0xB8, 0x69, 0x3F, 0x6A},
                               {-180, Law::kA, 0x2161d163fe970d3, 0x93, 0x5B, 0x6B, 0x58}};

TEST(Anspcm, HasTheCodesOfTables7To10) {
  for (const Printed& t : kTables) {
    SCOPED_TRACE(testing::Message() << t.tenth_dbm0 << " law " << int(t.law));
    uint64_t hash = 0xcbf29ce484222325;
    for (uint32_t k = 0; k < kAnspcmPeriod; ++k)
      hash = (hash ^ octet_of(t.law, anspcm_symbol(t.law, t.tenth_dbm0, k))) * 0x100000001b3;
    const auto octet = [&t](uint32_t k) { return octet_of(t.law, anspcm_symbol(t.law, t.tenth_dbm0, k)); };
    EXPECT_EQ(octet(0), t.first);
    EXPECT_EQ(octet(1), t.second);
    EXPECT_EQ(octet(150), t.middle);
    EXPECT_EQ(octet(300), t.last);
    EXPECT_EQ(hash, t.hash);
  }
}

TEST(Anspcm, HasItsLevelAndAReversalEvery3612Symbols) {
  for (const Printed& t : kTables) {
    double power = 0;
    for (uint32_t k = 0; k < kAnspcmPeriod; ++k) {
      const Pcm p = anspcm_symbol(t.law, t.tenth_dbm0, k);
      power += std::pow(linear_of(t.law, p), 2) / kAnspcmPeriod;
      for (const uint32_t periods : {1u, 11u, 12u, 23u, 24u}) {
        const Pcm later = anspcm_symbol(t.law, t.tenth_dbm0, k + periods * kAnspcmPeriod);
        EXPECT_EQ(later.ucode, p.ucode);
        EXPECT_EQ(later.positive == p.positive, periods / 12 % 2 == 0);
      }
    }
    EXPECT_NEAR(mean_square_to_dbm0(power), t.tenth_dbm0 / 10., 0.15) << t.tenth_dbm0;
  }
}

TEST(Anspcm, IsAsLoudAsTheModemMayBe) {
  constexpr struct {
    float dbm0;
    int level;
  } kCases[] = {{-3, -95}, {-9.5f, -95}, {-9.6f, -120}, {-12, -120}, {-12.5f, -150}, {-16, -180}, {-30, -180}};
  for (const auto& c : kCases) EXPECT_EQ(anspcm_level(c.dbm0), c.level) << c.dbm0;
}

// {+V, +0, +V, -V, -0, -V} 128 times, and its opposite 8 times.
TEST(Qts, IsTheSequenceOfThreePointsAndItsOpposite) {
  constexpr uint8_t kV = 78;
  constexpr std::array<Pcm, 6> kSequence = {{{kV, true}, {0, true}, {kV, true}, {kV, false}, {0, false}, {kV, false}}};
  EXPECT_EQ(kQtsSymbols, 128 * 6);
  EXPECT_EQ(kQtsBarSymbols, 8 * 6);
  for (int n = 0; n < kQtsSymbols + kQtsBarSymbols; ++n) {
    Pcm expected = kSequence[static_cast<size_t>(n % 6)];
    if (n >= kQtsSymbols) expected.positive = !expected.positive;
    ASSERT_EQ(qts_symbol(n, kV), expected) << n;
  }
}

}  // namespace
}  // namespace offhook::v90
