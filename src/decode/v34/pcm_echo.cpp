// SPDX-License-Identifier: MIT
#include "src/decode/v34/pcm_echo.h"

#include <algorithm>
#include <cmath>

#include "src/decode/line/least_squares.h"
#include "src/decode/line/samples.h"

namespace offhook::decode {
namespace {

constexpr long kEarly = 200, kLate = 2000;  // samples, of the strongest reflection
constexpr long kBefore = 48;                // taps before it
constexpr long kMostRows = kRateHz;         // of the training: it may last several seconds
constexpr double kRowsATap = 4;
constexpr double kWorthwhileDb = 3;

}  // namespace

PcmEcho::PcmEcho(std::span<const std::int16_t> wide, std::span<const float> other, double from_s, double to_s)
    : other_(other) {
  const auto from = static_cast<long>(std::max(0.0, from_s) * kRateHz);
  const long end = std::min(static_cast<long>(to_s * kRateHz), static_cast<long>(wide.size() / 2));
  const long to = std::min(end, from + kMostRows);
  if (other.empty() || static_cast<double>(to - from) < kRowsATap * kTaps) return;
  find_lag(wide, from, to);
  if (!learn(wide, from, to)) taps_ = {};
}

void PcmEcho::find_lag(std::span<const std::int16_t> wide, long from, long to) {
  double most = 0;
  long best = 0;
  for (long lag = -kEarly; lag < kLate; ++lag) {
    double sum = 0;
    for (long t = from; t < to; ++t) sum += static_cast<double>(wide[static_cast<std::size_t>(2 * t)]) * other(t - lag);
    if (std::abs(sum) > most) most = std::abs(sum), best = lag;
  }
  lag_ = best - kBefore;
}

// @return whether it is worthwhile
bool PcmEcho::learn(std::span<const std::int16_t> wide, long from, long to) {
  constexpr std::size_t n = kTaps;
  std::vector<double> a(n * n), b[2] = {std::vector<double>(n), std::vector<double>(n)}, x(n);
  double energy = 0;
  for (long t = from; t < to; ++t) {
    for (std::size_t k = 0; k < n; ++k) x[k] = other(t - lag_ - static_cast<long>(k));
    for (std::size_t r = 0; r < n; ++r) {
      double* const row = &a[r * n];
      for (std::size_t k = 0; k <= r; ++k) row[k] += x[r] * x[k];
    }
    for (std::size_t odd = 0; odd < 2; ++odd) {
      const double y = wide[static_cast<std::size_t>(2 * t) + odd];
      energy += y * y;
      for (std::size_t r = 0; r < n; ++r) b[odd][r] += y * x[r];
    }
  }
  double trace = 0, explained = 0;
  for (std::size_t r = 0; r < n; ++r) trace += a[r * n + r];
  for (std::size_t r = 0; r < n; ++r) a[r * n + r] += 1e-7 * trace / static_cast<double>(n) + 1e-9;
  for (std::size_t odd = 0; odd < 2; ++odd) {
    std::vector<double> lower = a, w = b[odd];
    solve_positive_definite(lower, w);
    for (std::size_t r = 0; r < n; ++r) explained += w[r] * b[odd][r];
    taps_[odd].assign(w.begin(), w.end());
  }
  return 10 * std::log10(energy / std::max(energy - explained, 1e-9 * energy + 1e-9)) > kWorthwhileDb;
}

float PcmEcho::at(std::size_t sample) const {
  const std::vector<float>& taps = taps_[sample % 2];
  const long t = static_cast<long>(sample / 2) - lag_;
  float sum = 0;
  for (std::size_t k = 0; k < taps.size(); ++k) sum += taps[k] * other(t - static_cast<long>(k));
  return sum;
}

}  // namespace offhook::decode
