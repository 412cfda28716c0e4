// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/pre_emphasis.h"

#include <gtest/gtest.h>

#include "dsp/v34/coding/framing.h"

namespace offhook::v34 {
namespace {

TEST(V34PreEmphasis, TemplatesAreThoseOfTables3And4) {
  for (int index = 0; index <= 5; ++index) {
    EXPECT_DOUBLE_EQ(pre_emphasis_db(index, 0), 0);
    EXPECT_DOUBLE_EQ(pre_emphasis_db(index, 1), 2 * index);  // alpha: 0, 2, 4, 6, 8, 10 dB
  }
  const double beta[] = {0.5, 1, 1.5, 2, 2.5};
  const double gamma[] = {1, 2, 3, 4, 5};
  for (int k = 0; k < 5; ++k) {
    for (const double flat : {0.2, 0.31, 0.39, 0.4}) EXPECT_DOUBLE_EQ(pre_emphasis_db(6 + k, flat), 0);
    EXPECT_DOUBLE_EQ(pre_emphasis_db(6 + k, 0.8), beta[k]);
    EXPECT_NEAR(pre_emphasis_db(6 + k, 1), beta[k] + gamma[k] / 2, 1e-12);
    EXPECT_NEAR(pre_emphasis_db(6 + k, 1.2), beta[k] + gamma[k], 1e-12);
  }
}

// Edges of the band in which the template applies, computed by hand: f/S from d/e - 0.45 to d/e + 0.45.
TEST(V34PreEmphasis, TemplateAtTheEdgesOfTheBand) {
  struct Edge {
    SymbolRate symbol_rate;
    Carrier carrier;
    double low_hz, high_hz, low5_db, high5_db, high10_db;
  };
  const Edge edges[] = {{SymbolRate::k2400, Carrier::kLow, 520, 2680, 2.17, 11.17, 6.46},
                        {SymbolRate::k2400, Carrier::kHigh, 720, 2880, 3, 12, 7.5},
                        {SymbolRate::k3000, Carrier::kLow, 450, 3150, 1.5, 10.5, 5.62},
                        {SymbolRate::k3200, Carrier::kLow, 388.6, 3268.6, 1.21, 10.21, 5.27},
                        {SymbolRate::k3429, Carrier::kHigh, 416.3, 3502, 1.21, 10.21, 5.27}};
  for (const Edge& e : edges) {
    const double s = symbol_rate_hz(e.symbol_rate);
    const double fc = carrier_hz(e.symbol_rate, e.carrier);
    EXPECT_NEAR(fc - 0.45 * s, e.low_hz, 0.05);
    EXPECT_NEAR(fc + 0.45 * s, e.high_hz, 0.05);
    EXPECT_NEAR(pre_emphasis_db(5, fc / s - 0.45), e.low5_db, 0.005);
    EXPECT_NEAR(pre_emphasis_db(5, fc / s + 0.45), e.high5_db, 0.005);
    EXPECT_NEAR(pre_emphasis_db(10, fc / s + 0.45), e.high10_db, 0.01);
  }
}

}  // namespace
}  // namespace offhook::v34
