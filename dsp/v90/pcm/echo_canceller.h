// SPDX-License-Identifier: MIT
//
// Takes the digital modem's own PCM off the upstream: what the line card's hybrid, a round trip away, lets through. A
// FIR on the linear values of the codes that were sent, adapted by normalised LMS while the analogue modem is silent,
// and held while it speaks. What is sent then, TRN1d and Jd, is white, so the taps need no help to converge.
#pragma once

#include <stdint.h>

#include "dsp/blocks/kernels.h"

namespace offhook::v90 {

class PcmEchoCanceller {
 public:
  static constexpr int kTaps = 256;               ///< 32 ms
  static constexpr int kBefore = 192;             ///< of these, before the round trip: the echo does not cross the loop
  static constexpr int kMaxDelaySamples = 10240;  ///< a round trip of 1.28 s

  /// @param round_trip_samples  more than kMaxDelaySamples: the echo stays
  void init(int round_trip_samples, const Kernels& kernels = best_kernels());
  /// The analogue modem is silent: adapt.
  void set_training(bool training);
  bool training() const { return training_; }
  /// @return what is left.  Real-time: yes, O(kTaps).
  float process(float received);
  /// The linear value that was sent.
  void put(float sent);
  /// While training: received over residual, as a power ratio; 0: not known.
  float return_loss() const { return residual_power_ > 0 ? echo_power_ / residual_power_ : 0; }

 private:
  static constexpr int kRing = 12288;
  const Kernels* kernels_ = nullptr;
  int delay_ = 0;
  bool on_ = false;
  bool training_ = false;
  int trained_ = 0;  // samples
  int at_ = 0;
  float echo_power_ = 0, residual_power_ = 0;
  float taps_[kTaps]{};
  float sent_[kRing + kTaps]{};  // the first again after the end
};

}  // namespace offhook::v90
