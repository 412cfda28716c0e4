// SPDX-License-Identifier: MIT
//
// Against Table 1 of V.90: rows as printed, and G.711 as hostsim/channel/g711.h has it from its own text.
#include "dsp/v90/coding/ucode.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hostsim/channel/g711.h"

namespace offhook::v90 {
namespace {

TEST(V90Ucode, RowsOfTable1AreAsPrinted) {
  struct Row {
    int ucode, mu_positive, mu_negative, mu_linear, a_positive, a_negative, a_linear;
  };
  constexpr Row kRows[] = {{0, 0xFF, 0x7F, 0, 0xD5, 0x55, 8},           {1, 0xFE, 0x7E, 8, 0xD4, 0x54, 24},
                           {15, 0xF0, 0x70, 120, 0xDA, 0x5A, 248},      {16, 0xEF, 0x6F, 132, 0xC5, 0x45, 264},
                           {31, 0xE0, 0x60, 372, 0xCA, 0x4A, 504},      {66, 0xBD, 0x3D, 2236, 0x97, 0x17, 2368},
                           {67, 0xBC, 0x3C, 2364, 0x96, 0x16, 2496},    {79, 0xB0, 0x30, 3900, 0x9A, 0x1A, 4032},
                           {96, 0x9F, 0x1F, 8316, 0xB5, 0x35, 8448},    {111, 0x90, 0x10, 15996, 0xBA, 0x3A, 16128},
                           {112, 0x8F, 0x0F, 16764, 0xA5, 0x25, 16896}, {127, 0x80, 0x00, 32124, 0xAA, 0x2A, 32256}};
  for (const Row& r : kRows) {
    const auto u = static_cast<uint8_t>(r.ucode);
    EXPECT_EQ(octet_of(Law::kMu, {u, true}), r.mu_positive) << r.ucode;
    EXPECT_EQ(octet_of(Law::kMu, {u, false}), r.mu_negative) << r.ucode;
    EXPECT_EQ(octet_of(Law::kA, {u, true}), r.a_positive) << r.ucode;
    EXPECT_EQ(octet_of(Law::kA, {u, false}), r.a_negative) << r.ucode;
    EXPECT_EQ(linear_of(Law::kMu, r.ucode), r.mu_linear);
    EXPECT_EQ(linear_of(Law::kA, r.ucode), r.a_linear);
  }
}

TEST(V90Ucode, EveryOctetIsOneUcodeWithASignAndHasG711sValue) {
  for (int octet = 0; octet < 256; ++octet) {
    const auto o = static_cast<uint8_t>(octet);
    for (const Law law : {Law::kMu, Law::kA}) {
      const Pcm p = pcm_of(law, o);
      ASSERT_LT(p.ucode, kUcodes);
      EXPECT_EQ(octet_of(law, p), o);
    }
    EXPECT_EQ(linear_of(Law::kMu, pcm_of(Law::kMu, o)), hostsim::mu_law_decode(o));
    EXPECT_EQ(linear_of(Law::kA, pcm_of(Law::kA, o)), hostsim::a_law_decode(o));
  }
}

TEST(V90Ucode, NearestOctetHasNoNearerNeighbour) {
  for (const Law law : {Law::kMu, Law::kA}) {
    for (int x = -32768; x < 32768; x += 7) {
      const int chosen = linear_of(law, pcm_of(law, nearest_octet(law, x)));
      int least = 1 << 20;
      for (int u = 0; u < kUcodes; ++u) {
        for (const bool positive : {true, false}) {
          const int d = x - linear_of(law, {static_cast<uint8_t>(u), positive});
          least = std::min(least, d < 0 ? -d : d);
        }
      }
      ASSERT_EQ(x - chosen < 0 ? chosen - x : x - chosen, least) << x;
    }
  }
}

}  // namespace
}  // namespace offhook::v90
