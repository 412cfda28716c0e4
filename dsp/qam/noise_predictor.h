// SPDX-License-Identifier: MIT
//
// Predicts the noise from the three previous symbols, by the whitening filter 1 + h1 z^-1 + h2 z^-2 + h3 z^-3, which a
// precoder at the far end compensates.
#pragma once

#include "dsp/blocks/complex.h"

namespace offhook::qam {

class NoisePredictor {
 public:
  static constexpr int kOrder = 3;

  void reset() { *this = {}; }
  /// The predicted error of the next symbol, relative to symbols of unit mean power.  Real-time: yes, O(1).
  void put(Complex error);
  int count() const { return count_; }

  /// Mean |error|^2.
  float power() const { return r_[0].re; }
  /// The filter that leaves the least noise.  Real-time: yes, O(1).  Source: Levinson's recursion.
  /// @param[out] h  [kOrder]  @return mean |error|^2 after the filter
  float solve(Complex* h) const;

 private:
  Complex last_[kOrder]{};
  Complex r_[kOrder + 1]{};  // correlation of an error with the error k symbols before
  int count_ = 0;
};

}  // namespace offhook::qam
