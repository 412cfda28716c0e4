// SPDX-License-Identifier: MIT
//
// Has the caller heard a signal? The diagnosis of a caller that received no carrier.
#pragma once

#include <stdint.h>

#include "dsp/blocks/level.h"

namespace offhook {

/// A second in all above -43 dBm0, V.22's and V.21's least level of a carrier. For an end that is silent itself.
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
