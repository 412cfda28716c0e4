// SPDX-License-Identifier: MIT
#include "dsp/qam/pre_emphasis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "dsp/v34/coding/framing.h"
#include "dsp/v34/coding/pre_emphasis.h"

namespace offhook::v34 {
namespace {

using qam::design_pre_emphasis;
using qam::kPreEmphasisTaps;

double response_db(const float* taps, double turns) {
  std::complex<double> h = 0;
  for (int k = 0; k < kPreEmphasisTaps; ++k) {
    h += static_cast<double>(taps[k]) * std::polar(1.0, -2 * std::numbers::pi * turns * k);
  }
  return 20 * std::log10(std::abs(h));
}

TEST(V34PreEmphasis, EveryFilterKeepsWithin02DbOfItsTemplateAndKeepsThePower) {
  for (const double rate : {8000.0, 9600.0}) {
    for (int sr = 0; sr < kSymbolRates; ++sr) {
      for (const Carrier carrier : {Carrier::kLow, Carrier::kHigh}) {
        const auto symbol_rate = static_cast<SymbolRate>(sr);
        const double s = symbol_rate_hz(symbol_rate);
        const double fc = carrier_hz(symbol_rate, carrier);
        for (int index = 0; index < kPreEmphasisFilters; ++index) {
          float taps[kPreEmphasisTaps];
          design_pre_emphasis({pre_emphasis_db, index}, band(symbol_rate, carrier), rate, taps);
          double low = 1e9;
          double high = -1e9;
          double power = 0;
          constexpr int kPoints = 901;
          for (int n = 0; n < kPoints; ++n) {
            const double f = fc + s * (n / 1000.0 - 0.45);
            const double difference = response_db(taps, f / rate) - pre_emphasis_db(index, f / s);
            low = std::min(low, difference);
            high = std::max(high, difference);
          }
          for (int n = 0; n < 1000; ++n) {
            power += std::pow(10, response_db(taps, (fc + s * ((n + 0.5) / 1000 - 0.5)) / rate) / 10) / 1000;
          }
          EXPECT_NEAR(power, 1, 1e-3);
          EXPECT_LE((high - low) / 2, 0.2)
              << rate << " Hz, " << s << " symbols/s, carrier " << fc << ", index " << index;
          for (int k = 0; k < kPreEmphasisTaps; ++k) EXPECT_EQ(taps[k], taps[kPreEmphasisTaps - 1 - k]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace offhook::v34
