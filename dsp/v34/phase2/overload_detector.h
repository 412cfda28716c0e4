// SPDX-License-Identifier: MIT
//
// Finds an overloaded line in L1 and L2, before anything is trained. Both are one waveform with a crest factor of 4 dB,
// and L1 is sent 6 dB above L2 (10.1.2.4): its peaks are 10 dB above the RMS of data. If the line limits them, the
// power of L1 or its peak is less than 6 dB above that of L2, whatever filters follow. Noise takes from both ratios,
// too: at a signal-to-noise ratio of 15 dB the power ratio loses 0.1 dB and the peak ratio 0.8 dB.
#pragma once

#include <stdint.h>

#include "dsp/v34/phase2/probing.h"

namespace offhook::v34 {

class OverloadDetector {
 public:
  void reset() { *this = {}; }
  /// One sample of L1, or of the signal before it.  Real-time: yes, O(1).
  void put_l1(float x) {
    if (!block_.put(x)) return;
    if (block_.power > l1_power_) {
      l1_power_ = block_.power;
      l1_peak_ = block_.peak;
    }
    block_ = {};
  }
  void put_l2(float x) {
    if (l2_blocks_ == 0 && l2_power_ == 0) block_ = {};
    l2_power_ += x * x;
    ++l2_samples_;
    if (!block_.put(x)) return;
    l2_peaks_ += block_.peak;
    ++l2_blocks_;
    block_ = {};
  }

  /// @return dB by which the far transmitter must reduce its power in training and data so that the peaks of data fit,
  /// 0 to 7; 0 if L1 is not limited.  Real-time: yes, O(1).
  uint8_t reduction_db() const {
    constexpr float kLeastPowerRatio = 3.39f;  // 5.3 dB
    constexpr float kLeastPeakRatio = 1.75f;   // 4.9 dB
    // A hard limit at 3.5 times their RMS distorts data 44 dB below their power (normal distribution).
    constexpr float kHeadroom = 3.5f;
    constexpr uint8_t kMost = 7;  // three bits of INFO1
    if (l1_power_ == 0 || l2_blocks_ == 0) return 0;
    const float power = l2_power_ / static_cast<float>(l2_samples_);
    const float peak = l2_peaks_ / static_cast<float>(l2_blocks_);
    const bool limited = l1_power_ < kLeastPowerRatio * kProbingSamples * power || l1_peak_ < kLeastPeakRatio * peak;
    if (!limited) return 0;
    constexpr float kOneDb = 0.79432823f;  // in power
    float wanted = kHeadroom * kHeadroom * power;
    uint8_t db = 0;
    for (; db < kMost && wanted > l1_peak_ * l1_peak_; ++db) wanted *= kOneDb;
    return db;
  }

 private:
  /// A time in which every tone has whole periods.
  struct Block {
    float power = 0, peak = 0;
    int filled = 0;
    bool put(float x) {
      power += x * x;
      const float size = x < 0 ? -x : x;
      if (size > peak) peak = size;
      return ++filled == kProbingSamples;
    }
  };
  Block block_;
  float l1_power_ = 0, l1_peak_ = 0;  // of the loudest block
  float l2_power_ = 0, l2_peaks_ = 0;
  int l2_samples_ = 0, l2_blocks_ = 0;
};

}  // namespace offhook::v34
