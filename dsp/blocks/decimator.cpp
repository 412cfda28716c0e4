// SPDX-License-Identifier: MIT
#include "dsp/blocks/decimator.h"

#include "dsp/blocks/sincos.h"
#include "dsp/blocks/window.h"

namespace offhook {

void Decimator::init(const Kernels& kernels) {
  kernels_ = &kernels;
  double sum = 0;
  for (int k = 0; k < kTaps; ++k) {
    const double t = k - (kTaps - 1) / 2.;
    const double sinc = sincos_turns(t / 4).sin / (t * kPi / 2);
    const double tap = sinc * kaiser(t / (kTaps / 2.), 6);
    taps_[k] = static_cast<float>(tap);
    sum += tap;
  }
  for (float& tap : taps_) tap = static_cast<float>(tap / sum);
}

float Decimator::put(float first, float second) {
  const float both[] = {first, second};
  for (const float x : both) {
    at_ = at_ + 1 == kTaps ? 0 : at_ + 1;
    history_[at_] = history_[at_ + kTaps] = x;
  }
  return kernels_->dot(taps_, history_ + at_ + 1, kTaps);
}

}  // namespace offhook
