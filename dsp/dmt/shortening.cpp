// SPDX-License-Identifier: MIT
#include "dsp/dmt/shortening.h"

#include "dsp/blocks/preemption_point.h"

namespace offhook::dmt {
namespace {

constexpr int kIterations = 48;

/// A = L L', in place, in the lower half; rows of n. A direction without power gets a small one.
template <int kRow>
void factorise(double (*a)[kRow], int n) {
  for (int i = 0; i < n; ++i) {
    oh_preemption_point();
    for (int j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (int k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      if (i != j) {
        a[i][j] = sum / a[j][j];
      } else {
        a[i][i] = __builtin_sqrt(sum > 1e-300 ? sum : 1e-300);
      }
    }
  }
}

/// Solves L x = v in place.
template <int kRow>
void forward(const double (*l)[kRow], int n, double* v) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) v[i] -= l[i][k] * v[k];
    v[i] /= l[i][i];
  }
}

/// Solves L' x = v in place.
template <int kRow>
void backward(const double (*l)[kRow], int n, double* v) {
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) v[i] -= l[k][i] * v[k];
    v[i] /= l[i][i];
  }
}

}  // namespace

void Shortening::begin(const Complex* cross, const float* power) {
  for (double& c : cross_) c = 0;
  for (double& c : sent_) c = 0;
  double received[kTaps] = {};
  // Sums of cosines in double precision: the power outside the band may be 80 dB lower, and A must represent it.
  for (int k = 1; k < band_.tones(); ++k) {
    oh_preemption_point();
    const SinCos w = sincos_turns(static_cast<double>(k) / band_.points);
    const bool in_band = k >= band_.first && k <= band_.last;
    double c = 1, s = 0;
    for (int lag = 0; lag < kLags; ++lag) {
      const double re = static_cast<double>(cross[k].re) * c, im = static_cast<double>(cross[k].im) * s;
      cross_[kTaps + lag] += re - im;
      if (lag > 0 && lag < kTaps) cross_[kTaps - lag] += re + im;
      if (lag < kTaps) received[lag] += static_cast<double>(power[k]) * c;
      if (lag < target_ && in_band) sent_[lag] += c;
      const double next = c * w.cos - s * w.sin;
      s = s * w.cos + c * w.sin;
      c = next;
    }
  }
  sent_[0] *= 1 + ridge_;
  for (int i = 0; i < kTaps; ++i) {
    for (int j = 0; j <= i; ++j) factor_[i][j] = received[i - j];
    factor_[i][i] *= 1 + 1e-12;
  }
  factorise(factor_, kTaps);
  delay_ = best_delay_ = 0;
  best_ = 1;
}

// Inverse iteration: b <- (C - B' A^-1 B)^-1 C b, with b' C b = 1.  @return the share of the least error in the power
double Shortening::find_target(double* b) {
  double c[kMostTarget];
  for (int j = 0; j < target_; ++j) b[j] = 1.0 / (1 + j);
  double error = 1;
  for (int round = 0; round < kIterations; ++round) {
    oh_preemption_point();
    double power = 0;
    for (int i = 0; i < target_; ++i) {
      c[i] = 0;
      for (int j = 0; j < target_; ++j) c[i] += sent_[i > j ? i - j : j - i] * b[j];
      power += b[i] * c[i];
    }
    const double scale = 1 / __builtin_sqrt(power > 1e-300 ? power : 1e-300);
    for (int i = 0; i < target_; ++i) {
      b[i] *= scale;
      c[i] *= scale;
    }
    if (round + 1 == kIterations) break;
    double before[kMostTarget];
    for (int i = 0; i < target_; ++i) before[i] = c[i];
    forward(rest_, target_, c);
    backward(rest_, target_, c);
    // For C b = before and M c = before: the Rayleigh quotient of c.
    double mean = 0, norm = 0;
    for (int i = 0; i < target_; ++i) {
      mean += c[i] * before[i];
      double row = 0;
      for (int j = 0; j < target_; ++j) row += sent_[i > j ? i - j : j - i] * c[j];
      norm += c[i] * row;
    }
    error = norm > 0 ? mean / norm : 1;
    for (int i = 0; i < target_; ++i) b[i] = c[i];
  }
  return error;
}

bool Shortening::work() {
  for (int j = 0; j < target_; ++j) {
    oh_preemption_point();
    for (int i = 0; i < kTaps; ++i) half_[j][i] = cross_[kTaps + delay_ + j - i];
    forward(factor_, kTaps, half_[j]);
  }
  for (int i = 0; i < target_; ++i) {
    oh_preemption_point();
    for (int j = 0; j <= i; ++j) {
      double sum = sent_[i - j];
      for (int k = 0; k < kTaps; ++k) sum -= half_[i][k] * half_[j][k];
      rest_[i][j] = sum;
    }
  }
  factorise(rest_, target_);

  double b[kMostTarget];
  const double error = find_target(b);
  if (error < best_) {
    best_ = error;
    best_delay_ = delay_;
    double w[kTaps] = {};
    for (int j = 0; j < target_; ++j) {
      for (int i = 0; i < kTaps; ++i) w[i] += half_[j][i] * b[j];
      best_target_[j] = static_cast<float>(b[j]);
    }
    backward(factor_, kTaps, w);
    for (int i = 0; i < kTaps; ++i) best_taps_[i] = static_cast<float>(w[i]);
  }
  return ++delay_ == kTaps;
}

}  // namespace offhook::dmt
