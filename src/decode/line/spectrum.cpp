// SPDX-License-Identifier: MIT
#include "src/decode/line/spectrum.h"

#include <cmath>
#include <numbers>

namespace offhook::decode {

Cd spectrum_at(std::span<const float> x, double hz) {
  const Cd step = std::polar(1.0, -2 * std::numbers::pi * hz / kRateHz);
  Cd turn = 1, sum = 0;
  for (const float v : x) {
    sum += static_cast<double>(v) * turn;
    turn = times(turn, step);
  }
  return sum / static_cast<double>(x.size());
}

std::vector<float> hann(std::span<const float> x) {
  std::vector<float> y;
  const auto n = static_cast<double>(x.size());
  for (const float v : x) {
    const double at = static_cast<double>(y.size()) + 0.5;
    y.push_back(static_cast<float>(v * (1 - std::cos(2 * std::numbers::pi * at / n))));
  }
  return y;
}

}  // namespace offhook::decode
