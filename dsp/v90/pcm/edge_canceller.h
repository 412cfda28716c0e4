// SPDX-License-Identifier: MIT
//
// Cancels, in the data upstream of V.92, a disturbance that the symbols themselves cause near 4000 Hz. The converters
// of modem and exchange leave an image of that end of the band. If their clocks differ, the phase of the image turns
// once for each sample that one clock is ahead: at 100 ppm, 0.8 times a second. No fixed channel contains it, and the
// filter of the reader is too slow for a part of the band with so little power.
//
//   points --> precoder's x(n) --> times (-1)^n --> lowpass --+--> taps, 8 symbols apart --> (-1)^n --> (-) from level
//                                                                                                        kDelay ago
// The image has the frequencies of the part that it mirrors, so a few real taps behind the lowpass describe it, and LMS
// follows them within 25 ms. Points that are decided without the trellis code are good enough: one in a hundred is
// wrong, and the image is 45 dB or more below the signal.
//
// Source: Gersho, Lim 1981 (cancellation of intersymbol interference by decisions on both sides of the symbol).
#pragma once

#include "dsp/blocks/history.h"
#include "dsp/blocks/kernels.h"
#include "dsp/v90/coding/upstream.h"

namespace offhook::v90 {

class EdgeCanceller {
 public:
  static constexpr int kLowpass = 32;  ///< taps: 250 Hz wide, 6 dB down there
  static constexpr int kApart = 8;     ///< symbols
  static constexpr int kTaps = 10;
  /// Symbols from a level to its result.
  static constexpr int kDelay = ((kTaps - 1) * kApart + kLowpass) / 2;

  EdgeCanceller() = default;
  /// @param cpd  its p1 is the precoder; the design has no z1 (upstream_design.h)
  explicit EdgeCanceller(const Cpd& cpd, const Kernels& kernels = best_kernels());
  /// @param point  the nearest to this level  @param[out] cleared  the level kDelay symbols ago without the image
  /// @return whether there was one.  Real-time: yes, O(taps).
  bool put(float level, float point, float* cleared);
  /// The cleared level less its point. @param weight  1 for a level with the least noise, less for others
  void adapt(float error, float weight);

 private:
  const Kernels* kernels_ = nullptr;
  int precoder_taps_ = 0;
  float precoder_[kMostFilterTaps]{}, lowpass_[kLowpass]{};
  FilterHistory x_;
  History<kLowpass> alternated_;
  History<kTaps> edge_[kApart];  // the lowpass's results, those of a tap next to each other
  int turn_ = 0;
  float sign_ = 1, power_ = 1;
  float taps_[kTaps]{};
  float levels_[kDelay]{};
  int levels_at_ = 0, waiting_ = kDelay;
};

}  // namespace offhook::v90
