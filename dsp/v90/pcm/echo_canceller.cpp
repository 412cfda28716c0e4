// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/echo_canceller.h"

#include "dsp/blocks/renew.h"

namespace offhook::v90 {
namespace {

constexpr float kStep = 0.5f;
constexpr float kLeastStep = 0.02f;
constexpr int kFullSteps = 2000;
constexpr float kLeastPower = 1e4f;  // of a window: less teaches nothing

}  // namespace

void PcmEchoCanceller::init(int round_trip_samples, const Kernels& kernels) {
  renew(*this);
  kernels_ = &kernels;
  delay_ = round_trip_samples > kBefore ? round_trip_samples - kBefore : 0;
  on_ = round_trip_samples <= kMaxDelaySamples;
}

void PcmEchoCanceller::set_training(bool training) {
  training_ = training;
  if (training) trained_ = 0;
}

float PcmEchoCanceller::process(float received) {
  if (!on_) return received;
  int from = at_ - delay_ - kTaps + 1;
  if (from < 0) from += kRing;
  const float* x = sent_ + from;
  const float residual = received - kernels_->dot(taps_, x, kTaps);
  if (training_) {
    const float power = kernels_->dot(x, x, kTaps);
    ++trained_;
    const float shrunk = kStep * kFullSteps / static_cast<float>(trained_ < kFullSteps ? kFullSteps : trained_);
    const float step = shrunk > kLeastStep ? shrunk : kLeastStep;
    if (power > kLeastPower) kernels_->accumulate(taps_, x, step * residual / power, kTaps);
    echo_power_ += (received * received - echo_power_) * (1.f / 1024);
    residual_power_ += (residual * residual - residual_power_) * (1.f / 1024);
  }
  return residual;
}

void PcmEchoCanceller::put(float sent) {
  at_ = at_ + 1 == kRing ? 0 : at_ + 1;
  sent_[at_] = sent;
  if (at_ < kTaps) sent_[at_ + kRing] = sent;
}

}  // namespace offhook::v90
