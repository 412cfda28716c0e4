// SPDX-License-Identifier: MIT
//
// Finds S1 and its end, in samples of the baseband T/2 apart, whatever their timing and carrier.
//
// S1 alternates between two points a quarter turn apart: it repeats every four samples. Data do not. Tones that repeat
// every four samples also repeat every two, with or without a change of sign. S1 does not: a third of it is left.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"

namespace offhook::v22 {

class S1Detector {
 public:
  enum class Event : uint8_t { kNone, kBegin, kEnd };

  void reset() { *this = {}; }

  /// @param u  newest sample  @param one, two  those one and two symbols before  @param power  mean |u|^2, slow
  /// Real-time: yes, O(1).
  Event put(Complex u, Complex one, Complex two, float power) {
    if (!(power > 0)) return Event::kNone;
    after_one_ += kMemory * (u * conj(one) - after_one_);
    near_ += kMemory * (norm(u) - near_);
    const Complex again = u * conj(two);
    const bool tone = norm(after_one_) > kTone * kTone * near_ * near_;
    // A loud sample counts no more than a usual one, because a click is not S1.
    const float like = tone ? -1 : again.re / (norm(u) > power ? norm(u) : power);
    return in_s1_ ? follow(like) : seek(like);
  }

  /// Whether S1 has lasted long enough.
  bool in_s1() const { return in_s1_; }
  /// At Event::kEnd: samples since the end of S1.
  int end_age() const { return since_best_; }

 private:
  static constexpr float kMemory = 1.f / 16;
  static constexpr float kTone = 0.66f;   // of the power
  static constexpr float kLeast = 0.55f;  // correlation that is neither S1 nor data
  static constexpr float kEnough = 17;    // about 24 symbols without noise
  static constexpr float kOver = 3.5f;    // S1 has ended when it is this far below the best

  Event seek(float like) {
    sum_ += like - kLeast;
    if (!(sum_ > 0)) sum_ = 0;
    if (sum_ < kEnough) return Event::kNone;
    in_s1_ = true;
    sum_ = best_ = 0;
    since_best_ = 0;
    return Event::kBegin;
  }
  Event follow(float like) {
    sum_ += like - kLeast;
    ++since_best_;
    if (sum_ >= best_) {
      best_ = sum_;
      since_best_ = 0;
    }
    if (sum_ > best_ - kOver) return Event::kNone;
    in_s1_ = false;
    sum_ = 0;
    return Event::kEnd;
  }

  Complex after_one_{};
  float near_ = 0;
  float sum_ = 0, best_ = 0;
  int since_best_ = 0;
  bool in_s1_ = false;
};

}  // namespace offhook::v22
