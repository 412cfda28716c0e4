// SPDX-License-Identifier: MIT
//
// Least squares for the equaliser. The first estimate of the channel is wrong in a few directions, in which the
// received signal is weak: the edges of the band, and line echo that lasts longer than the training's period. LMS would
// take ten seconds there. Conjugate gradients on 1024 symbols find the same taps in a few steps. They process one row
// of the problem after the other, so that the work is spread evenly over another 1024 symbols.
//
//   q = X p, t = X* q: one row at a time; then a = |s|^2 / |q|^2, taps += a p, s -= a t, p = s + |s|^2 / |s before|^2 p
//
// Source: Hestenes, Stiefel 1952 (CGLS, with the residual's gradient s brought forward by t).
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/kernels.h"

namespace offhook::qam {

class EqualiserFit {
 public:
  static constexpr int kTaps = 96;
  static constexpr int kSymbols = 1024;
  static constexpr int kSteps = 6;
  static constexpr int kRowsASymbol = 8;

  bool idle() const { return stage_ == Stage::kIdle; }
  /// The number of consecutive symbols that are needed. After that, put() only counts.
  bool collecting() const { return stage_ == Stage::kCollect; }
  void reset() { stage_ = Stage::kIdle; }
  /// Begins with these taps, and with the symbol of the next put().
  void init(const float* tap_re, const float* tap_im);
  /// The symbol after the last one. @param[in] re, im  [kTaps] the T/2 samples of its window, two later than those of
  /// the previous symbol  @param wanted  the correct output of the taps
  /// @param[out] tap_re, tap_im  [kTaps] written when it returns true, which means that the fit is done. Real-time:
  /// yes, O(kTaps) or O(kRowsASymbol * kTaps).
  bool put(const Kernels& kernels, const float* re, const float* im, Complex wanted, float* tap_re, float* tap_im);

 private:
  enum class Stage : uint8_t { kIdle, kCollect, kSolve };
  void begin_step();

  Stage stage_ = Stage::kIdle;
  int row_ = 0;
  int step_ = 0;
  float gradient_ = 0;  // |s|^2
  float image_ = 0;     // |q|^2
  float c_re_[kTaps]{}, c_im_[kTaps]{};
  float s_re_[kTaps]{}, s_im_[kTaps]{};
  float p_re_[kTaps]{}, p_im_[kTaps]{};
  float t_re_[kTaps]{}, t_im_[kTaps]{};
  float x_re_[2 * kSymbols + kTaps]{}, x_im_[2 * kSymbols + kTaps]{};  // row k begins at 2k
};

}  // namespace offhook::qam
