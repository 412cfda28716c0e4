// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/least_squares.h"

#include "dsp/blocks/preemption_point.h"

namespace offhook::v90 {

void LeastSquares::begin(const float* samples, int apart, const float* decided, const float* wanted, const float* taps,
                         int steps) {
  samples_ = samples;
  apart_ = apart;
  decided_ = decided;
  wanted_ = wanted;
  for (int k = 0; k < kTaps; ++k) {
    c_[k] = taps == nullptr ? 0 : taps[k];
    s_[k] = t_[k] = p_[k] = 0;
  }
  first_ = true;
  left_ = steps + 1;
  row_ = 0;
}

void LeastSquares::begin_step() {
  float gradient = 0;
  for (const float s : s_) gradient += s * s;
  const float ratio = first_ || gradient_ <= 0 ? 0 : gradient / gradient_;
  for (int k = 0; k < kTaps; ++k) {
    p_[k] = s_[k] + ratio * p_[k];
    t_[k] = 0;
  }
  gradient_ = gradient;
  image_ = 0;
  first_ = false;
  row_ = 0;
}

bool LeastSquares::work(const Kernels& kernels, float* taps) {
  oh_preemption_point();
  const float* direction = first_ ? c_ : p_;
  for (int n = 0; n < kRowsASymbol && row_ < kRows; ++n, ++row_) {
    const float* x = samples_ + apart_ * row_;
    const float* d = decided_ == nullptr ? nullptr : decided_ + row_;
    float q = kernels.dot(direction, x, kForward);
    if (d != nullptr) q += kernels.dot(direction + kForward, d, kFeedback);
    if (first_) {
      q = wanted_[row_] - q;
    } else {
      image_ += static_cast<double>(q) * static_cast<double>(q);
    }
    float* sum = first_ ? s_ : t_;
    kernels.accumulate(sum, x, q, kForward);
    if (d != nullptr) kernels.accumulate(sum + kForward, d, q, kFeedback);
  }
  if (row_ < kRows) return false;
  --left_;
  if (!first_) {
    const float a = image_ > 0 ? static_cast<float>(static_cast<double>(gradient_) / image_) : 0;
    for (int k = 0; k < kTaps; ++k) {
      c_[k] += a * p_[k];
      s_[k] -= a * t_[k];
    }
  }
  begin_step();
  if (left_ > 0) return false;
  for (int k = 0; k < (decided_ == nullptr ? kForward : kTaps); ++k) taps[k] = c_[k];
  return true;
}

}  // namespace offhook::v90
