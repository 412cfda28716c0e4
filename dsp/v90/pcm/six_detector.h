// SPDX-License-Identifier: MIT
//
// Finds the signals of the upstream that repeat every six symbols, Ru and Su (V.92 8.5.5, 8.5.6): a tone of 1333 Hz,
// and its reversals.
#pragma once

#include <stdint.h>

namespace offhook::v90 {

class SixDetector {
 public:
  static constexpr int kReversalAge = 10;  ///< samples from a reversal to take_reversal()

  void reset() { *this = {}; }
  /// One sample at 8000 Hz.  Real-time: yes, O(1); one sample in kLong has O(kShort).
  void put(float x);
  /// The last kLong samples are such a signal.
  bool present() const { return present_; }
  /// Once for each reversal of a signal that was present.
  bool take_reversal() {
    const bool was = reversed_;
    reversed_ = false;
    return was;
  }

 private:
  static constexpr int kLong = 48, kShort = 12;
  /// A sample's share of the tone, and its energy; or the sum of several.
  struct Part {
    float re = 0, im = 0, energy = 0;
    void operator+=(const Part& p) { re += p.re, im += p.im, energy += p.energy; }
    void operator-=(const Part& p) { re -= p.re, im -= p.im, energy -= p.energy; }
  };
  Part part_[kLong];
  // Sums of the last kLong and kShort parts. They are added anew every kLong samples, so that rounding does not grow.
  Part long_, short_, since_;
  int at_ = 0, six_ = 0;
  bool present_ = false, reversed_ = false;
  float reference_re_ = 0, reference_im_ = 0;
  int known_ = 0;  // samples for which the reference is still valid
};

}  // namespace offhook::v90
