// SPDX-License-Identifier: MIT
//
// Finds the rate with the greatest goodput on a line that causes errors independently of its mean noise. It tries
// rates, because a receiver cannot measure by how much an error exceeded half a grid step.
//
// An error costs about five blocks of 128 octets: the damaged one, and the blocks that V.42 sends again after it
// (measured, one impulse per second). So a rate's goodput follows from its errors. If there are too many errors, the
// next lower rate is tried, as long as a lower rate without errors could carry nine tenths of the best goodput so far.
// If lower rates do not reduce the errors, the highest rate that is nearly the best is chosen in spite of its errors,
// unless a lower rate has clearly fewer. The next higher rate is tried again after three minutes, the search after
// twelve; each unsuccessful trial makes these times four times as long.
#pragma once

#include <stdint.h>

namespace offhook::v34 {

class RateSearch {
 public:
  /// Data mode begins at `rate`; both, and `lowest`, in 2400 bit/s. Results at other rates are kept.
  void start(uint8_t rate, uint8_t lowest);
  /// A window of LineMonitor::kWindowPairs has passed. @return whether most() has changed and should be requested.
  /// Real-time: yes, O(1).
  bool put(int errors);
  /// The receiver could not keep this rate. The next lower rate becomes the limit, for the same time as after errors.
  void lose();
  /// The line has changed, so all rates are permitted again.
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
  static constexpr int kWindowsASecond = 6;  // approximately, at 3000 to 3429 symbols per second
  static constexpr float kErrorBits = 5 * 1080;
  static constexpr float kWorth = 0.9f;
  static constexpr int kMostInVain = 2;  // after two rates that carry nothing, the search leaves out every second one
  static constexpr int kToBetween = 4 * kWindowsASecond;  // without errors, until the rate that was left out is tried
  static constexpr float kClearly = 1 / 3.f;
  static constexpr float kTolerated = 0.04f / kWindowsASecond;  // errors per window: 1.4 in 1000 data frames
  static constexpr float kTooMany = 5;                          // more than tolerated
  static constexpr int kWait = 180 * kWindowsASecond;
  static constexpr int kPatience = 4;  // factor of the waiting time after an unsuccessful trial
  static constexpr int kLongestWait = 3600 * kWindowsASecond;
  static constexpr float kTooManyInTrial = 2;          // known to have been bad
  static constexpr int kTrial = 30 * kWindowsASecond;  // a higher rate that lasts this long is good

  uint8_t rate_ = 0;
  uint8_t lowest_ = 1;
  uint8_t most_ = kNoLimit;
  bool no_rate_fits_ = false;        // no rate is error-free
  bool trial_ = false;               // most_ is a rate that was once bad
  bool again_ = false;               // after wait_, a higher rate or a search is tried
  float errors_at_[kNoLimit + 1]{};  // errors per second, at the rates of this search; 0: not tried
  float excess_ = 0;
  int in_vain_ = 0;  // successive rates of this search that carried nothing
  enum class Between : uint8_t { kNone, kLeftOut, kTried };
  Between between_ = Between::kNone;  // the rate above this one
  int errors_ = 0;                    // at this rate
  int windows_ = 0;                   // at this rate
  int wait_ = kWait;
  int left_ = 0;  // of the search or the trial
};

}  // namespace offhook::v34
