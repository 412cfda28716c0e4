// SPDX-License-Identifier: MIT
//
// Complex baseband at any sampling instant from real samples of 8000 Hz: the front end of a receiver whose timing loop
// moves the instants.
//
// Each sample is mixed down by the carrier. A polyphase lowpass of 64 taps in 64 phases, with linear interpolation
// between the phases, gives the value at the requested instant. The lowpass ends where the signal's mirror image would
// begin: at the carrier frequency below and 4000 Hz less the carrier above. All receivers of a band share the filter of
// its owner, so that it stays in the caches when a thousand of them run in turn.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/kernels.h"
#include "dsp/blocks/nco.h"

namespace offhook {

class Interpolator {
 public:
  static constexpr int kTaps = 64;
  static constexpr int kPhases = 64;
  static constexpr int kDelaySamples = kTaps / 2 - 1;

  /// The polyphase lowpass; lowpass.h makes it.
  struct Lowpass {
    alignas(64) float tap[kPhases + 1][kTaps];
  };

  Interpolator() = default;
  /// @param step_samples  between two outputs, at least 1  @param lowpass  kept  Real-time: yes.
  void init(double carrier_hz, double step_samples, const Lowpass& lowpass, const Kernels& kernels);

  /// @return whether an output falls between the previous sample and `x` (kDelaySamples late). Real-time: yes,
  /// O(kTaps).
  bool put(float x, Complex* out) {
    const Complex w = unit_phasor(phase_);
    phase_ += phase_step_;
    at_ = at_ + 1 == kTaps ? 0 : at_ + 1;
    const Complex newest{x * w.re, -x * w.im};
    re_[at_] = re_[at_ + kTaps] = newest.re;
    im_[at_] = im_[at_ + kTaps] = newest.im;
    until_ -= kOne;
    if (until_ > 0) return false;
    const float position = static_cast<float>(-until_) * (kPhases / 4294967296.0f);  // its age, in phases
    until_ += step_;
    int phase = static_cast<int>(position);
    if (phase >= kPhases) phase = kPhases - 1;
    *out = kernels_->interpolate(lowpass_->tap[phase], lowpass_->tap[phase + 1], position - static_cast<float>(phase),
                                 re_ + at_ + 1, im_ + at_ + 1, kTaps, newest);
    return true;
  }

  /// Skips `n` samples that were lost. @return number of outputs that fell among them.  Real-time: yes, O(n).
  int skip(int n) {
    int outputs = 0;
    for (; n > 0; --n) {
      phase_ += phase_step_;
      until_ -= kOne;
      if (until_ > 0) continue;
      until_ += step_;
      ++outputs;
    }
    return outputs;
  }

  /// Skips a part of a sample that does not arrive. @param samples  |samples| < 1; negative: it arrived twice
  void skip_part(float samples) {
    phase_ += {static_cast<uint32_t>(static_cast<int64_t>(samples * static_cast<float>(phase_step_.bits)))};
    until_ -= static_cast<int64_t>(samples * 4294967296.0f);
  }

  /// Delays all outputs from the next one on. @param samples  above -1, at most 8
  void delay(float samples) { until_ += static_cast<int64_t>(samples * 4294967296.0f); }
  /// Sets the output spacing, as its ratio to the nominal spacing minus 1. @pre |deviation| < 0.01
  void set_deviation(double deviation) {
    step_ = nominal_step_ + static_cast<int64_t>(static_cast<double>(nominal_step_) * deviation);
  }
  /// Mixes with a frequency that is `hz` above the carrier.
  void set_offset_hz(double hz) { phase_step_ = nominal_phase_step_ + phase_of(hz * (1.0 / 8000)); }

 private:
  static constexpr int64_t kOne = int64_t{1} << 32;

  const Kernels* kernels_ = nullptr;
  const Lowpass* lowpass_ = nullptr;
  Phase phase_, phase_step_, nominal_phase_step_;
  int64_t until_ = kOne;  // samples of 2^-32 until the next output
  int64_t step_ = 2 * kOne;
  int64_t nominal_step_ = 2 * kOne;
  int at_ = 0;
  alignas(64) float re_[2 * kTaps]{};
  float im_[2 * kTaps]{};
};

}  // namespace offhook
