// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/timebase.h"

#include "dsp/blocks/preemption_point.h"
#include "dsp/blocks/sincos.h"
#include "dsp/blocks/window.h"

namespace offhook::v90 {

void Timebase::init(const Kernels& kernels) {
  kernels_ = &kernels;
  constexpr double kBeta = 8;  // 80 dB
  for (int phase = 0; phase <= kPhases; ++phase) {
    oh_preemption_point();
    // An output `phase` phases before the newest sample but kTaps / 2 - 1 more.
    double sum = 0;
    for (int k = 0; k < kTaps; ++k) {
      constexpr int kMiddle = kTaps / 2;
      const double t = k - kMiddle + static_cast<double>(phase) / kPhases;  // of tap k, in time order
      const double turns = t / 2;
      const double sinc = t == 0 ? 1 : sincos_turns(turns).sin / (turns * 2 * kPi);
      const double tap = sinc * kaiser(t / (kTaps / 2.), kBeta);
      taps_[phase][k] = static_cast<float>(tap);
      sum += tap;
    }
    for (float& tap : taps_[phase]) tap = static_cast<float>(tap / sum);
  }
}

bool Timebase::next(float* out) {
  if (until_ > 0) return false;
  const float position = static_cast<float>(-until_) * (kPhases / 4294967296.0f);  // how long ago, in phases
  until_ += step_;
  int phase = static_cast<int>(position);
  if (phase >= kPhases) phase = kPhases - 1;
  const float fraction = position - static_cast<float>(phase);
  const float* x = history_ + at_ + 1;
  const auto [a, b] = kernels_->dot_pair(taps_[phase], taps_[phase + 1], x, kTaps, history_[at_]);
  *out = a + fraction * (b - a);
  return true;
}

}  // namespace offhook::v90
