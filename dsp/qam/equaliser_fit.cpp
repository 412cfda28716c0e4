// SPDX-License-Identifier: MIT
#include "dsp/qam/equaliser_fit.h"

namespace offhook::qam {
namespace {

constexpr int kTaps = EqualiserFit::kTaps;

float power(const Kernels& kernels, const float* re, const float* im) {
  return kernels.dot(re, re, kTaps) + kernels.dot(im, im, kTaps);
}

}  // namespace

void EqualiserFit::init(const float* tap_re, const float* tap_im) {
  stage_ = Stage::kCollect;
  row_ = 0;
  step_ = 0;
  for (int k = 0; k < kTaps; ++k) {
    c_re_[k] = tap_re[k];
    c_im_[k] = tap_im[k];
    s_re_[k] = s_im_[k] = 0;
  }
}

bool EqualiserFit::put(const Kernels& kernels, const float* re, const float* im, Complex wanted, float* tap_re,
                       float* tap_im) {
  if (stage_ == Stage::kIdle) return false;
  if (stage_ == Stage::kCollect) {
    const Complex y = kernels.complex_dot(c_re_, c_im_, re, im, kTaps);
    kernels.complex_adapt(s_re_, s_im_, re, im, wanted - y, kTaps);
    for (int k = row_ == 0 ? 0 : kTaps - 2; k < kTaps; ++k) {
      x_re_[2 * row_ + k] = re[k];
      x_im_[2 * row_ + k] = im[k];
    }
    if (++row_ < kSymbols) return false;
    for (int k = 0; k < kTaps; ++k) {
      p_re_[k] = s_re_[k];
      p_im_[k] = s_im_[k];
    }
    gradient_ = power(kernels, s_re_, s_im_);
    begin_step();
    return false;
  }

  for (int k = 0; k < kRowsASymbol; ++k, ++row_) {
    const float* x_re = x_re_ + 2 * row_;
    const float* x_im = x_im_ + 2 * row_;
    const Complex q = kernels.complex_dot(p_re_, p_im_, x_re, x_im, kTaps);
    image_ += norm(q);
    kernels.complex_adapt(t_re_, t_im_, x_re, x_im, q, kTaps);
  }
  if (row_ < kSymbols) return false;
  const float a = image_ > 0 ? gradient_ / image_ : 0;
  kernels.accumulate(c_re_, p_re_, a, kTaps);
  kernels.accumulate(c_im_, p_im_, a, kTaps);
  kernels.accumulate(s_re_, t_re_, -a, kTaps);
  kernels.accumulate(s_im_, t_im_, -a, kTaps);
  const float before = gradient_;
  gradient_ = power(kernels, s_re_, s_im_);
  const float b = before > 0 ? gradient_ / before : 0;
  for (int k = 0; k < kTaps; ++k) {
    p_re_[k] = s_re_[k] + b * p_re_[k];
    p_im_[k] = s_im_[k] + b * p_im_[k];
  }
  if (++step_ < kSteps) {
    begin_step();
    return false;
  }
  stage_ = Stage::kIdle;
  for (int k = 0; k < kTaps; ++k) {
    tap_re[k] = c_re_[k];
    tap_im[k] = c_im_[k];
  }
  return true;
}

void EqualiserFit::begin_step() {
  stage_ = Stage::kSolve;
  row_ = 0;
  image_ = 0;
  for (int k = 0; k < kTaps; ++k) t_re_[k] = t_im_[k] = 0;
}

}  // namespace offhook::qam
