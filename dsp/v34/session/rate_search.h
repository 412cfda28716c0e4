// SPDX-License-Identifier: MIT
//
// The rate that carries most over a line with errors of its own, whatever its mean noise: found by trying, because a
// receiver cannot measure how far beyond half a grid an error lay.
//
// An error costs about five blocks of 128 octets: the damaged one, and the blocks that V.42 sends again after it
// (measured, one impulse per second). So a rate's goodput follows from its errors. If they are too many the next lower
// rate is tried, as long as one without errors could still carry nine tenths of the best seen: a line without errors is
// worth that. Lower rates that make no fewer are no use; then the highest that is nearly the best is taken, errors and
// all, unless one below has clearly fewer. After three minutes the next higher rate is tried again, after twelve the
// search; each unsuccessful trial makes that four times as long.
#pragma once

#include <stdint.h>

namespace offhook::v34 {

class RateSearch {
 public:
  /// Data mode begins at `rate`; both, and `lowest`, in 2400 bit/s. Results at other rates are kept.
  void start(uint8_t rate, uint8_t lowest);
  /// A window of LineMonitor::kWindowPairs has passed.  @return true when most() is another rate now and should be
  /// gone to.  Real-time: yes, O(1).
  bool put(int errors);
  /// The receiver could not hold this rate: the next lower one is the limit, for as long as after errors.
  void lose();
  /// The line is another one now: all rates are good again.
  void reset();
  /// The highest rate to request.
  uint8_t most() const { return most_; }
  bool may_rise() const { return rate_ < most_; }

 private:
  bool too_many();
  float goodput(int rate) const;  // bit/s
  int choose(float enough) const;
  void try_again();

  static constexpr uint8_t kNoLimit = 14;
  static constexpr int kWindowsASecond = 6;  // at 3000 to 3429 symbols per second, nearly
  static constexpr float kErrorBits = 5 * 1080;
  static constexpr float kWorth = 0.9f;
  static constexpr float kClearly = 1 / 3.f;
  static constexpr float kTolerated = 0.04f / kWindowsASecond;  // errors a window: 1.4 in 1000 data frames
  static constexpr float kTooMany = 5;                          // more than tolerated
  static constexpr int kWait = 180 * kWindowsASecond;
  static constexpr int kPatience = 4;  // factor of the waiting time after an unsuccessful trial
  static constexpr int kLongestWait = 3600 * kWindowsASecond;
  static constexpr float kTooManyInTrial = 2;          // it is known to have been bad
  static constexpr int kTrial = 30 * kWindowsASecond;  // a higher rate that lasts as long is good

  uint8_t rate_ = 0;
  uint8_t lowest_ = 1;
  uint8_t most_ = kNoLimit;
  bool no_rate_fits_ = false;        // no rate is without errors
  bool trial_ = false;               // most_ is a rate that was bad once
  bool again_ = false;               // a higher rate or a search is being tried after wait_
  float errors_at_[kNoLimit + 1]{};  // a second, at the rates of this search; 0: not tried
  float excess_ = 0;
  int errors_ = 0;   // at this rate
  int windows_ = 0;  // at this rate
  int wait_ = kWait;
  int left_ = 0;  // of it, or of the trial
};

}  // namespace offhook::v34
