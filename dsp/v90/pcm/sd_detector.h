// SPDX-License-Identifier: MIT
//
// Finds Sd (8.4.4) and its transition to Sd-bar, at two samples per symbol, before anything is known about the
// line.
//
// Sd repeats every six symbols, its second half the first with its sign changed: lines at 1333 and 4000 Hz, of which a
// line passes little of the second. Groups of twelve samples give the first. During Sd it agrees from group to group
// and holds most of the power, and its turn from group to group is the difference of the clocks. Sd-bar is Sd with its
// sign changed.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"

namespace offhook::v90 {

class SdDetector {
 public:
  static constexpr int kGroup = 12;  ///< T/2 samples: six symbols

  void reset() { *this = {}; }
  /// One T/2 sample. @return true for the one that was sure of Sd-bar.  Real-time: yes, O(1).
  bool put(float u);
  bool in_sd() const { return in_sd_; }
  /// When put() returned true: T/2 samples since the sign changed, to about two.
  int age() const { return age_; }
  /// The same: by how much the far symbol clock is faster than ours, relative; good to 1e-5.
  double clock() const { return clock_; }

 private:
  static constexpr int kRing = 64;
  static constexpr int kCertain = 12;  // groups
  Complex at(int age) const { return ring_[(newest_ + kRing - age) % kRing]; }
  bool group(Complex line, float power);
  void finish();

  int samples_ = 0;
  Complex line_{};
  float power_ = 0;
  Complex ring_[kRing]{};
  int newest_ = 0;
  int steady_ = 0;  // groups of Sd in a row
  bool in_sd_ = false;
  int against_ = 0;
  Complex mean_{};
  int age_ = 0;
  double clock_ = 0;
};

}  // namespace offhook::v90
