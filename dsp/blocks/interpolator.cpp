// SPDX-License-Identifier: MIT
#include "dsp/blocks/interpolator.h"

#include "dsp/blocks/renew.h"

namespace offhook {

void Interpolator::init(double carrier_hz, double step_samples, const Lowpass& lowpass, const Kernels& kernels) {
  renew(*this);
  kernels_ = &kernels;
  lowpass_ = &lowpass;
  phase_step_ = nominal_phase_step_ = phase_of(carrier_hz / 8000);
  step_ = nominal_step_ = static_cast<int64_t>(step_samples * 4294967296.0 + 0.5);
}

}  // namespace offhook
