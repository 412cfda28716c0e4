// SPDX-License-Identifier: MIT
//
// The lowpass of an interpolator, without libm, for tables made at compile time or at init.
#pragma once

#include "dsp/blocks/interpolator.h"
#include "dsp/blocks/sincos.h"
#include "dsp/blocks/window.h"

namespace offhook {

/// Half of a Kaiser window, in phases from its middle on.
struct LowpassWindow {
  static constexpr int kFarthest = Interpolator::kPhases * Interpolator::kTaps / 2;
  float at[kFarthest + 1]{};
  constexpr LowpassWindow() {
    constexpr double kBeta = 6;
    for (int k = 0; k <= kFarthest; ++k) at[k] = static_cast<float>(kaiser(static_cast<double>(k) / kFarthest, kBeta));
  }
};
inline constexpr LowpassWindow kLowpassWindow;

/// @param bandwidth_hz  to pass on each side of the carrier
constexpr Interpolator::Lowpass make_lowpass(double carrier_hz, double bandwidth_hz) {
  // Half the transition of the window is about 240 Hz; if there is not enough room, the corner is in the middle.
  double corner = bandwidth_hz + 240;
  if (corner > carrier_hz) corner = carrier_hz;
  if (corner > 4000 - carrier_hz) corner = 4000 - carrier_hz;
  const double turns = corner / 8000;  // a sample
  constexpr int kPhases = Interpolator::kPhases, kMiddle = LowpassWindow::kFarthest;
  Interpolator::Lowpass lowpass{};
  for (int distance = 0; distance <= kMiddle; ++distance) {  // distance from the middle, in phases
    const double t = static_cast<double>(distance) / kPhases;
    const double sinc = distance == 0 ? 2 * turns : sincos_turns(turns * t).sin / (kPi * t);
    const auto value = static_cast<float>(2 * sinc * kLowpassWindow.at[distance]);
    // Tap k is for the sample kTaps-1-k before the newest. The output is kDelaySamples and p phases before the newest.
    for (const int at : {kMiddle - distance, kMiddle + distance}) {
      const int p = at % kPhases, k = at / kPhases;
      if (at < 2 * kMiddle) lowpass.tap[p][k] = value;
      if (p == 0 && k > 0) lowpass.tap[kPhases][k - 1] = value;
    }
  }
  return lowpass;
}

}  // namespace offhook
