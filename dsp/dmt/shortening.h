// SPDX-License-Identifier: MIT
//
// The time-domain equaliser: a filter w that shortens the channel to the length of the cyclic prefix. It minimises the
// mean square of w * y - b * x(delay), with y received and x sent, over w, the delay, and a target b of the prefix's
// length, whose output has unit power.
//
// It only needs correlations, and takes them from averaged spectra of REVERB without prefix: a periodic signal has no
// intersymbol interference in its transform. With A = R_yy, B = R_yx and C = R_xx the target is the eigenvector of C -
// B' A^-1 B against C with the smallest eigenvalue, and w = A^-1 B b.
//
// Below and above the band nothing is sent, so the target could have any gain there. A target that is large there and
// small in the band fits well and performs badly. So the fit adds to the transmitted spectrum, at all frequencies,
// `ridge` times the power in the band.
//
// Source: Al-Dhahir, Cioffi 1996 (MMSE with unit energy)
#pragma once

#include "dsp/blocks/complex.h"
#include "dsp/dmt/tones.h"

namespace offhook::dmt {

class Shortening {
 public:
  static constexpr int kTaps = 32;        ///< of w
  static constexpr int kMostTarget = 32;  ///< of b

  /// @param target  taps of b  @param ridge  relative to the transmitted power
  Shortening(const Band& band, int target, double ridge) : band_(band), target_(target), ridge_(ridge) {}

  /// @param[in] cross  [tones] mean of Y conj(X); zero for tones that were not sent  @param[in] power  [tones] mean
  /// |Y|^2 Real-time: yes, O(tones (kTaps + target) + kTaps^3).
  void begin(const Complex* cross, const float* power);
  /// Tries one delay; delays from 0 to kTaps - 1, one per call. @return whether that was the last Real-time: yes,
  /// O(target kTaps^2).
  bool work();

  /// The best result so far.
  const float* taps() const { return best_taps_; }      ///< [kTaps], for the newest sample first
  const float* target() const { return best_target_; }  ///< [target]
  int delay() const { return best_delay_; }
  /// Mean square error relative to the power of the target's output.
  double error() const { return best_; }

 private:
  double find_target(double* b);

  static constexpr int kLags = kTaps + kMostTarget;

  const Band band_;
  const int target_;
  const double ridge_;
  int delay_ = 0;
  int best_delay_ = 0;
  double best_ = 0;
  double cross_[kTaps + kLags];  // E y[n] x[n - lag], for lag from -kTaps on
  double sent_[kMostTarget];     // E x[n] x[n - lag]
  double factor_[kTaps][kTaps];  // Cholesky's of A
  // For one delay. Members, because together they are larger than a kernel's stack.
  double half_[kMostTarget][kTaps];        // L^-1 B, one row for each tap of the target
  double rest_[kMostTarget][kMostTarget];  // C - B' A^-1 B, and its factor
  float best_taps_[kTaps]{}, best_target_[kMostTarget]{};
};

}  // namespace offhook::dmt
