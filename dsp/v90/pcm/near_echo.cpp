// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/near_echo.h"

#include "dsp/blocks/renew.h"

namespace offhook::v90 {

void NearEcho::init(int io_delay_samples, const Kernels& kernels, int steps) {
  renew(*this);
  steps_ = steps;
  kernels_ = &kernels;
  delay_ = io_delay_samples > 8 ? io_delay_samples - 8 : 0;
}

void NearEcho::set_training(bool training) {
  training_ = training;
  if (!training) return;
  trained_ = solved_ = 0;
  fit_.reset();
}

void NearEcho::process(const int16_t* received, float* left) {
  int from = at_ - delay_ - kTaps + 1;
  if (from < 0) from += kRing;
  newest_ = from;
  const float* x = sent_ + from;
  static_assert(kReceived == 2);
  const auto [early, late] = kernels_->dot_pair(taps_[0], taps_[1], x, kTaps, x[kTaps - 1]);
  left[0] = received[0] - early;
  left[1] = received[1] - late;
  if (!training_) return;
  const int row = trained_++ - kSettle - delay_;
  if (row >= 0 && row < kRows) {
    // The window is filled once for the first row, and then shifted by one sample per row.
    if (row == 0) {
      for (int k = 0; k < kTaps; ++k) window_[k] = x[k];
    } else {
      window_[kTaps - 1 + row] = x[kTaps - 1];
    }
    for (int k = 0; k < kReceived; ++k) echo_[k][row] = received[k];
  }
  for (int n = 0; n < kWorkASample && row >= kRows && solved_ < kReceived; ++n) {
    if (fit_.idle()) fit_.begin(window_, 1, nullptr, echo_[solved_], nullptr, steps_);
    if (fit_.work(*kernels_, taps_[solved_])) ++solved_;
  }
  if (solved_ < kReceived) return;
  for (int k = 0; k < kReceived; ++k) {
    const auto in = static_cast<float>(received[k]);
    echo_power_ += (in * in - echo_power_) * (1.f / 2048);
    left_power_ += (left[k] * left[k] - left_power_) * (1.f / 2048);
  }
}

void NearEcho::begin_watch() {
  watched_ = 0;
  error_energy_ = sent_energy_ = 0;
  for (float& c : in_common_) c = 0;
}

void NearEcho::watch(float error) {
  const float* x = sent_ + newest_;
  kernels_->accumulate(in_common_, x, error, kTaps);
  error_energy_ += error * error;
  sent_energy_ += x[kTaps - 1] * x[kTaps - 1];
  ++watched_;
}

float NearEcho::explained() const {
  float sum = 0;
  for (const float c : in_common_) sum += c * c;
  const float all = error_energy_ * sent_energy_;
  return all > 0 ? sum / all : 0;
}

void NearEcho::put(float sent) {
  at_ = at_ + 1 == kRing ? 0 : at_ + 1;
  sent_[at_] = sent;
  if (at_ < kTaps) sent_[at_ + kRing] = sent;
}

}  // namespace offhook::v90
