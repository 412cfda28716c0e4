// SPDX-License-Identifier: MIT
//
// How much of the noise can be foretold from the three symbols before: the whitening filter 1 + h1 z^-1 + h2 z^-2 +
// h3 z^-3 whose coefficients MP type 1 asks the far precoder for (9.6.2).
#pragma once

#include "dsp/blocks/complex.h"
#include "dsp/v34/coding/precoder.h"

namespace offhook::v34 {

class NoisePredictor {
 public:
  static constexpr int kOrder = 3;

  void reset() { *this = {}; }
  /// Error of the next symbol, relative to symbols of unit mean power.  Real-time: yes, O(1).
  void put(Complex error);
  int count() const { return count_; }

  /// Mean |error|^2.
  float power() const { return r_[0].re; }
  /// The filter that leaves least of it, rounded as MP sends it. Real-time: yes, O(1).  Source: Levinson's recursion.
  /// @param[out] remaining  the mean |error|^2 after it, if not null
  PrecoderCoefficients solve(float* remaining) const;
  /// The ratio of symbols to noise that is to be had. @param[out] h  of the precoder that this takes; zero where it
  /// gains less than it costs.  Real-time: yes, O(1).
  float snr(PrecoderCoefficients* h) const;

 private:
  Complex last_[kOrder]{};
  Complex r_[kOrder + 1]{};  // correlation of an error with that of k symbols before
  int count_ = 0;
};

}  // namespace offhook::v34
