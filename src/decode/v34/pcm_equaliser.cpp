// SPDX-License-Identifier: MIT
#include "src/decode/v34/pcm_equaliser.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/decode/line/least_squares.h"

namespace offhook::decode {

void PcmEqualiser::gather(long t, double* x) const {
  constexpr double kConstant = 1000;  // as strong as a signal
  *x++ = kConstant;
  for (long k = 0; k < own_taps_; ++k) x[k] = sample(own_, t + k - own_taps_ / 2);
  if (echo_lag_ < 0) return;
  for (long k = 0; k < kEchoTaps; ++k) x[own_taps_ + k] = sample(other_, t - echo_lag_ - k);
}

double PcmEqualiser::fit(long first, std::span<const float> levels, std::span<const char> trusted) {
  constexpr double kLeastRows = 1.5;  // for each tap
  const std::size_t n = taps();
  std::vector<double> a(n * n), b(n), x(n);
  double energy = 0;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (!trusted.empty() && trusted[i] == 0) continue;
    gather(first + static_cast<long>(i), x.data());
    const double d = levels[i];
    energy += d * d;
    ++rows;
    for (std::size_t r = 0; r < n; ++r) {
      const double v = x[r];
      b[r] += v * d;
      double* const row = &a[r * n];
      for (std::size_t k = 0; k <= r; ++k) row[k] += v * x[k];
    }
  }
  if (static_cast<double>(rows) < kLeastRows * static_cast<double>(n) || energy <= 0) return 1;
  double trace = 0;
  for (std::size_t r = 0; r < n; ++r) trace += a[r * n + r];
  for (std::size_t r = 0; r < n; ++r) a[r * n + r] += 1e-8 * trace / static_cast<double>(n) + 1e-9;
  std::vector<double> w = b;
  solve_positive_definite(a, w);
  double explained = 0;
  for (std::size_t r = 0; r < n; ++r) explained += w[r] * b[r];
  w_ = std::move(w);
  const double left = std::max(0.0, 1 - explained / energy);
  return left * static_cast<double>(rows) / static_cast<double>(rows - n);
}

void PcmEqualiser::find_echo(long first, std::span<const float> levels) {
  constexpr long kEarly = 40, kLate = 2000;  // samples
  constexpr double kOverChance = 30;         // of the best lag; chance alone gives 12 or so
  if (other_.empty()) return;
  std::vector<float> left(levels.size());
  double all = 1e-12;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    left[i] = levels[i] - at(first + static_cast<long>(i));
    all += left[i] * left[i];
  }
  long best_lag = 0;
  double best = 0;
  for (long lag = -kEarly; lag < kLate; ++lag) {
    double c = 0, energy = 1e-9;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const double u = sample(other_, first + static_cast<long>(i) - lag);
      c += left[i] * u;
      energy += u * u;
    }
    if (const double share = c * c / energy / all; share > best) best = share, best_lag = lag;
  }
  if (best * static_cast<double>(left.size()) < kOverChance) return;
  echo_lag_ = std::max(0L, best_lag - kEchoTaps / 4);
  w_.resize(taps(), 0.0);
}

float PcmEqualiser::at(long t) const {
  double x[1 + kTaps + kEchoTaps];
  gather(t, x);
  return static_cast<float>(std::inner_product(w_.begin(), w_.end(), x, 0.0));
}

}  // namespace offhook::decode
