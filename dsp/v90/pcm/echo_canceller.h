// SPDX-License-Identifier: MIT
//
// Cancels the echo of the digital modem's own PCM in the upstream, from the line card's hybrid. A FIR on the linear
// values of the sent codes, adapted by normalised LMS while the analogue modem is silent, and frozen while it speaks.
// The signals sent then, TRN1d and Jd, are white, so the taps need no help to converge.
//
// The echo does not cross the loop: it comes before the round trip is over, by the analogue modem's own delay. That is
// 20 ms of a modem in hardware, and 100 ms of one that queues samples at a sound device. While the taps adapt, the sent
// signal is therefore also correlated with the received one over the whole round trip. If the echo is elsewhere, the
// taps begin again there.
//
// If a playout of a packet network moves, or an octet slips, the echo's delay changes and its shape does not.
// seek() finds that delay while both modems speak. It correlates the received signal with the estimated echo at
// each of kMost places either way.
#pragma once

#include <stdint.h>

#include "dsp/blocks/kernels.h"

namespace offhook::v90 {

class PcmEchoCanceller {
 public:
  static constexpr int kTaps = 256;               ///< 32 ms
  static constexpr int kBefore = 192;             ///< of these, before the round trip
  static constexpr int kMaxDelaySamples = 10240;  ///< a round trip of 1.28 s

  /// @param round_trip_samples  more than kMaxDelaySamples: the echo stays
  void init(int round_trip_samples, const Kernels& kernels = best_kernels());
  /// The analogue modem is silent: adapt.
  void set_training(bool training);
  bool training() const { return training_; }
  /// @return the residual.  Real-time: yes, O(kTaps).
  float process(float received);
  /// While the analogue modem speaks: `residual` is what its signal does not explain of the process() of `age` samples
  /// ago.  @param step  of normalised LMS  @pre 0 <= age <= kMostAge.  Real-time: yes, O(kTaps).
  void learn(float residual, int age, float step);
  static constexpr int kMostAge = 256;
  /// The linear value that was sent.
  void put(float sent);
  /// While training: received over residual, as a power ratio; 0: not known.
  float return_loss() const { return residual_power_ > 0 ? echo_power_ / residual_power_ : 0; }

  /// Begins or ends the search for the echo's place. Real-time: yes; process() takes four times as long
  /// meanwhile.
  void seek(bool on);
  bool seeking() const { return sought_ >= 0; }
  /// Updated every 1024 samples of seeking. @return whether the echo is distinct  @param[out] moved  samples that the
  /// echo is later than its current place: one of 2 * kMost places, from 1 - kMost on, or from the soonest that the
  /// delay allows.  Real-time: yes, O(kMost).
  bool found(int* moved) const;
  /// Cancels the echo `samples` later from now on.
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
  float usual_power_ = 0;                    // of windows that learn() had
  static constexpr int kPlaces = 2 * kMost;  // a multiple of 16: Kernels
  static constexpr int kLooks = 512;         // samples for each kPlaces delays
  void adapt(float residual, const float* x);
  void look(float received);
  void correlate(float received);
  /// The start of the taps' samples, for an echo of this delay.
  int window(int delay) const { return (at_ - delay - kTaps + 1 + 2 * kRing) % kRing; }
  void set(int at, float sent) {
    sent_[at] = sent;
    if (at < kTaps) sent_[at + kRing] = sent;
  }
  int lead_ = 0;
  int looked_ = -1;      // samples of looking for the echo; below 0: it is not looked for
  int look_until_ = 0;   // delays
  int echo_at_ = 0;      // delay of the strongest echo found
  float strongest_ = 0;  // its correlation, squared; 0: none was distinct
  int sought_ = -1;      // samples; below 0: it is not sought
  int expected_at_ = 0;
  float expected_[2 * kPlaces]{};  // echoes, of which the newest is lead_ samples ahead; twice in a row
  float correlation_[kPlaces]{};   // by age of the echo
  float taps_[kTaps]{};
  float sent_[kRing + kTaps]{};  // the first again after the end
};

}  // namespace offhook::v90
