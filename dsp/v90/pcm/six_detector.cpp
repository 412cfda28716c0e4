// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/six_detector.h"

namespace offhook::v90 {
namespace {

constexpr float kCos[6] = {1, 0.5f, -0.5f, -1, -0.5f, 0.5f};
constexpr float kSin[6] = {0, 0.8660254f, 0.8660254f, 0, -0.8660254f, -0.8660254f};
constexpr float kShare = 0.7f;      // of the energy, in the tone
constexpr float kLeastPower = 400;  // mean square, -58 dBm0
constexpr float kTurned = -0.6f;    // of a whole reversal; half a symbol more turns it by 30 degrees
constexpr int kValid = 96;          // samples

}  // namespace

void SixDetector::put(float x) {
  at_ = at_ + 1 == kLong ? 0 : at_ + 1;
  six_ = six_ + 1 == 6 ? 0 : six_ + 1;
  const Part part{x * kCos[six_], x * kSin[six_], x * x};
  long_ -= part_[at_];
  long_ += part;
  short_ -= part_[at_ < kShort ? at_ - kShort + kLong : at_ - kShort];
  short_ += part;
  since_ += part;
  part_[at_] = part;
  if (at_ == kLong - 1) {
    long_ = since_;
    since_ = short_ = {};
    for (int k = kLong - kShort; k < kLong; ++k) short_ += part_[k];
  }
  const float power = long_.re * long_.re + long_.im * long_.im;
  present_ = long_.energy > kLeastPower * kLong && 2 * power > kShare * kLong * long_.energy;
  const float reference = reference_re_ * reference_re_ + reference_im_ * reference_im_;
  const float along = short_.re * reference_re_ + short_.im * reference_im_;
  if (known_ > 0) --known_;
  if (known_ > 0 && along * (static_cast<float>(kLong) / kShort) < kTurned * reference) {
    reversed_ = true;
    reference_re_ = -reference_re_;
    reference_im_ = -reference_im_;
  } else if (present_) {
    reference_re_ = long_.re;
    reference_im_ = long_.im;
    known_ = kValid;
  }
}

}  // namespace offhook::v90
