// SPDX-License-Identifier: MIT
//
// What an owner of a V.90 modem may ask for (oh_v90_options), in whole calls over a simulated trunk.
#include <gtest/gtest.h>

#include "tests/v90_call.h"

namespace offhook {
namespace {

void expect_no_error(V90Call& call, double seconds) {
  const uint64_t down = call.down().errors(), up = call.up().errors();
  call.run(seconds);
  EXPECT_EQ(call.down().errors(), down);
  EXPECT_EQ(call.up().errors(), up);
  EXPECT_EQ(call.analogue_status().retrains + call.digital_status().retrains, 0u);
}

// 5.2, 6.2: 3000 and 3200 symbols/s at the digital modem, 3200 at the analogue one, the others as both have them. The
// rates are the highest of V.34's Table 10.
TEST(V90Options, UpstreamHasTheSymbolRateThatBothEndsMayUse) {
  constexpr uint8_t k3000 = 1 << 3, k3200 = 1 << 4, k3429 = 1 << 5;
  struct Case {
    uint8_t analogue, digital;
    double symbols_a_second;
    unsigned bit_rate;
  };
  const Case cases[] = {{k3000, 0, 3000, 28800},
                        {k3200, 0, 3200, 31200},
                        {k3000 | k3200, 0, 3200, 31200},
                        {0, k3000 | k3200, 3200, 31200},
                        {k3000 | k3429, k3000 | k3200, 3000, 28800},
                        {0, 0, 24000 / 7., 33600}};
  for (const Case& k : cases) {
    SCOPED_TRACE(testing::Message() << +k.analogue << " " << +k.digital);
    V90Call::Options o = V90Call::from_phase2_on();
    o.analogue.upstream_symbol_rates = k.analogue;
    o.digital.upstream_symbol_rates = k.digital;
    V90Call call(o);
    ASSERT_TRUE(call.connect(15));
    EXPECT_NEAR(static_cast<double>(call.analogue_instruments().upstream_symbol_rate_hz), k.symbols_a_second, 0.01);
    EXPECT_NEAR(static_cast<double>(call.digital_instruments().upstream_symbol_rate_hz), k.symbols_a_second, 0.01);
    EXPECT_EQ(call.analogue_status().tx_bit_rate, k.bit_rate);
    EXPECT_EQ(call.digital_status().rx_bit_rate, k.bit_rate);
    EXPECT_EQ(call.analogue_status().rx_bit_rate, 56000u);
    expect_no_error(call, 5);
  }
}

// 9.3.2.1, 9.3.1.1: MD, S and S-bar come between the first S-bar and PP, and the digital modem waits for them.
TEST(V90Options, MdTakesItsTimeAndTheTrainingGoesOn) {
  double without = 0;
  for (const int md : {0, 1, 5, 60}) {
    V90Call::Options o = V90Call::from_phase2_on();
    o.analogue.upstream_symbol_rates = 1 << 4;
    o.analogue.md_length = static_cast<uint8_t>(md);
    V90Call call(o);
    ASSERT_TRUE(call.connect(20)) << md;
    EXPECT_EQ(call.analogue_status().rx_bit_rate, 56000u) << md;
    EXPECT_EQ(call.digital_status().rx_bit_rate, 31200u) << md;
    if (md == 0) without = call.seconds();
    const double more = md == 0 ? 0 : md * 0.035 + (128 + 16) / 3200.;
    EXPECT_NEAR(call.seconds() - without, more, 0.1) << md;
    expect_no_error(call, 2);
  }
}

// 9.3.1.5, 9.3.2.8: with no segment asked for, Phase 4 follows Jd' at once.
TEST(V90Options, WithoutADilTheRateIsThatOfARouteThatIsKnown) {
  double seconds[2];
  for (const bool without : {false, true}) {
    for (const char* law : {"a-law", "mu-law"}) {
      V90Call::Options o = V90Call::from_phase2_on();
      o.trunk.law = o.trunk.codec = law;
      o.analogue.without_dil = without;
      V90Call call(o);
      ASSERT_TRUE(call.connect(15)) << law;
      seconds[without] = call.seconds();
      EXPECT_EQ(call.digital_instruments().dil_segments == 0, without);
      EXPECT_GE(call.analogue_status().rx_bit_rate, 54666u) << law;
      EXPECT_EQ(call.digital_status().rx_bit_rate, 33600u) << law;
      expect_no_error(call, 5);
    }
  }
  EXPECT_LT(seconds[true], seconds[false] - 0.5);
}

// 5.4.5, 8.6: the shaping that CP asks for. A renegotiation, which keeps the shaping of the data that ran until Ed, may
// change it.
TEST(V90Options, SpectralShapingIsAskedForAndMayChangeInARenegotiation) {
  for (const int bits : {1, 2, 3}) {
    SCOPED_TRACE(bits);
    V90Call::Options o = V90Call::from_phase2_on();
    o.analogue.shaping_bits = static_cast<uint8_t>(bits);
    V90Call call(o);
    ASSERT_TRUE(call.connect(15));
    EXPECT_GE(call.analogue_status().rx_bit_rate, 50666u);
    expect_no_error(call, 3);
    for (const int next : {3 - bits, bits}) {
      oh_v90_options changed = o.analogue;
      changed.shaping_bits = static_cast<uint8_t>(next);
      ASSERT_EQ(oh_v90_set_options(call.analogue(), &changed), 0);
      oh_v90_renegotiate(call.analogue());
      call.run(0.5);
      ASSERT_TRUE(call.connect(5)) << next;
      call.run(0.5);  // what the change left in the checkers
      expect_no_error(call, 3);
    }
    EXPECT_EQ(call.analogue_instruments().renegotiations, 2u);
  }
}

TEST(V90Options, WhatNoModemCanDoIsRefused) {
  V90Call call(V90Call::from_phase2_on());
  const auto digital = [&call](oh_v90_options o) { return oh_v90_set_options(call.digital(), &o); };
  const auto analogue = [&call](oh_v90_options o) { return oh_v90_set_options(call.analogue(), &o); };
  EXPECT_NE(digital({.upstream_symbol_rates = 1 << 4}), 0) << "3000 is mandatory there";
  EXPECT_NE(digital({.upstream_symbol_rates = 1 << 3 | 1 << 5}), 0) << "and 3200";
  EXPECT_EQ(digital({.upstream_symbol_rates = 1 << 3 | 1 << 4}), 0);
  EXPECT_NE(analogue({.upstream_symbol_rates = 1 << 2}), 0) << "2800 is none of V.90's";
  EXPECT_EQ(analogue({.upstream_symbol_rates = 1 << 4}), 0);
  EXPECT_NE(analogue({.md_length = 61}), 0);
  EXPECT_NE(analogue({.shaping_bits = 4}), 0);
}

}  // namespace
}  // namespace offhook
