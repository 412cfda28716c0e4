// SPDX-License-Identifier: MIT
#include "src/decode/line/spectrum.h"

#include <cmath>
#include <numbers>

namespace offhook::decode {

Cd spectrum_at(std::span<const float> x, double hz) {
  // Four turns and sums side by side: each multiplication of a turn waits for the one before.
  constexpr std::size_t kAtOnce = 4;
  const double radians = -2 * std::numbers::pi * hz / kRateHz;
  const Cd step = std::polar(1.0, radians * kAtOnce);
  Cd turn[kAtOnce], sum[kAtOnce];
  for (std::size_t k = 0; k < kAtOnce; ++k) turn[k] = std::polar(1.0, radians * static_cast<double>(k));
  std::size_t at = 0;
  for (; at + kAtOnce <= x.size(); at += kAtOnce) {
    for (std::size_t k = 0; k < kAtOnce; ++k) {
      sum[k] += static_cast<double>(x[at + k]) * turn[k];
      turn[k] = times(turn[k], step);
    }
  }
  for (std::size_t k = 0; at + k < x.size(); ++k) sum[k] += static_cast<double>(x[at + k]) * turn[k];
  return (sum[0] + sum[1] + sum[2] + sum[3]) / static_cast<double>(x.size());
}

std::vector<float> hann(std::span<const float> x) {
  thread_local std::vector<double> window;  // the last: as a rule many of one length come
  if (window.size() != x.size()) {
    window.resize(x.size());
    for (std::size_t k = 0; k < window.size(); ++k) {
      const double at = (static_cast<double>(k) + 0.5) / static_cast<double>(x.size());
      window[k] = 1 - std::cos(2 * std::numbers::pi * at);
    }
  }
  std::vector<float> y(x.size());
  for (std::size_t k = 0; k < y.size(); ++k) y[k] = static_cast<float>(x[k] * window[k]);
  return y;
}

std::vector<std::pair<double, double>> find_tone_stretches(std::span<const float> x, double hz) {
  constexpr std::size_t kWindow = kRateHz / 50;
  constexpr double kAlone = 0.7;  // share of the power
  constexpr double kLeastPower = 25;
  constexpr double kShortest = 0.06;
  std::vector<std::pair<double, double>> all;
  double since = -1;
  const auto end = [&](double t) {
    if (since >= 0 && t - since >= kShortest) all.emplace_back(since, t);
    since = -1;
  };
  for (std::size_t at = 0; at + kWindow <= x.size(); at += kWindow / 2) {
    const auto window = x.subspan(at, kWindow);
    double power = 1e-9;
    for (const float v : window) power += static_cast<double>(v) * v / kWindow;
    const double t = seconds(at + kWindow / 2);
    if (power < kLeastPower || 2 * std::norm(spectrum_at(window, hz)) < kAlone * power) {
      end(t);
    } else if (since < 0) {
      since = t;
    }
  }
  end(seconds(x.size()));
  return all;
}

}  // namespace offhook::decode
