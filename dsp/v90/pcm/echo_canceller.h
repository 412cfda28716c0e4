// SPDX-License-Identifier: MIT
//
// Takes the digital modem's own PCM off the upstream: what the line card's hybrid, a round trip away, lets through. A
// FIR on the linear values of the codes that were sent, adapted by normalised LMS while the analogue modem is silent,
// and held while it speaks. What is sent then, TRN1d and Jd, is white, so the taps need no help to converge.
//
// Where a playout of a packet network moves, or an octet slips, the echo comes at another time and is what it was.
// seek() finds that time while both modems speak: what is received against what the taps make of the sent codes, at
// each of kMost places either way.
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

  /// Begins to look for the echo's place, or looks no longer. Real-time: yes; process() takes four times as long
  /// meanwhile.
  void seek(bool on);
  bool seeking() const { return sought_ >= 0; }
  /// Judged once in 1024 samples of seeking. @return whether the echo stands out  @param[out] moved  samples that it
  /// comes later than it is taken off: one of 2 * kMost places, from 1 - kMost on, or from the soonest that the delay
  /// allows.  Real-time: yes, O(kMost).
  bool found(int* moved) const;
  /// Taken off so much later from now on.
  void move(int samples);
  static constexpr int kMost = 256;

 private:
  static constexpr int kRing = 12288;
  const Kernels* kernels_ = nullptr;
  int delay_ = 0;
  bool on_ = false;
  bool training_ = false;
  int trained_ = 0;  // samples
  int at_ = 0;
  float echo_power_ = 0, residual_power_ = 0;
  static constexpr int kPlaces = 2 * kMost;  // a multiple of 16: Kernels
  void correlate(float received);
  /// Where the taps' samples begin, of an echo that comes so late.
  int window(int delay) const { return (at_ - delay - kTaps + 1 + 2 * kRing) % kRing; }
  void set(int at, float sent) {
    sent_[at] = sent;
    if (at < kTaps) sent_[at + kRing] = sent;
  }
  int lead_ = 0;
  int sought_ = -1;  // samples; below 0: it is not sought
  int expected_at_ = 0;
  float expected_[2 * kPlaces]{};  // echoes, of which the newest is lead_ samples ahead; twice in a row
  float correlation_[kPlaces]{};   // by age of the echo
  float taps_[kTaps]{};
  float sent_[kRing + kTaps]{};  // the first again after the end
};

}  // namespace offhook::v90
