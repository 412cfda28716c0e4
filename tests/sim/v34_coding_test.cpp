// SPDX-License-Identifier: MIT
//
// Error rates of the V.34 codes against uncoded QAM, with 99 % Clopper-Pearson intervals: the long version of
// V34Viterbi.GainOverUncodedAtHighErrorRate, and bit errors of the whole chain from bits to bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "dsp/v34/coding/encoder.h"
#include "tests/unit/dsp/v34/bit_chain.h"
#include "tests/unit/dsp/v34/coding_gain.h"

namespace offhook::v34 {
namespace {

constexpr TrellisCode kCodes[] = {TrellisCode::k16, TrellisCode::k32, TrellisCode::k64};

TEST(V34Coding, GainGrowsTowardsTheAsymptoticGainAsErrorsGetRare) {
  struct Case {
    double sigma;
    int pairs;
  };
  const Case cases[] = {{0.46, 300000}, {0.43, 1000000}, {0.40, 4000000}};
  const double required_db[] = {3.0, 3.3, 3.4};
  std::printf("states  noise  2D symbol error rate      uncoded   gain dB        asymptotic\n");
  for (const TrellisCode code : kCodes) {
    GainPoint last{};
    for (const Case& c : cases) {
      const GainPoint g = measure_gain(code, c.sigma, c.pairs, 40);
      std::printf("%6d  %.2f   %.2e .. %.2e  %.2e  %.2f .. %.2f  %.2f\n", trellis_states(code), c.sigma, g.rate.low,
                  g.rate.high, g.uncoded_rate, g.gain_db.low, g.gain_db.high, asymptotic_gain_db(code));
      EXPECT_GT(g.errors, 20);
      EXPECT_LT(g.gain_db.low, asymptotic_gain_db(code)) << "better than the code can be";
      EXPECT_GT(g.gain_db.high, last.gain_db.low);
      last = g;
    }
    EXPECT_GT(last.gain_db.low, required_db[static_cast<int>(code)]) << trellis_states(code);
    const double expected = expected_events(code, last.sigma);
    std::printf("%6d  error events a 4D symbol %.2e .. %.2e, first terms of the union bound %.2e\n",
                trellis_states(code), last.events.low, last.events.high, expected);
    EXPECT_GT(last.events.high, 0.5 * expected);  // no decoder can be better
    EXPECT_LT(last.events.low, 3 * expected);     // a good one is not much worse: farther neighbours count a little
  }
}

TEST(V34Coding, WholeChainNeedsAtLeastTwoDecibelsLessThanUncodedQam) {
  struct Case {
    SymbolRate symbol_rate;
    uint32_t bit_rate;
    TrellisCode code;
  };
  const Case cases[] = {{SymbolRate::k2400, 14400, TrellisCode::k16},
                        {SymbolRate::k3000, 21600, TrellisCode::k32},
                        {SymbolRate::k3200, 28800, TrellisCode::k64},
                        {SymbolRate::k3429, 33600, TrellisCode::k64}};
  for (const Case& c : cases) {
    const CodingParameters p{make_framing(c.symbol_rate, c.bit_rate, false, true), kGpc, c.code, {}};
    const double bits_per_symbol = c.bit_rate / symbol_rate_hz(c.symbol_rate);
    double uncoded_db = 0;  // at which uncoded QAM has a bit error rate of 1e-4
    while (uncoded_bit_error_rate(bits_per_symbol, uncoded_db) > 1e-4) uncoded_db += 0.01;
    const double capacity_db = 10 * std::log10(std::pow(2, bits_per_symbol) - 1);
    std::printf("%.0f symbols/s %u bit/s %d states: capacity %.1f dB, uncoded QAM 1e-4 at %.1f dB\n",
                symbol_rate_hz(c.symbol_rate), c.bit_rate, trellis_states(c.code), capacity_db, uncoded_db);
    for (const double less : {4.5, 3.5, 2.0}) {
      const ChainResult r = run_chain(p, uncoded_db - less, 40000, 41);
      std::printf("  %.1f dB  bit error rate %.2e  (%.2e .. %.2e)\n", uncoded_db - less, r.errors / r.bits, r.rate.low,
                  r.rate.high);
      if (less == 2.0) {
        EXPECT_LT(r.rate.high, 1e-4);
      }
    }
  }
}

}  // namespace
}  // namespace offhook::v34
