// SPDX-License-Identifier: MIT
#include "dsp/blocks/tone.h"

#include "dsp/blocks/instruction_set.h"

namespace offhook {
namespace {

constexpr float kLeastPeak = 40;  // -49 dBm0
// Two averages 10 ms apart, as the cosine of the angle between them times the ratio of their sizes. It detects an
// unchanged tone and a reversed one. Until the frequency offset is known, 7 Hz may turn them by 25 degrees.
constexpr float kAlike = 0.6f;
constexpr float kAlikeAtFirst = 0.5f;
constexpr float kReversed = -0.6f;
constexpr int kOffsetKnownMs = 10;
constexpr float kMostOffsetHz = 25;

// The average over 1/150 s, which is not a whole number of samples: 160 ones at 24,000 Hz, smoothed by four short
// averages, of which every third is used. The smoothing preserves the zeros. It stops frequencies more than 1800 Hz
// away: the mirror image of a real signal, which the zeros do not remove.
struct Window {
  static constexpr int kSize = 64;
  float tap[2 * kSize];  // each one twice, for the two parts of a sample
};
constexpr Window make_window() {
  constexpr int kSmoothing[] = {12, 10, 8, 6};
  double g[3 * Window::kSize]{};
  for (int k = 0; k < 160; ++k) g[k] = 1. / 160 * 3;
  for (const int length : kSmoothing) {
    for (int k = 3 * Window::kSize - 1; k >= 0; --k) {
      double sum = 0;
      for (int j = 0; j < length && j <= k; ++j) sum += g[k - j];
      g[k] = sum / length;
    }
  }
  Window w{};
  for (int k = 0; k < Window::kSize; ++k) w.tap[2 * k] = w.tap[2 * k + 1] = static_cast<float>(g[3 * k + 1]);
  return w;
}
constexpr Window kTaps = make_window();

// A vector holds two samples, and four vectors a step's eight. The sums are independent of each other, and need only
// baseline SSE.
using Quad = float __attribute__((vector_size(16)));
constexpr int kQuads = 4;

inline Quad load(const float* p) {
  return reinterpret_cast<const Unaligned<Quad>*>(p)->v;
}
// @param x  `steps` times eight samples  @return the taps after them
inline const float* add_steps(const float* tap, const Complex* x, int steps, Quad sum[kQuads]) {
  const float* part = &x->re;
  for (int k = 0; k < steps; ++k) {
    for (int q = 0; q < kQuads; ++q) sum[q] += load(tap + 4 * q) * load(part + 4 * q);
    tap += 4 * kQuads;
    part += 4 * kQuads;
  }
  return tap;
}

}  // namespace

void ToneDetector::reset() {
  for (float& v : sample_) v = 0;
  for (Complex& v : window_) v = {};
  for (float& v : power_) v = 0;
  for (Complex& v : history_) v = {};
  steady_ = hold_ = steady_at_loss_ = 0;
  lost_ = 1000;
  since_reversal_ = 1 << 20;
  peak_ = share_ = 0;
  turn_ = {};
}

// The last kStep samples.
void ToneDetector::mix() {
  float power = 0;
  for (int k = 0; k < kStep; ++k) {
    const float x = sample_[k];
    const Complex w = mixer_.next();
    window_[in_ + k] = {x * w.re, -x * w.im};
    power += x * x;
  }
  power_[in_ / kStep] = power;
  in_ = in_ + kStep == kWindow ? 0 : in_ + kStep;
}

ToneEvent ToneDetector::step() {
  mix();
  static_assert(Window::kSize == kWindow && 2 * kStep == 4 * kQuads && sizeof(Complex) == 2 * sizeof(float));
  Quad part[kQuads]{};
  const float* tap = add_steps(kTaps.tap, window_ + in_, (kWindow - in_) / kStep, part);  // from the oldest sample on
  add_steps(tap, window_, in_ / kStep, part);
  const Quad four = (part[0] + part[1]) + (part[2] + part[3]);
  const Complex sum{four[0] + four[2], four[1] + four[3]};
  float power = 1e-3f;
  for (const float p : power_) power += p;
  newest_ = newest_ + 1 == kHistory ? 0 : newest_ + 1;
  history_[newest_] = 2 * sum;

  const bool offset_known = (steady_ > 0 ? steady_ : steady_at_loss_) >= kOffsetKnownMs;
  const Complex y = at(0), old = offset_known ? at(kLag) * turned(kLag) : at(kLag);
  const float larger = norm(y) > norm(old) ? norm(y) : norm(old);
  const float alike = larger > kLeastPeak * kLeastPeak ? (y * conj(old)).re / larger : 0;

  if (since_reversal_ < 1 << 20) ++since_reversal_;
  if (hold_ > 0) {
    --hold_;
    ++steady_;
    return ToneEvent::kNone;
  }
  const Complex turn = y * conj(at(1));
  if (alike > (offset_known ? kAlike : kAlikeAtFirst)) {
    const float fresh = steady_ < 20 ? 1 / (1 + static_cast<float>(steady_)) : 0.05f;
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
  if (++lost_ > kLag) steady_at_loss_ = 0;
  if (alike > kReversed || steady_at_loss_ < 5) return ToneEvent::kNone;

  return find_reversal(old, larger) ? ToneEvent::kReversal : ToneEvent::kNone;
}

// Position where the straight line from +old to -old crosses zero. @param larger  power of the larger of both
bool ToneDetector::find_reversal(Complex old, float larger) {
  for (int k = 0; k < kLag; ++k) {
    const float after = (at(k) * conj(old)).re, before = (at(k + 1) * conj(old)).re;
    if (after > 0 || before <= 0) continue;
    // At the crossing the tone almost vanishes; otherwise it was not a reversal.
    if (norm(at(k)) > 0.25f * larger && norm(at(k + 1)) > 0.25f * larger) break;
    const float fraction = after / (after - before);  // distance back from at(k), in ms
    reversal_time_ = static_cast<double>(now_ - 1) - kDelaySamples - kStep * (k + static_cast<double>(fraction));
    steady_before_ = static_cast<float>(steady_at_loss_ + kUnseen);
    steady_ = steady_at_loss_ + lost_;
    hold_ = kSettle;
    since_reversal_ = static_cast<int>((static_cast<double>(now_) - reversal_time_) / kStep);
    steady_at_loss_ = 0;
    return true;
  }
  return false;
}

// The turn of the tone in `milliseconds` that the offset causes.
Complex ToneDetector::turned(int milliseconds) const {
  const float turns = angle_turns(turn_) * static_cast<float>(milliseconds);
  const int k = static_cast<int>(turns * OscillatorTable::kSize);
  return kOscillatorTable.at[(k % OscillatorTable::kSize + OscillatorTable::kSize) % OscillatorTable::kSize];
}

float ToneDetector::frequency_offset_hz() const {
  return angle_turns(turn_) * (8000.0f / kStep);
}

}  // namespace offhook
