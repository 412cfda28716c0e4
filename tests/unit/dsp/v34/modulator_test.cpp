// SPDX-License-Identifier: MIT
#include "dsp/v34/modulator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {
namespace {

struct Sent {
  std::vector<float> samples;
  long symbols = 0;
};

Sent send(SymbolRate s, Carrier c, int pre_emphasis, int samples) {
  Modulator m(s, c, pre_emphasis, -12);
  Random r(1, 0);
  Sent sent;
  for (int n = 0; n < samples; ++n) {
    sent.samples.push_back(m.next([&] {
      ++sent.symbols;
      const float a = 0.70710678f;
      return Complex{r.bit() ? a : -a, r.bit() ? a : -a};
    }));
  }
  return sent;
}

// Power around f, +-50 Hz, as a share of all.
double power_at(const std::vector<float>& x, double hz) {
  constexpr int kWindow = 400;
  double sum = 0;
  for (size_t from = 0; from + kWindow <= x.size(); from += kWindow / 2) {
    std::complex<double> y = 0;
    for (int n = 0; n < kWindow; ++n) {
      const double w = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * (n + 0.5) / kWindow);
      y += w * x[from + n] * std::polar(1.0, -2 * std::numbers::pi * hz * n / 8000);
    }
    sum += std::norm(y);
  }
  return sum / static_cast<double>(x.size());
}

TEST(V34Modulator, SymbolRatesAreExact) {  // V34-5.2-1
  for (int k = 0; k < kSymbolRates; ++k) {
    const auto s = static_cast<SymbolRate>(k);
    EXPECT_NEAR(static_cast<double>(send(s, Carrier::kLow, 0, 80000).symbols), 10 * symbol_rate_hz(s), 1);
  }
}

TEST(V34Modulator, LevelIsTheOneAskedForWhateverThePreEmphasis) {  // V34-9.7-2
  for (int k = 0; k < kSymbolRates; ++k) {
    for (const int pre_emphasis : {0, 5, 8, 10}) {
      const Sent sent = send(static_cast<SymbolRate>(k), Carrier::kHigh, pre_emphasis, 40000);
      double power = 0;
      for (const float x : sent.samples) power += x * x;
      const double dbm0 = 20 * std::log10(std::sqrt(power / 40000) / 16141.06);
      EXPECT_NEAR(dbm0, -12, 0.25) << k << " " << pre_emphasis;
    }
  }
}

// Over carrier +- 0.45 S within 1 dB of the template (V34-5.4-3), and next to nothing beyond +-0.6 S.
TEST(V34Modulator, SpectrumFollowsTheTemplate) {
  for (int k = 0; k < kSymbolRates; ++k) {
    const auto s = static_cast<SymbolRate>(k);
    for (const Carrier c : {Carrier::kLow, Carrier::kHigh}) {
      for (const int pre_emphasis : {0, 3, 10}) {
        const Sent sent = send(s, c, pre_emphasis, 40000);
        const double rate = symbol_rate_hz(s), centre = carrier_hz(s, c);
        double sum = 0;
        std::vector<double> off;
        for (double u = -0.44; u <= 0.441; u += 0.08) {
          const double f = centre + u * rate;
          off.push_back(10 * std::log10(power_at(sent.samples, f)) - pre_emphasis_db(pre_emphasis, f / rate));
          sum += off.back();
        }
        for (const double d : off) EXPECT_NEAR(d - sum / static_cast<double>(off.size()), 0, 0.9);
        const double level = power_at(sent.samples, centre);
        if (centre + 0.62 * rate < 3900) {
          EXPECT_LT(10 * std::log10(power_at(sent.samples, centre + 0.62 * rate) / level), -35);
        }
      }
    }
  }
}

}  // namespace
}  // namespace offhook::v34
