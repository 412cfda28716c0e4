// SPDX-License-Identifier: MIT
//
// Both ends of a channel of 600 symbols/s (shaping.h), without its points: a shaper from symbols to samples of the
// line, and a sampler from samples of the line to T/2 samples of the complex baseband at times that its owner moves.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/kernels.h"
#include "dsp/blocks/nco.h"
#include "dsp/v22/shaping.h"

namespace offhook::v22 {

class Shaper {
 public:
  explicit Shaper(Channel channel) : pulse_(&transmit_pulse(channel)) {}

  /// The next sample is the first of a new symbol: call put() before next().
  bool wants_symbol() const { return phase_ < TransmitPulse::kPerSample; }
  void put(Complex symbol);
  /// The next sample, of unit mean square for symbols of unit mean power.  Real-time: yes, O(1).
  float next();

 private:
  const TransmitPulse* pulse_;
  int phase_ = 0;
  float symbols_[2 * TransmitPulse::kSpan]{};
};

class Sampler {
 public:
  /// Delay from the line to the newest T/2 sample, in samples.
  static constexpr int kDelay = ReceiveFilter::kDelay;

  Sampler(Channel channel, const Kernels& kernels);

  /// One sample of the line.  @return whether `u` has a new T/2 sample.  Real-time: yes, O(taps).
  bool put(float sample, Complex* u);
  /// Delays the next T/2 sample. @param samples  of 8000 Hz; negative: earlier
  void delay(float samples);
  /// The far symbol clock is slower than nominal by this ratio.
  void set_deviation(double deviation);

 private:
  void advance(int64_t by);
  Complex baseband() const;

  const Kernels* kernels_;
  const ReceiveFilter* filter_;
  int carrier_twentieths_;  // turns a sample
  float line_[2 * ReceiveFilter::kTaps]{};
  int line_at_ = 0;
  int64_t until_ = int64_t{1} << 32;  // samples of 2^-32 until the next T/2 sample
  int64_t step_;
  Phase turned_;  // the carrier at the next T/2 sample
};

}  // namespace offhook::v22
