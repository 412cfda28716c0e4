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
  x_[at_] = x;
  float re = 0, im = 0, energy = 0, short_re = 0, short_im = 0;
  int phase = six_;
  for (int k = 0, i = at_; k < kLong; ++k) {
    re += x_[i] * kCos[phase];
    im += x_[i] * kSin[phase];
    energy += x_[i] * x_[i];
    if (k == kShort - 1) short_re = re, short_im = im;
    i = i == 0 ? kLong - 1 : i - 1;
    phase = phase == 0 ? 5 : phase - 1;
  }
  const float power = re * re + im * im;
  present_ = energy > kLeastPower * kLong && 2 * power > kShare * kLong * energy;
  const float reference = reference_re_ * reference_re_ + reference_im_ * reference_im_;
  const float along = short_re * reference_re_ + short_im * reference_im_;
  if (known_ > 0) --known_;
  if (known_ > 0 && along * (static_cast<float>(kLong) / kShort) < kTurned * reference) {
    reversed_ = true;
    reference_re_ = -reference_re_;
    reference_im_ = -reference_im_;
  } else if (present_) {
    reference_re_ = re;
    reference_im_ = im;
    known_ = kValid;
  }
}

}  // namespace offhook::v90
