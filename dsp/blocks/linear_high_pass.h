// SPDX-License-Identifier: MIT
//
// A high-pass of linear phase for receivers whose short equalisers cannot restore the delay of HighPass (high_pass.h).
// It removes DC and mains hum up to the fifth harmonic, and delays the signal by kDelaySamples. A windowed sinc of 127
// taps (Kaiser, 60 dB): at least 50 dB below 285 Hz, at most 0.1 dB from 515 Hz on.
#pragma once

#include "dsp/blocks/history.h"
#include "dsp/blocks/kernels.h"
#include "dsp/blocks/sincos.h"
#include "dsp/blocks/window.h"

namespace offhook {

/// Tap n of a high-pass of linear phase, -half to half: a sinc in a Kaiser window. The edge is wider for a larger
/// `beta` and a smaller `half`.  @param turns  the corner's turns per sample
constexpr double high_pass_tap(int n, int half, double turns, double beta) {
  const double low_pass = n == 0 ? 2 * turns : sincos_turns(turns * n).sin / (kPi * n);
  return ((n == 0 ? 1 : 0) - low_pass) * kaiser(static_cast<double>(n) / half, beta);
}

struct LinearHighPassDesign {
  static constexpr int kTaps = 128;   // the oldest is 0, because kernels take multiples of 16
  static constexpr int kMiddle = 64;  // 63 samples before the newest
  float tap[kTaps]{};

  constexpr LinearHighPassDesign() {
    constexpr double kTurns = 400. / 8000, kBeta = 5.65;  // the corner, a sample
    for (int n = 1 - kMiddle; n < kMiddle; ++n)
      tap[kMiddle + n] = static_cast<float>(high_pass_tap(n, kMiddle, kTurns, kBeta));
  }
};
inline constexpr LinearHighPassDesign kLinearHighPassDesign;

class LinearHighPass {
 public:
  static constexpr int kDelaySamples = 63;

  /// One sample of 8000 Hz. Real-time: yes, 128 multiplications.
  float process(float x) {
    history_.put(x);
    return kernels_->dot(kLinearHighPassDesign.tap, history_.oldest(), LinearHighPassDesign::kTaps);
  }

 private:
  const Kernels* kernels_ = &best_kernels();
  History<LinearHighPassDesign::kTaps> history_;
};

}  // namespace offhook
