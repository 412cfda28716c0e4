// SPDX-License-Identifier: MIT
//
// Halves the sample rate from 16 000 to 8000 Hz, and keeps frequencies below 3800 Hz.
#pragma once

#include "dsp/blocks/kernels.h"

namespace offhook {

/// Two samples at 16 000 Hz to one at 8000 Hz; keeps frequencies below 3800 Hz.
class Decimator {
 public:
  static constexpr int kTaps = 64;
  static constexpr int kDelay = kTaps / 4;  ///< samples of 8000 Hz
  /// Not strictly real-time: fills a table.
  void init(const Kernels& kernels = best_kernels());
  float put(float first, float second);  ///< Real-time: yes, O(kTaps).

 private:
  const Kernels* kernels_ = nullptr;
  int at_ = 0;
  float history_[2 * kTaps]{};
  float taps_[kTaps]{};
};

}  // namespace offhook
