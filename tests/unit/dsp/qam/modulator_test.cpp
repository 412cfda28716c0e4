// SPDX-License-Identifier: MIT
#include "dsp/qam/modulator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "dsp/v34/coding/framing.h"
#include "dsp/v34/coding/pre_emphasis.h"
#include "tests/unit/dsp/v34/modem_line.h"

namespace offhook::v34 {
namespace {

// Power of `x` around `hz` in a band about 8000 / n wide (Hann window over the whole of it), averaged over blocks.
double power_at(const std::vector<float>& x, double hz, size_t n) {
  double sum = 0;
  int blocks = 0;
  for (size_t from = 2000; from + n <= x.size(); from += n / 2, ++blocks) {
    double re = 0, im = 0;
    for (size_t k = 0; k < n; ++k) {
      const double w = 1 - std::cos(2 * std::numbers::pi * (static_cast<double>(k) + 0.5) / static_cast<double>(n));
      const double turn = 2 * std::numbers::pi * hz * static_cast<double>(k) / 8000;
      re += w * x[from + k] * std::cos(turn);
      im += w * x[from + k] * std::sin(turn);
    }
    sum += re * re + im * im;
  }
  return sum / blocks;
}

struct Setting {
  SymbolRate rate;
  Carrier carrier;
};
std::vector<Setting> all_settings() {
  std::vector<Setting> all;
  for (int s = 0; s < kSymbolRates; ++s) {
    for (const Carrier c : {Carrier::kLow, Carrier::kHigh}) all.push_back({static_cast<SymbolRate>(s), c});
  }
  return all;
}

std::vector<float> trn(const Setting& at, int index, size_t samples, double rms = kTestRms) {
  Modulator m;
  m.init(band(at.rate, at.carrier), rms, {pre_emphasis_db, index});
  TransmitSignals tx(kGpc);
  tx.start_trn(TrainingPoints::k16, 1 << 30);
  return modulate(m, samples, [&] { return tx.next(); });
}

// V34-5.2-1: an exact number of symbols in 100 s of samples. The rates are a/c times 2400, Table 1.
TEST(V34Modulator, V34_5_2_1_SymbolRatesAreExact) {
  constexpr double kTable1[][2] = {{1, 1}, {8, 7}, {7, 6}, {5, 4}, {4, 3}, {10, 7}};
  for (int s = 0; s < kSymbolRates; ++s) {
    const auto rate = static_cast<SymbolRate>(s);
    Modulator m;
    m.init(band(rate, Carrier::kLow), 1);
    int64_t symbols = 0;
    constexpr int kSeconds = 105;  // whole symbols of every rate
    for (int n = 0; n < kSeconds * 8000; ++n) {
      if (m.wants_symbol()) {
        m.put({1, 0});
        ++symbols;
      }
      m.next();
    }
    EXPECT_NEAR(static_cast<double>(symbols), kSeconds * 2400 * kTable1[s][0] / kTable1[s][1], 1e-6) << s;
  }
}

// V34-5.3-1, V34-S: S has only lines at the carrier and half a symbol rate on each side.
TEST(V34Modulator, V34_5_3_1_SIsThreeLinesAroundTheCarrier) {
  for (const Setting& at : all_settings()) {
    Modulator m;
    m.init(band(at.rate, at.carrier), kTestRms);
    int n = 0;
    const auto line = modulate(m, 16000, [&] {
      const Point p = s_symbol(n++);
      return Complex{static_cast<float>(p.re), static_cast<float>(p.im)};
    });
    const double fc = carrier_hz(at.rate, at.carrier);
    const double half = symbol_rate_hz(at.rate) / 2;
    const double carrier = power_at(line, fc, 4000);
    for (const double f : {fc - half, fc + half}) {
      // A root raised cosine is 3 dB lower at the edges, and slightly more under its window.
      EXPECT_NEAR(10 * std::log10(power_at(line, f, 4000) / carrier), -3.5, 0.5) << f;
      EXPECT_LT(10 * std::log10(power_at(line, (fc + f) / 2, 4000) / carrier), -60);
    }
  }
}

// V34-5.4-1, -2, -3: long TRN; power spectrum against the template over carrier +- 0.45 S, all 12 x 11 cases.
TEST(V34Modulator, V34_5_4_3_SpectrumIsWithin1DbOfTheTemplate) {
  constexpr size_t kBand = 160;
  for (const Setting& at : all_settings()) {
    const auto flat = trn(at, 0, 24000);
    for (int index = 0; index < kPreEmphasisFilters; ++index) {
      const auto line = trn(at, index, 24000);
      const double s = symbol_rate_hz(at.rate);
      const double fc = carrier_hz(at.rate, at.carrier);
      // Against the same symbols without pre-emphasis: this cancels the data's ripple; the flat one is tested below.
      std::vector<double> off;
      for (int k = -3; k <= 3; ++k) {
        const double f = fc + 0.15 * k * s;
        off.push_back(10 * std::log10(power_at(line, f, kBand) / power_at(flat, f, kBand)) -
                      pre_emphasis_db(index, f / s));
      }
      const auto [low, high] = std::minmax_element(off.begin(), off.end());
      EXPECT_LT(*high - *low, 1) << index << " at " << s << ", " << fc;
    }
  }
}

TEST(V34Modulator, WithoutPreEmphasisTheBandIsFlat) {
  for (const Setting& at : all_settings()) {
    const auto line = trn(at, 0, 100000);
    const double fc = carrier_hz(at.rate, at.carrier);
    double low = 1e30, high = 0;
    for (int k = -3; k <= 3; ++k) {
      const double p = power_at(line, fc + 0.15 * k * symbol_rate_hz(at.rate), 80);
      low = std::min(low, p);
      high = std::max(high, p);
    }
    EXPECT_LT(10 * std::log10(high / low), 1);
  }
}

// V34-10.1.3-1: the level is the requested one for every rate and pre-emphasis.
TEST(V34Modulator, LevelDoesNotDependOnPreEmphasis) {
  for (const Setting& at : all_settings()) {
    for (const int index : {0, 5, 10}) {
      const auto line = trn(at, index, 40000, 1000);
      double sum = 0;
      for (size_t n = 1000; n < line.size(); ++n) sum += static_cast<double>(line[n]) * line[n];
      EXPECT_NEAR(10 * std::log10(sum / static_cast<double>(line.size() - 1000) / 1e6), 0, 0.5);
    }
  }
}

}  // namespace
}  // namespace offhook::v34
