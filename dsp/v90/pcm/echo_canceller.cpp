// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/echo_canceller.h"

#include "dsp/blocks/renew.h"

namespace offhook::v90 {
namespace {

constexpr float kStep = 0.5f;
constexpr float kLeastStep = 0.02f;
constexpr int kFullSteps = 2000;
constexpr float kUsual = 1.f / 1024;
constexpr float kLeastPower = 1e4f;  // of a window: less teaches nothing

constexpr int kJudgeEvery = 1024;  // samples of seeking
// Threshold over the mean square of all places: with white noise, the greatest of 512 exceeds it once in 200 times.
constexpr float kCertain = 18;
constexpr float kWeight = 1e-3f;  // of a tap against the greatest, squares

// An echo nearer to an end of the taps than this is not wholly within them.
constexpr int kMargin = 16;

/// Whether the largest of n correlations, of either sign, stands out from the others. @param[out] best  its index
bool distinct(const float* c, int n, int* best) {
  *best = 0;
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += c[k] * c[k];
    if (c[k] * c[k] > c[*best] * c[*best]) *best = k;
  }
  return c[*best] * c[*best] * static_cast<float>(n) > kCertain * sum;
}

}  // namespace

void PcmEchoCanceller::init(int round_trip_samples, const Kernels& kernels) {
  renew(*this);
  kernels_ = &kernels;
  delay_ = round_trip_samples > kBefore ? round_trip_samples - kBefore : 0;
  on_ = round_trip_samples <= kMaxDelaySamples;
  look_until_ = delay_ + kTaps;
}

void PcmEchoCanceller::set_training(bool training) {
  training_ = training;
  looked_ = -1;
  if (!training) return;
  trained_ = looked_ = 0;
  strongest_ = 0;
  for (float& c : correlation_) c = 0;
}

float PcmEchoCanceller::process(float received) {
  if (!on_) return received;
  const float* x = sent_ + window(delay_);
  const float residual = received - kernels_->dot(taps_, x, kTaps);
  if (seeking()) correlate(received);
  if (training_) {
    adapt(residual, x);
    echo_power_ += (received * received - echo_power_) * (1.f / 1024);
    residual_power_ += (residual * residual - residual_power_) * (1.f / 1024);
    if (looked_ >= 0) look(received);
  }
  return residual;
}

void PcmEchoCanceller::adapt(float residual, const float* x) {
  const float power = kernels_->dot(x, x, kTaps);
  ++trained_;
  const float shrunk = kStep * kFullSteps / static_cast<float>(trained_ < kFullSteps ? kFullSteps : trained_);
  const float step = shrunk > kLeastStep ? shrunk : kLeastStep;
  if (power > kLeastPower) kernels_->accumulate(taps_, x, step * residual / power, kTaps);
}

void PcmEchoCanceller::learn(float residual, int age, float step) {
  static_assert(kMostAge + kMaxDelaySamples + kTaps <= kRing - 2 * kMost);
  if (!on_) return;
  const float* x = sent_ + window(delay_ + age);
  const float power = kernels_->dot(x, x, kTaps);
  // A quiet window would change the taps more than a loud one can bear.
  usual_power_ += (power - usual_power_) * kUsual;
  const float unit = power > usual_power_ ? power : usual_power_;
  if (power > kLeastPower) kernels_->accumulate(taps_, x, step * residual / unit, kTaps);
}

// One stretch of kPlaces delays after the other, kLooks samples each.
void PcmEchoCanceller::look(float received) {
  static_assert(kPlaces == 2 * kTaps);
  static_assert(kMaxDelaySamples + kTaps + kPlaces <= kRing - 2 * kMost);  // all delays that it looks at are kept
  const int first = looked_ / kLooks * kPlaces;
  kernels_->accumulate(correlation_, sent_ + window(first + kTaps), received, kTaps);
  kernels_->accumulate(correlation_ + kTaps, sent_ + window(first), received, kTaps);
  if (++looked_ % kLooks != 0) return;
  int best = 0;
  if (distinct(correlation_, kPlaces, &best) && correlation_[best] * correlation_[best] > strongest_) {
    strongest_ = correlation_[best] * correlation_[best];
    echo_at_ = first + kPlaces - 1 - best;  // the oldest come first
  }
  for (float& c : correlation_) c = 0;
  if (first + kPlaces < look_until_) return;
  looked_ = -1;
  if (strongest_ <= 0 || (echo_at_ >= delay_ + kMargin && echo_at_ < delay_ + kTaps - kMargin)) return;
  // As far from the first tap as the shortest echo is: its hybrid's answer follows.
  constexpr int kLead = kTaps - kBefore;
  delay_ = echo_at_ > kLead ? echo_at_ - kLead : 0;
  trained_ = 0;
  for (float& tap : taps_) tap = 0;
}

void PcmEchoCanceller::seek(bool on) {
  looked_ = -1;
  sought_ = on && on_ ? 0 : -1;
  if (!seeking()) return;
  // The codes of the echo are known this far ahead: up to its first significant tap.
  float most = 0;
  for (const float tap : taps_) most = tap * tap > most ? tap * tap : most;
  int newest = kTaps - 1;
  while (newest > 0 && taps_[newest] * taps_[newest] < kWeight * most) --newest;
  lead_ = delay_ + kTaps - 1 - newest;
  if (lead_ > kMost - 1) lead_ = kMost - 1;
  if (lead_ < 0) lead_ = 0;
  expected_at_ = 0;
  for (float& e : expected_) e = 0;
  for (float& c : correlation_) c = 0;
}

void PcmEchoCanceller::correlate(float received) {
  expected_at_ = expected_at_ + 1 == kPlaces ? 0 : expected_at_ + 1;
  expected_[expected_at_] = expected_[expected_at_ + kPlaces] =
      kernels_->dot(taps_, sent_ + window(delay_ - lead_), kTaps);
  kernels_->accumulate(correlation_, expected_ + expected_at_ + 1, received, kPlaces);
  ++sought_;
}

bool PcmEchoCanceller::found(int* moved) const {
  if (sought_ <= 0 || sought_ % kJudgeEvery != 0) return false;
  int best = 0;
  float sum = 0;
  for (int k = 0; k < kPlaces; ++k) {
    sum += correlation_[k] * correlation_[k];
    if (correlation_[k] > correlation_[best]) best = k;
  }
  // The newest echo, the last place, is lead_ samples early.
  *moved = kPlaces - 1 - best - lead_;
  return correlation_[best] * correlation_[best] * kPlaces > kCertain * sum;
}

void PcmEchoCanceller::move(int samples) {
  delay_ += samples;
  constexpr int kLongest = kRing - kTaps - 2 * kMost;
  if (delay_ < -kMost) delay_ = -kMost;
  if (delay_ > kLongest) delay_ = kLongest;
}

void PcmEchoCanceller::put(float sent) {
  at_ = at_ + 1 == kRing ? 0 : at_ + 1;
  set(at_, sent);
  set((at_ + 2 * kMost) % kRing, 0);  // samples still to be sent, if taps reach that far
}

}  // namespace offhook::v90
