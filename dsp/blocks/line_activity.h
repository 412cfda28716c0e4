// SPDX-License-Identifier: MIT
//
// Detects whether a caller has heard any signal, to explain a call without carrier.
#pragma once

#include <stdint.h>

#include "dsp/blocks/level.h"

namespace offhook {

/// Detects a signal after a total of one second above -43 dBm0, the lowest carrier level of V.22 and V.21. For an end
/// that sends nothing.
class LineActivity {
 public:
  /// One sample of 8000 Hz.  Real-time: yes.
  void put(float x) {
    power_ += (x * x - power_) * (1.f / 256);
    if (power_ > kLeast && loud_ < kSecond) ++loud_;
  }
  bool heard() const { return loud_ == kSecond; }

 private:
  static constexpr uint32_t kSecond = 8000;
  static constexpr double kLeastRms = dbm0_to_rms(-43);
  static constexpr float kLeast = static_cast<float>(kLeastRms * kLeastRms);
  float power_ = 0;
  uint32_t loud_ = 0;
};

}  // namespace offhook
