// SPDX-License-Identifier: MIT
//
// Real samples of a free-running clock at the instants of another: 16000 samples/s in, two for each symbol of the
// network out. A polyphase lowpass of 32 taps in 64 phases, straight lines between the phases: to 4700 Hz every product
// is 75 dB down, and the passband of a line card ends there.
#pragma once

#include <stdint.h>

#include "dsp/blocks/kernels.h"

namespace offhook::v90 {

class Timebase {
 public:
  static constexpr int kTaps = 32;
  static constexpr int kPhases = 64;

  /// Not real-time in the strict sense: fills tables (about 0.2 ms).
  void init(const Kernels& kernels);

  /// One sample in; then next() as long as it returns true: no, one or two samples out.  Real-time: yes, O(kTaps).
  void put(float x) {
    at_ = at_ + 1 == kTaps ? 0 : at_ + 1;
    history_[at_] = history_[at_ + kTaps] = x;
    until_ -= kOne;
  }
  bool next(float* out);

  /// Samples until the next output.
  double until() const { return static_cast<double>(until_) / 4294967296.0; }

  /// Moves all outputs from the next on later. @param samples  above -1, at most 8
  void delay(float samples) { until_ += static_cast<int64_t>(samples * 4294967296.0f); }
  /// Output spacing against the nominal one: its factor less 1.
  void set_deviation(double deviation) { step_ = kOne + static_cast<int64_t>(deviation * 4294967296.0); }

 private:
  static constexpr int64_t kOne = int64_t{1} << 32;

  const Kernels* kernels_ = nullptr;
  int64_t until_ = kOne;  // samples of 2^-32 until the next output
  int64_t step_ = kOne;
  int at_ = 0;
  float history_[2 * kTaps]{};
  float taps_[kPhases + 1][kTaps];
};

}  // namespace offhook::v90
