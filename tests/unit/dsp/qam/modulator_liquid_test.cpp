// SPDX-License-Identifier: MIT
//
// The modulator's pulse against liquid's: the root raised cosine under a Kaiser window, at the very instants at which
// our samples fall. Our taps are made in double and kept in float, liquid computes in float: its sines of up to 100 rad
// are good to some 10^-5.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "dsp/qam/modulator.h"
#include "dsp/v34/coding/framing.h"
#include "tests/unit/liquid.h"

namespace offhook::v34 {
namespace {

using qam::Modulator;
using qam::RollOff;

constexpr float kKaiserBeta = 6;

/// The samples that one symbol causes, in int16 units for an RMS of 1.
std::vector<float> response(SymbolRate rate, RollOff roll_off, Complex symbol) {
  Modulator m;
  m.init(band(rate, Carrier::kHigh), 1, {}, roll_off);
  std::vector<float> y;
  for (bool first = true; y.size() < 120; first = false) {
    while (!m.wants_symbol() || (!first && m.wants_symbol())) {
      if (m.wants_symbol()) m.put({});
      y.push_back(m.next());
      if (y.size() >= 120) return y;
    }
    m.put(symbol);
    y.push_back(m.next());
  }
  return y;
}

TEST(V34Modulator, PulseIsLiquidsRootRaisedCosine) {
  for (int s = 0; s < kSymbolRates; ++s) {
    const auto rate = static_cast<SymbolRate>(s);
    for (const RollOff roll_off : {RollOff::k9Percent, RollOff::k25Percent}) {
      const std::vector<float> re = response(rate, roll_off, {1, 0}), im = response(rate, roll_off, {0, 1});
      // S / 8000 = p / k: sample n stands at n p / k symbols.
      const Ratio ratio = traits(rate).of_2400;
      const int common = std::gcd(3 * ratio.num, 10 * ratio.den);
      const int p = 3 * ratio.num / common, k = 10 * ratio.den / common;
      const auto m = static_cast<unsigned>(Modulator::kSpan / 2);
      std::vector<float> h(2 * static_cast<std::size_t>(k) * m + 1);
      liquid_firdes_rrcos(static_cast<unsigned>(k), m, roll_off == RollOff::k9Percent ? 0.09f : 0.25f, 0, h.data());
      double worst = 0, peak = 0;
      for (std::size_t n = 0; n < re.size(); ++n) {
        const std::size_t at = n * static_cast<std::size_t>(p);
        if (at >= h.size()) break;
        const double window = liquid_kaiser(static_cast<unsigned>(at), static_cast<unsigned>(h.size()), kKaiserBeta);
        const double wanted = std::sqrt(2.0) * std::abs(static_cast<double>(h[at])) * window;
        worst = std::max(worst, std::abs(std::hypot(re[n], im[n]) - wanted));
        peak = std::max(peak, wanted);
      }
      EXPECT_LT(worst / peak, 3e-5) << symbol_rate_hz(rate) << " symbols/s";
    }
  }
}

}  // namespace
}  // namespace offhook::v34
