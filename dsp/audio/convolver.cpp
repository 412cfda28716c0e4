// SPDX-License-Identifier: MIT
#include "dsp/audio/convolver.h"

#include "dsp/blocks/preemption_point.h"
#include "dsp/blocks/real_fft.h"

namespace offhook::audio {
namespace {

// Spectra between two preemption points: about 4 us of products.
constexpr int kTonesAtOnce = 8192;

/// sum[k] += a[k] b[k]; element 0 is two real tones.
void add_products(float* __restrict sum_re, float* __restrict sum_im, const float* __restrict a_re,
                  const float* __restrict a_im, const float* __restrict b_re, const float* __restrict b_im, int n) {
  const float whole = sum_re[0] + a_re[0] * b_re[0], half = sum_im[0] + a_im[0] * b_im[0];
  for (int k = 0; k < n; ++k) {
    sum_re[k] += a_re[k] * b_re[k] - a_im[k] * b_im[k];
    sum_im[k] += a_re[k] * b_im[k] + a_im[k] * b_re[k];
  }
  sum_re[0] = whole;
  sum_im[0] = half;
}

}  // namespace

Convolver::Convolver(int partition, const float* taps, int n, const oh_fft_ops& ops)
    : ops_(ops), size_(partition), partitions_((n + partition - 1) / partition) {
  for (int k = 0; k < size_; ++k) {
    const SinCos w = sincos_turns(0.5 * k / size_);
    turn_[k] = {static_cast<float>(w.cos), static_cast<float>(w.sin)};
  }
  ops_.init(memory_, static_cast<size_t>(size_));
  for (int p = 0; p < partitions_; ++p) {
    oh_preemption_point();
    for (int k = 0; k < 2 * size_; ++k) {
      const int tap = p * size_ + k;
      frame_[k] = k < size_ && tap < n ? taps[tap] : 0;
    }
    transform(filter_re_ + p * size_, filter_im_ + p * size_);
  }
}

void Convolver::transform(float* re, float* im) {
  for (int k = 0; k < size_; ++k) points_[k] = {frame_[2 * k], frame_[2 * k + 1]};
  ops_.forward(memory_, points_, points_);
  re[0] = points_[0].re + points_[0].im;
  im[0] = points_[0].re - points_[0].im;
  for (int k = 1; k <= size_ / 2; ++k) {
    Complex low, high;
    tones_of_points(points_[k], points_[size_ - k], turn_[k], &low, &high);
    re[k] = low.re, im[k] = low.im;
    re[size_ - k] = high.re, im[size_ - k] = high.im;
  }
}

void Convolver::undo(const float* re, const float* im) {
  const float scale = 0.5f / static_cast<float>(size_);
  points_[0] = {scale * (re[0] + im[0]), scale * (im[0] - re[0])};
  for (int k = 1; k <= size_ / 2; ++k) {
    const Complex a{scale * re[k], scale * im[k]}, b{scale * re[size_ - k], -scale * im[size_ - k]};
    points_of_tones(a, b, turn_[k], &points_[k], &points_[size_ - k]);
  }
  ops_.forward(memory_, points_, points_);
  for (int k = 0; k < size_; ++k) {
    frame_[2 * k] = points_[k].re;
    frame_[2 * k + 1] = -points_[k].im;
  }
}

void Convolver::multiply() {
  for (int k = 0; k < size_; ++k) sum_re_[k] = sum_im_[k] = 0;
  int tones = 0;
  for (int p = 0, at = newest_; p < partitions_; ++p, at = at + 1 == partitions_ ? 0 : at + 1) {
    add_products(sum_re_, sum_im_, filter_re_ + p * size_, filter_im_ + p * size_, past_re_ + at * size_,
                 past_im_ + at * size_, size_);
    tones += size_;
    if (tones < kTonesAtOnce) continue;
    tones = 0;
    oh_preemption_point();
  }
}

void Convolver::process(const float* x, float* y) {
  for (int k = 0; k < size_; ++k) {
    frame_[k] = before_[k];
    frame_[size_ + k] = before_[k] = x[k];
  }
  newest_ = newest_ == 0 ? partitions_ - 1 : newest_ - 1;
  transform(past_re_ + newest_ * size_, past_im_ + newest_ * size_);
  oh_preemption_point();
  multiply();
  oh_preemption_point();
  undo(sum_re_, sum_im_);
  for (int k = 0; k < size_; ++k) y[k] = frame_[size_ + k];
}

}  // namespace offhook::audio
