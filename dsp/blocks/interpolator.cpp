// SPDX-License-Identifier: MIT
#include "dsp/blocks/interpolator.h"

#include "dsp/blocks/preemption_point.h"
#include "dsp/blocks/renew.h"
#include "dsp/blocks/window.h"

namespace offhook {
namespace {

struct Window {
  float at[Interpolator::kPhases * Interpolator::kTaps / 2 + 1];  // from the middle on
};

constexpr Window make_window() {
  Window w{};
  constexpr int kSize = Interpolator::kPhases * Interpolator::kTaps / 2;
  for (int k = 0; k <= kSize; ++k) w.at[k] = static_cast<float>(kaiser(static_cast<double>(k) / kSize, 6));
  return w;
}
constexpr Window kWindow = make_window();

}  // namespace

void Interpolator::init(double carrier_hz, double step_samples, double bandwidth_hz, const Kernels& kernels) {
  renew(*this);
  kernels_ = &kernels;
  phase_step_ = nominal_phase_step_ = phase_of(carrier_hz / 8000);
  step_ = nominal_step_ = static_cast<int64_t>(step_samples * 4294967296.0 + 0.5);

  // Half the transition of this window is about 240 Hz; where there is no room for it, the corner lies in the middle.
  double corner = bandwidth_hz + 240;
  if (corner > carrier_hz) corner = carrier_hz;
  if (corner > 4000 - carrier_hz) corner = 4000 - carrier_hz;
  turns_ = corner / 8000;
}

void Interpolator::fill(int p) {
  oh_preemption_point();  // the first samples of a table need several phases each
  for (int k = 0; k < kTaps; ++k) {
    // Tap k meets the sample kTaps-1-k before the newest; the output lies kDelaySamples and p phases before that one.
    const int at = (k - kTaps / 2) * kPhases + p;
    const int distance = at < 0 ? -at : at;
    const double t = static_cast<double>(distance) / kPhases;
    const double sinc = distance == 0 ? 2 * turns_ : sincos_turns(turns_ * t).sin / (kPi * t);
    taps_[p][k] = static_cast<float>(2 * sinc * kWindow.at[distance]);
  }
}

}  // namespace offhook
