// SPDX-License-Identifier: MIT
//
// The front end of a receiver: removes DC and mains hum that a line or its converter adds. On a line without them, the
// samples pass unchanged.
//
//   sample ---------------------> [high-pass] -> echo canceller, receiver
//      '-> mean over 5 ms -> its power over 100 ms, against the power of all samples
//
// The decision is made before an echo canceller and an equaliser train, and stays until the next training. V.34 decides
// in Phase 2 (dsp/v34/phase2/line_probe.h). Others search while the far end and this end send tones: the mean has zeros
// at the multiples of 200 Hz, among them 600, 1800 and 3000 Hz (AA and AC of V.32bis).
#pragma once

#include "dsp/blocks/high_pass.h"
#include "dsp/blocks/level.h"

namespace offhook {

class HumFilter {
 public:
  constexpr explicit HumFilter(const HighPassDesign& design) : high_pass_(design) {}

  /// Measures from now on. A decision is made after each 100 ms with a signal; until then, the last one stays.
  void search() {
    is_searching_ = true;
    meter_ = {};
  }
  /// The last decision stays.
  void settle() { is_searching_ = false; }
  /// The owner's decision: this filter from now on, or none.
  void set(const HighPassDesign* design) {
    settle();
    removes_ = design != nullptr;
    if (removes_) high_pass_ = HighPass(*design);
  }
  bool removes() const { return removes_; }
  /// Delay of a tone's reversals, in samples.  Real-time: yes, O(1).
  double delay_samples(double hz) const { return removes_ ? high_pass_.delay_samples(hz) : 0; }

  /// One sample of 8000 Hz; a lost one is 0.  Real-time: yes, O(1).
  float process(float x) {
    if (!is_searching_) return removes_ ? high_pass_.process(x) : x;
    measure(x);
    const float passed = high_pass_.process(x);  // always, so that a decision finds it settled
    return removes_ ? passed : x;
  }

 private:
  static constexpr int kMean = 40;    // samples
  static constexpr int kHop = 50;     // from mean to mean: several phases of 50, 60, 100 and 120 Hz
  static constexpr int kBlock = 800;  // whole periods of 50 and 60 Hz
  // The least power of the mean over that of all samples. ANS, which is not a multiple of 200 Hz, has 1/1000, and white
  // noise 1/40. If noise starts the high-pass, the receiver is no worse.
  static constexpr float kLeast = 1.f / 400;
  static constexpr double kSilenceDbm0 = -50;  // below every carrier, and above the noise of most lines

  struct Meter {
    float sum = 0, low = 0, all = 0;
    int in_hop = 0, filled = 0;
  };

  void measure(float x) {
    meter_.all += x * x;
    if (meter_.in_hop < kMean) meter_.sum += x;
    if (++meter_.in_hop < kHop) return;
    meter_.low += meter_.sum * meter_.sum;
    meter_.sum = 0;
    meter_.in_hop = 0;
    meter_.filled += kHop;
    if (meter_.filled < kBlock) return;
    constexpr double kSilence = kBlock * dbm0_to_rms(kSilenceDbm0) * dbm0_to_rms(kSilenceDbm0);
    if (meter_.all > static_cast<float>(kSilence)) removes_ = kHop * meter_.low > kLeast * kMean * kMean * meter_.all;
    meter_ = {};
  }

  bool is_searching_ = false, removes_ = false;
  Meter meter_;
  HighPass high_pass_;
};

}  // namespace offhook
