// SPDX-License-Identifier: MIT
//
// Converts real samples at 8000 Hz to complex samples at 4800 Hz of the band around a centre frequency: mixed down,
// filtered and resampled by 3/5 in one polyphase FIR. A bit has 16 samples at 300 bit/s and 8 at 600 bit/s, so the
// receivers of V.21 and of the INFO sequences count whole samples.
#pragma once

#include "dsp/blocks/instruction_set.h"
#include "dsp/blocks/oscillator.h"
#include "dsp/blocks/preemption_point.h"

namespace offhook {

/// @tparam kTaps  FIR taps at 8000 Hz, a multiple of 8
template <int kTaps>
class Downconverter {
 public:
  static constexpr int kPrototypeTaps = 3 * kTaps;  ///< at 24 000 Hz
  /// Delay from input to output of the middle of a pulse, in input samples.
  static constexpr float kDelaySamples = (kPrototypeTaps - 1) / 6.f;

  /// For init.  @param centre_hz  multiple of 5  @param prototype  FIR as a function of its tap 0..kPrototypeTaps-1 at
  /// 24 000 Hz; scaled here so that a tone in the middle of the band has its peak amplitude at the output.
  template <class Prototype>
  Downconverter(int centre_hz, Prototype&& prototype) : mixer_(centre_hz) {
    double sum = 0;
    for (int k = 0; k < kPrototypeTaps; ++k) {
      oh_preemption_point();
      sum += prototype(k);
    }
    for (int k = 0; k < kPrototypeTaps; ++k) {
      oh_preemption_point();
      taps_[k % 3][kTaps - 1 - k / 3] = static_cast<float>(prototype(k) * 6 / sum);
    }
  }

  /// @return whether `out` has a new sample: three times in five.  Real-time: yes, O(kTaps).
  bool put(float x, Complex* out) {
    const Complex w = mixer_.next();
    re_[at_] = re_[at_ + kTaps] = x * w.re;
    im_[at_] = im_[at_ + kTaps] = -x * w.im;
    at_ = at_ + 1 == kTaps ? 0 : at_ + 1;
    const int phase = until_;
    const bool ready = phase < 3;
    if (ready) {
      *out = {dot(taps_[phase], re_ + at_), dot(taps_[phase], im_ + at_)};
      until_ += 5;
    }
    until_ -= 3;
    return ready;
  }

 private:
  static_assert(kTaps % 8 == 0);
  // Eight partial sums, in two vectors.
  static float dot(const float* a, const float* b) {
    using Quad = float __attribute__((vector_size(16)));
    const auto load = [](const float* p) { return reinterpret_cast<const Unaligned<Quad>*>(p)->v; };
    Quad low{}, high{};
    for (int k = 0; k < kTaps; k += 8) {
      low += load(a + k) * load(b + k);
      high += load(a + k + 4) * load(b + k + 4);
    }
    const Quad sum = low + high;
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
  }
  Oscillator mixer_;
  float taps_[3][kTaps];
  float re_[2 * kTaps]{};  // each sample twice, so that the newest kTaps are always contiguous
  float im_[2 * kTaps]{};
  int at_ = 0;
  int until_ = 0;  // 1/24000 s until the next output
};

/// Lowpass prototype: sinc of the cut-off under a Blackman window. @param taps  its length at 24 000 Hz
constexpr double lowpass_tap(int k, int taps, double cutoff_hz) {
  const double t = k - (taps - 1) * 0.5;
  const double x = 2 * cutoff_hz / 24000 * t;
  const double sinc = x > -1e-9 && x < 1e-9 ? 1 : sincos_turns(x / 2).sin / (kPi * x);
  const double u = (k + 0.5) / taps;
  return sinc * (0.42 - 0.5 * sincos_turns(u).cos + 0.08 * sincos_turns(2 * u).cos);
}

}  // namespace offhook
