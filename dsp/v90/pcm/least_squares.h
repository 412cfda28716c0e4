// SPDX-License-Identifier: MIT
//
// Least squares for the equaliser of the PCM receiver, and for its echo canceller: as dsp/qam/equaliser_fit.h, for real
// numbers, and with the feedback part in the same problem. A row is a window of samples and, after it, the earlier
// decisions.
//
// The problem's rows are windows of two stored streams, so nothing but the streams is stored.
//
// Source: Hestenes, Stiefel 1952 (CGLS).
#pragma once

#include <stdint.h>

#include "dsp/blocks/kernels.h"

namespace offhook::v90 {

class LeastSquares {
 public:
  static constexpr int kForward = 128;   ///< samples
  static constexpr int kFeedback = 128;  ///< decided symbols
  static constexpr int kTaps = kForward + kFeedback;
  static constexpr int kRows = 1792;  ///< with the samples before and after, fewer symbols than the least TRN1d has
  static constexpr int kRowsASymbol = 16;

  bool idle() const { return left_ == 0; }
  void reset() { left_ = 0; }
  /// Row k is samples[apart k .. apart k + kForward), decided[k .. k + kFeedback) and its result wanted[k]. The streams
  /// must not change until it is done.
  /// @param[in] samples  [apart * (kRows - 1) + kForward]  @param apart  samples from row to row
  /// @param[in] decided  [kRows - 1 + kFeedback]; null: none, and of the taps kForward
  /// @param[in] wanted  [kRows]  @param[in] taps  [kTaps] initial values; null: zero  @param steps  of the iteration
  void begin(const float* samples, int apart, const float* decided, const float* wanted, const float* taps, int steps);
  /// The work of one symbol. @param[out] taps  [kTaps] or [kForward] written when it returns true: done
  /// Real-time: yes, O(kRowsASymbol * kTaps).
  bool work(const Kernels& kernels, float* taps);

 private:
  void begin_step();

  const float* samples_ = nullptr;
  int apart_ = 2;
  const float* decided_ = nullptr;
  const float* wanted_ = nullptr;
  bool first_ = false;  // the pass that makes the gradient
  int left_ = 0;        // passes
  int row_ = 0;
  float gradient_ = 0;  // |s|^2
  double image_ = 0;    // |q|^2
  float c_[kTaps]{}, s_[kTaps]{}, p_[kTaps]{}, t_[kTaps]{};
};

}  // namespace offhook::v90
