// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/symbol_shaper.h"

#include "dsp/blocks/preemption_point.h"
#include "dsp/blocks/sincos.h"
#include "dsp/blocks/window.h"

namespace offhook::v90 {

void SymbolShaper::init(const Kernels& kernels) {
  kernels_ = &kernels;
  constexpr double kBeta = 5.65;  // 60 dB
  constexpr double kBand = 0.93;  // of 4000 Hz: the middle of the transition
  for (int phase = 0; phase <= kPhases; ++phase) {
    oh_preemption_point();
    double sum = 0;
    for (int k = 0; k < kTaps; ++k) {
      // Tap k weighs the symbol that is kTaps - 1 - k before the newest; the output is `phase` phases after the middle.
      const double t = k - (kTaps / 2 - 1) - static_cast<double>(phase) / kPhases;
      const double sinc = t == 0 ? 1 : sincos_turns(kBand * t / 2).sin / (kBand * t * kPi);
      const double inside = t / (kTaps / 2.);
      const double tap = inside * inside >= 1 ? 0 : sinc * kaiser(inside, kBeta);
      taps_[phase][k] = static_cast<float>(tap);
      sum += tap;
    }
    for (float& tap : taps_[phase]) tap = static_cast<float>(tap / sum);
  }
}

float SymbolShaper::sample() {
  double after = 1 - until_;  // the newest symbol
  if (after < 0) after = 0;
  const auto position = static_cast<float>(after * kPhases);
  int phase = static_cast<int>(position);
  if (phase >= kPhases) phase = kPhases - 1;
  const float fraction = position - static_cast<float>(phase);
  const float* x = history_ + at_ + 1;
  const auto [a, b] = kernels_->dot_pair(taps_[phase], taps_[phase + 1], x, kTaps, history_[at_]);
  float y = a + fraction * (b - a);
  constexpr float kDecay = 0.91f;  // exp(-2 pi 120 / 8000)
  for (Coupling& c : coupling_) {
    c.out = kDecay * (c.out + y - c.in);
    c.in = y;
    y = c.out;
  }
  return y;
}

}  // namespace offhook::v90
