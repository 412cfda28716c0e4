// SPDX-License-Identifier: MIT
#include "hostsim/channel/g711.h"

#include <gtest/gtest.h>

#include "tests/unit/hostsim/channel/tone.h"

// spandsp itself is the reference; its headers need one another in this order, and <cmath> before all of them.
// clang-format off
#include <spandsp/telephony.h>
#include <spandsp/bit_operations.h>
#include <spandsp/g711.h>
// clang-format on

namespace offhook::hostsim {
namespace {

TEST(G711, EncodesAndDecodesEveryValueAsSpandspDoes) {
  for (int x = -32768; x <= 32767; ++x) {
    ASSERT_EQ(mu_law_encode(static_cast<std::int16_t>(x)), linear_to_ulaw(x)) << x;
    ASSERT_EQ(a_law_encode(static_cast<std::int16_t>(x)), linear_to_alaw(x)) << x;
  }
  for (int c = 0; c < 256; ++c) {
    ASSERT_EQ(mu_law_decode(static_cast<std::uint8_t>(c)), ulaw_to_linear(static_cast<std::uint8_t>(c))) << c;
    ASSERT_EQ(a_law_decode(static_cast<std::uint8_t>(c)), alaw_to_linear(static_cast<std::uint8_t>(c))) << c;
  }
}

TEST(G711, RoundTripOfEveryOctetGivesTheSameValue) {
  for (int c = 0; c < 256; ++c) {
    const auto octet = static_cast<std::uint8_t>(c);
    const int back = mu_law_encode(mu_law_decode(octet));
    EXPECT_EQ(back, octet == 0x7F ? 0xFF : octet);  // minus zero and zero are the same value
    EXPECT_EQ(mu_law_decode(mu_law_encode(mu_law_decode(octet))), mu_law_decode(octet));
    EXPECT_EQ(a_law_encode(a_law_decode(octet)), octet);
  }
}

TEST(G711, SineOfMinus10dBm0Has38dBOfSignalToQuantisingNoise) {
  // Sixteen steps a segment: 37.5 to 39 dB in the upper segments (Jayant and Noll 1984, 5.3; G.712 asks for 33).
  const auto x = test::sine(1020.3, 7217, 80'000);
  std::vector<double> mu, a;
  for (std::int16_t v : x) {
    mu.push_back(mu_law_decode(mu_law_encode(v)));
    a.push_back(a_law_decode(a_law_encode(v)));
  }
  EXPECT_NEAR(test::residue_db(mu, 1020.3, 0, mu.size()), -38, 1);
  EXPECT_NEAR(test::residue_db(a, 1020.3, 0, a.size()), -38, 1);
}

}  // namespace
}  // namespace offhook::hostsim
