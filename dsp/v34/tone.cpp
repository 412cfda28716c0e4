// SPDX-License-Identifier: MIT
#include "dsp/v34/tone.h"

namespace offhook::v34 {
namespace {

constexpr float kLeastPeak = 40;     // -49 dBm0
constexpr float kAlike = 0.7f;       // of two averages: more is the same tone, less than minus this a reversal
constexpr float kLeastShare = 0.2f;  // of a retrain's tone: with the guard tone 1 dB above it, it has 0.44
constexpr float kMostOffsetHz = 25;

}  // namespace

void ToneDetector::reset() {
  for (Complex& v : window_) v = {};
  for (float& v : power_) v = 0;
  for (Complex& v : history_) v = {};
  steady_ = hold_ = steady_at_loss_ = 0;
  lost_ = 1000;
  peak_ = share_ = 0;
  turn_ = {};
}

ToneEvent ToneDetector::put(float x) {
  const Complex w = mixer_.next();
  window_[in_] = {x * w.re, -x * w.im};
  power_[in_] = x * x;
  in_ = in_ + 1 == kWindow ? 0 : in_ + 1;
  ++now_;
  return now_ % kStep == 0 ? step() : ToneEvent::kNone;
}

ToneEvent ToneDetector::step() {
  // in_ is the oldest sample, of which a third counts.
  Complex sum = (1.f / 3 - 1) * window_[in_];
  float power = 1e-3f;
  for (int k = 0; k < kWindow; ++k) {
    sum += window_[k];
    power += power_[k];
  }
  newest_ = newest_ + 1 == kHistory ? 0 : newest_ + 1;
  history_[newest_] = 2 / (kWindow - 2.f / 3) * sum;

  const Complex y = at(0), old = at(kLag);
  const float larger = norm(y) > norm(old) ? norm(y) : norm(old);
  const float alike = larger > kLeastPeak * kLeastPeak ? (y * conj(old)).re / larger : 0;

  if (hold_ > 0) {
    --hold_;
    ++steady_;
    return ToneEvent::kNone;
  }
  const Complex turn = y * conj(at(1));
  if (alike > kAlike) {
    const float fresh = steady_ == 0 ? 1 : 0.05f;
    turn_ = (1 - fresh) * turn_ + fresh * turn;
    if (frequency_offset_hz() > kMostOffsetHz || frequency_offset_hz() < -kMostOffsetHz) {
      steady_ = 0;
      return ToneEvent::kNone;
    }
    peak_ = steady_ == 0 ? magnitude(y) : peak_ + 0.1f * (magnitude(y) - peak_);
    share_ = norm(y) * 0.5f * kWindow / power;
    if (share_ > 1) share_ = 1;
    ++steady_;
    lost_ = 0;
    steady_at_loss_ = steady_;
    return ToneEvent::kNone;
  }
  steady_ = 0;
  if (++lost_ > kLag || alike > -kAlike || steady_at_loss_ < 5) return ToneEvent::kNone;

  // The straight line from +old to -old: where did it cross zero?
  for (int k = 0; k < kLag; ++k) {
    const float after = (at(k) * conj(old)).re, before = (at(k + 1) * conj(old)).re;
    if (after > 0 || before <= 0) continue;
    // Close to the crossing next to nothing is left of the tone, or it was no reversal.
    if (norm(at(k)) > 0.25f * larger && norm(at(k + 1)) > 0.25f * larger) break;
    const float fraction = after / (after - before);  // back from at(k), in ms
    reversal_time_ = static_cast<double>(now_ - 1) - kDelaySamples - kStep * (k + static_cast<double>(fraction));
    steady_before_ = static_cast<float>(steady_at_loss_ + kSettle);
    steady_ = steady_at_loss_ + lost_;
    hold_ = kSettle;
    steady_at_loss_ = 0;
    return ToneEvent::kReversal;
  }
  return ToneEvent::kNone;
}

float ToneDetector::frequency_offset_hz() const {
  return angle_turns(turn_) * (8000 / kStep);
}

bool RetrainDetector::put(float x) {
  tone_.put(x);
  alone_ = tone_.present() && tone_.share() > kLeastShare ? alone_ + 1 : 0;
  return alone_ > 0 && tone_.steady_ms() > 50;
}

void RetrainDetector::reset() {
  tone_.reset();
  alone_ = 0;
}

}  // namespace offhook::v34
