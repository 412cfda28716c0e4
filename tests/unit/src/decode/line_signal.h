// SPDX-License-Identifier: MIT
//
// Symbols of our own encoders as a signal on a line, for the decoder's tests.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "dsp/v34/coding/framing.h"
#include "dsp/v34/coding/training.h"
#include "src/decode/line/baseband.h"
#include "src/decode/line/recording.h"

namespace offhook::decode {

/// Pulses of a raised cosine, roll-off 0.12; `ppm` is the sender's clock. The first symbol is kLead symbols late.
inline constexpr int kLead = 40;
inline std::vector<float> modulate(const std::vector<Cf>& symbols, v34::SymbolRate rate, v34::Carrier at, double ppm,
                                   double offset_hz) {
  constexpr double kPi = std::numbers::pi;
  const double step = kRateHz / (symbol_rate_hz(rate) * (1 + 1e-6 * ppm));
  const double carrier = carrier_hz(rate, at) * (1 + 1e-6 * ppm) + offset_hz;
  std::vector<Cf> base(static_cast<std::size_t>((static_cast<double>(symbols.size()) + 2 * kLead) * step));
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i] == Cf{}) continue;
    const double centre = (static_cast<double>(i) + kLead) * step;
    for (long n = static_cast<long>(centre - 24 * step); n <= static_cast<long>(centre + 24 * step); ++n) {
      const double t = (static_cast<double>(n) - centre) / step, b = 0.12;
      const double sinc = t == 0 ? 1 : std::sin(kPi * t) / (kPi * t);
      const double d = 1 - 4 * b * b * t * t;
      base[static_cast<std::size_t>(n)] +=
          symbols[i] * static_cast<float>(std::abs(d) < 1e-6 ? kPi / 4 * sinc : sinc * std::cos(kPi * b * t) / d);
    }
  }
  std::vector<float> x;
  for (std::size_t n = 0; n < base.size(); ++n) {
    x.push_back(2000 * (base[n] * Cf(std::polar(1.0, 2 * kPi * carrier * static_cast<double>(n) / kRateHz))).real());
  }
  return x;
}

inline Cf scaled(v34::Point p, float scale) {
  return {static_cast<float>(p.re) * scale, static_cast<float>(p.im) * scale};
}

}  // namespace offhook::decode
