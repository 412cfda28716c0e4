// SPDX-License-Identifier: MIT
//
// Monitors data mode and determines the rate that the line carries.
//
// The measure is the mean squared error of the decided symbols. If the noise exceeds the rate's limit, the measure is
// too small, because wrong decisions are near the symbols. A receiver that has lost the signal measures at least
// kLostError, in units of half the squared distance of neighbours.
#pragma once

#include <stdint.h>

#include "dsp/v32/coding.h"

namespace offhook::v32 {

/// Signal over noise at which a rate has about one error in 10^5 bits, with a margin of 1 dB; by the index of kRates.
inline constexpr double kLeastSnrDb[kRateCount] = {0, 15.5, 18.5, 21.5, 24.5, 22.5};

class LineMonitor {
 public:
  enum class Advice : uint8_t { kNone, kLower, kHigher, kRetrain };

  static constexpr int kEvery = 24;  ///< symbols between two checks: 10 ms
  static constexpr float kLostError = 0.8f;
  static constexpr int kLost = 50;         ///< checks: 0.5 s
  static constexpr int kBad = 200;         ///< 2 s
  static constexpr int kGood = 500;        ///< 5 s the first time, then twice the previous time
  static constexpr double kBelowDb = 1.5;  ///< below the rate's requirement by this: too little
  static constexpr float kMostFar = 0.05f;
  static constexpr double kAboveDb = 1.0;  ///< above the requirement of the next rate

  void start(int rate) {
    rate_ = rate;
    lost_ = bad_ = good_ = 0;
    clips_ = false;
  }
  /// BitReceiver::far_share(), before put(). If a line clips, outer points alone are wrong, and the mean does not
  /// show it. White noise of kBelowDb has 0.01; with 0.05 a rate carries nothing.
  void put_far_share(float share) { clips_ = share > kMostFar; }
  /// One measurement. @param error  as BitReceiver::data_error() @param snr_db  of the receiver
  /// @param next  index of the next faster rate that both ends have; -1: none
  Advice put(float error, double snr_db, int next) {
    lost_ = error > kLostError ? lost_ + 1 : 0;
    bad_ = clips_ || snr_db < kLeastSnrDb[rate_] - kBelowDb ? bad_ + 1 : 0;
    good_ = next >= 0 && !clips_ && snr_db > kLeastSnrDb[next] + kAboveDb ? good_ + 1 : 0;
    if (lost_ > kLost) return Advice::kRetrain;
    if (bad_ > kBad) {
      bad_ = 0;
      return Advice::kLower;
    }
    if (good_ > wait_) {
      good_ = 0;
      if (wait_ < kMostGood) wait_ *= 2;
      return Advice::kHigher;
    }
    return Advice::kNone;
  }

 private:
  static constexpr int kMostGood = 60000;
  int rate_ = 0;
  int lost_ = 0, bad_ = 0, good_ = 0;
  int wait_ = kGood;
  bool clips_ = false;
};

}  // namespace offhook::v32
