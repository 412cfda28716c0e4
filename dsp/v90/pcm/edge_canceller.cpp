// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/edge_canceller.h"

#include "dsp/blocks/sincos.h"

namespace offhook::v90 {
namespace {

constexpr float kStep = 0.05f;         // of normalised LMS
constexpr float kMostValue = 1 << 17;  // of x(n): twice the highest point; a wrong point must not let it grow

}  // namespace

EdgeCanceller::EdgeCanceller(const Cpd& cpd, const Kernels& kernels)
    : kernels_(&kernels), precoder_taps_(taps_in_use(cpd.p1.length)) {
  set_taps(cpd.p1, kPUnit, precoder_);
  for (int k = 0; k < kLowpass; ++k)
    lowpass_[k] = static_cast<float>(1 - sincos_turns((k + 0.5) / kLowpass).cos) / kLowpass;
}

bool EdgeCanceller::put(float level, float point, float* cleared) {
  float x = point + filtered(*kernels_, precoder_, x_, precoder_taps_);
  if (!(x < kMostValue)) x = kMostValue;
  if (x < -kMostValue) x = -kMostValue;
  x_.put(x);
  sign_ = -sign_;
  alternated_.put(sign_ * x);
  turn_ = turn_ + 1 == kApart ? 0 : turn_ + 1;
  edge_[turn_].put(kernels_->dot(lowpass_, alternated_.oldest(), kLowpass));
  *cleared = levels_[levels_at_];
  levels_[levels_at_] = level;
  levels_at_ = levels_at_ + 1 == kDelay ? 0 : levels_at_ + 1;
  if (waiting_ > 0) {
    --waiting_;
    return false;
  }
  float image = 0;
  power_ = 1;
  const float* e = edge_[turn_].oldest();
  for (int k = 0; k < kTaps; ++k) {
    image += taps_[k] * e[k];
    power_ += e[k] * e[k];
  }
  static_assert(kDelay % 2 == 0);  // the sign of now is that of then
  *cleared -= sign_ * image;
  return true;
}

void EdgeCanceller::adapt(float error, float weight) {
  const float step = kStep * weight * sign_ * error / power_;
  const float* e = edge_[turn_].oldest();
  for (int k = 0; k < kTaps; ++k) taps_[k] += step * e[k];
}

}  // namespace offhook::v90
