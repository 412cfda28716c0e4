// SPDX-License-Identifier: MIT
//
// Cancels the analogue modem's own V.34 signal in its received signal: 8000 samples/s sent, 16 000 received. Two
// filters of 128 taps on the sent samples model the echo: one for the received samples at the same time as a sent one,
// one for those half way to the next. Beyond the line card there is no hybrid, so there is no far echo.
//
// PCM of 56 000 bit/s requires a residual echo at least 60 dB below it. LMS, on a signal with little power at the edges
// of its band, stays at 50 dB for seconds (measured); least squares on 1792 samples reach the noise. That is done while
// the digital modem is silent; then the taps stay as they are. If they become wrong, the equaliser's errors correlate
// with the sent signal.
#pragma once

#include <stdint.h>

#include "dsp/blocks/kernels.h"
#include "dsp/v90/pcm/least_squares.h"

namespace offhook::v90 {

class NearEcho {
 public:
  static constexpr int kTaps = LeastSquares::kForward;  ///< 16 ms
  static constexpr int kReceived = 2;                   ///< samples for each that is sent
  static constexpr int kTraining = 6000;                ///< samples, besides those of the delay

  static constexpr int kMostDelay = 4096 - 2 * kTaps;  ///< samples
  /// @param io_delay_samples  from a sample sent to its echo, at the least. At most kMostDelay
  /// @param steps  of the least squares: a signal with more power between 3500 and 4000 Hz than that of the training,
  /// V.92's, needs 64
  void init(int io_delay_samples, const Kernels& kernels = best_kernels(), int steps = kSteps);
  static constexpr int kSteps = 32;
  /// The digital modem is silent. Training takes kTraining samples after the echo of its start; if it ends before, the
  /// taps are unchanged, or are those found so far.
  void set_training(bool training);
  bool training() const { return training_; }
  /// @param[in] received  [kReceived]  @param[out] left  [kReceived]  Real-time: yes, O(taps).
  void process(const int16_t* received, float* left);
  /// The sample that was sent; 0 if it is not known.
  void put(float sent);
  /// Power ratio of received signal to residual, while training and after the taps were found; 0: not known.
  float return_loss() const { return left_power_ > 0 ? echo_power_ / left_power_ : 0; }

  /// Starts the observation of errors.
  void begin_watch();
  /// One, of a symbol of 8000 Hz, after process().  Real-time: yes, O(taps).
  void watch(float error);
  int watched() const { return watched_; }
  /// The share of the errors' power that a filter of the sent signal explains: near 1 if the errors are the own echo;
  /// kTaps over watched() if they are unrelated to it.  Real-time: yes, O(taps).
  float explained() const;

 private:
  static constexpr int kRows = LeastSquares::kRows;
  static constexpr int kRing = kMostDelay + 2 * kTaps;
  static constexpr int kSettle = 400;     // samples of training, until the samples before it are forgotten
  static constexpr int kWorkASample = 2;  // determines kTraining

  const Kernels* kernels_ = nullptr;
  int delay_ = 0;
  int steps_ = kSteps;
  bool training_ = false;
  int trained_ = 0;  // samples
  int solved_ = 0;   // filters
  int at_ = 0;
  float sent_[kRing + kTaps]{};  // the first again after the end
  float taps_[kReceived][kTaps]{};
  LeastSquares fit_;
  float window_[kRows - 1 + kTaps]{};
  float echo_[kReceived][kRows]{};
  float echo_power_ = 0, left_power_ = 0;
  int newest_ = 0;  // begin of the newest received sample's window in sent_
  int watched_ = 0;
  float in_common_[kTaps]{};  // of errors and sent samples, by age
  float error_energy_ = 0, sent_energy_ = 0;
};

}  // namespace offhook::v90
