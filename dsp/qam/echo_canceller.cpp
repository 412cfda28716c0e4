// SPDX-License-Identifier: MIT
#include "dsp/qam/echo_canceller.h"

#include "dsp/blocks/cosine_table.h"
#include "dsp/blocks/nco.h"
#include "dsp/blocks/renew.h"
#include "dsp/blocks/window.h"

namespace offhook::qam {
namespace {

constexpr float kNearStep = 0.35f;
constexpr float kFarStep = 0.5f;
constexpr int kFullSteps = 2500;  // samples until the steps begin to shrink
constexpr float kLeastStep = 0.01f;
constexpr int kPhaseLoopFrom = 900;                // samples of training
constexpr float kPhaseGain = 0.008f;               // per sample, in training: about 10 Hz
constexpr float kPhaseGainData = 5e-5f;            // 0.06 Hz
constexpr float kOffsetThatCounts = 0.25f / 8000;  // without an offset, noise gives less
constexpr float kPowerMemory = 1.0f / 128;
constexpr int kSettle = 400;  // samples of training in which only the powers are measured

constexpr int kBlockTaps = 16;
// Relative to the mean energy that noise should have, so that almost no block of noise remains. The noise of the near
// taps is not white. That of the far taps has the signal's band: at 2400 symbols/s a block has 2400 / 8000 * 2 * 16 =
// 10 degrees of freedom, and chi-square of 10 is more than three times its mean once in 1000.
constexpr float kNearMargin = 4;
constexpr float kFarMargin = 3;

void zero_below(float mean_square, float* re, float* im, int taps) {
  for (int k = 0; k < taps; k += kBlockTaps) {
    float energy = 0;
    for (int j = k; j < k + kBlockTaps; ++j) energy += re[j] * re[j] + (im != nullptr ? im[j] * im[j] : 0);
    if (energy > kBlockTaps * mean_square) continue;
    for (int j = k; j < k + kBlockTaps; ++j) {
      re[j] = 0;
      if (im != nullptr) im[j] = 0;
    }
  }
}

float step_now(float first, int samples) {
  const float step = samples < kFullSteps ? first : first * kFullSteps / static_cast<float>(2 * samples - kFullSteps);
  return step > kLeastStep ? step : kLeastStep;
}

}  // namespace

struct EchoCanceller::FilterWindow {
  double at[kFilterDelay + 1];  // from the middle onwards
  constexpr FilterWindow() : at{} {
    for (int t = 0; t <= kFilterDelay; ++t) at[t] = kaiser(static_cast<double>(t) / (kFilterDelay + 1), 5);
  }
};

void EchoCanceller::init(const Band& band, int io_delay_samples, int round_trip_samples, const Kernels& kernels) {
  renew(*this);
  kernels_ = &kernels;
  near_delay_ = io_delay_samples > 8 ? io_delay_samples - 8 : 0;
  far_delay_ = io_delay_samples + round_trip_samples - kFarBefore;
  if (far_delay_ < near_delay_ + kNearTaps) far_delay_ = near_delay_ + kNearTaps;  // one FIR per row
  has_far_ = far_delay_ <= kMaxDelaySamples;

  static constexpr FilterWindow kFilterWindow;
  // The last tap is for the newest sample.
  const double s = band.symbol_hz() / 8000;
  const double fc = band.carrier_hz() / 8000;
  constexpr uint32_t kGrid = CosineTable::kSteps / 4;
  constexpr double kEdge = 0.06;  // half the width of the slope at the band's edges, relative to the symbol rate
  double mean = 0;
  double weight[kGrid];
  for (uint32_t n = 0; n < kGrid; ++n) {
    const double f = (n + 0.5) / (2 * kGrid);
    const double x = ((f > fc ? f - fc : fc - f) / s - 0.5) / kEdge;
    const double spectrum = x < -1 ? 1 : x > 1 ? 0 : 0.5 - 0.5 * sincos_turns(x / 4 + 1).sin;
    weight[n] = 1 / (spectrum + 0.02);
    mean += weight[n] * spectrum / kGrid;
  }
  // Both are symmetric, apart from one tap at an end.
  for (int t = 0; t <= kFilterDelay; ++t) {
    oh_preemption_point();
    const double window = kFilterWindow.at[t];
    double sum = 0;
    // The grid's frequencies are odd multiples of half its step.
    for (uint32_t n = 0; n < kGrid; ++n) sum += weight[n] * kCosine((2 * n + 1) * static_cast<uint32_t>(t));
    const auto inverse = static_cast<float>(sum / kGrid / mean * window);
    const float hilbert = t % 2 == 0 ? 0 : static_cast<float>(-2 / (kPi * t) * window);
    inverse_[kMiddle + t] = inverse;
    hilbert_[kMiddle + t] = hilbert;
    if (t == 0 || t > kMiddle) continue;
    inverse_[kMiddle - t] = inverse;
    hilbert_[kMiddle - t] = -hilbert;
  }
}

void EchoCanceller::set_training(bool training) {
  if (training && !training_) {
    trained_samples_ = 0;
    echo_power_ = residual_power_ = 0;
  }
  if (training_ && !training && frequency_ < kOffsetThatCounts && frequency_ > -kOffsetThatCounts) frequency_ = 0;
  if (training_ && !training) drop_noise();
  training_ = training;
  near_span_ = training ? Span{0, kNearTaps} : span_of(near_, nullptr, kNearTaps);
  far_span_ = training ? Span{0, kFarTaps} : span_of(far_re_, far_im_, kFarTaps);
  if (joined_ && training) {
    for (int late = kFarTaps - 1; late >= 0; --late) {
      oh_preemption_point();
      put_analytic(late);
    }
  }
  joined_ = !training && hears_far() && frequency_ == 0;
  if (joined_) join_far();
}

// Re(turn sum of c[k] (x[k] + i sum of h[j] x[k + j - kMiddle])) as one sum over x.
void EchoCanceller::join_far() {
  const Complex turn = unit_phasor(phase_);
  for (float& tap : joined_taps_) tap = 0;
  for (int k = 0; k < kFarTaps; ++k) {
    oh_preemption_point();
    const Complex c = Complex{far_re_[k], far_im_[k]} * turn;
    joined_taps_[1 + k + kMiddle] += c.re;  // the first one remains
    kernels_->accumulate(joined_taps_ + 1 + k, hilbert_, -c.im, kFilterTaps);
  }
  joined_span_ = span_of(joined_taps_, nullptr, kJoinedTaps);
}

EchoCanceller::Span EchoCanceller::span_of(const float* re, const float* im, int taps) {
  constexpr int kRow = 16;  // a sum of the kernels takes two of them alternately
  const auto is_zero = [&](int k) { return re[k] == 0 && (im == nullptr || im[k] == 0); };
  int from = 0, to = taps;
  while (from < taps && is_zero(from)) ++from;
  while (to > from && is_zero(to - 1)) --to;
  from = from / (2 * kRow) * (2 * kRow);
  to = (to + kRow - 1) / kRow * kRow;
  return {from, to > from ? to - from : 0};
}

// Taps without an echo to cancel hold the noise of their adaptation, and would add it to the received signal for the
// rest of the connection. Blocks of taps with no more energy than that become zero.
void EchoCanceller::drop_noise() {
  // The noise of an LMS tap is half the step times the received noise, divided by the signal's power. The filter of the
  // inverse spectrum amplifies it.
  const float per_power = residual_power_ / 2;
  const float near =
      step_now(kNearStep, trained_samples_) / (power_floor() * kNearTaps) * per_power * inverse_[kMiddle];
  zero_below(kNearMargin * near, near_, nullptr, kNearTaps);
  if (!has_far_) return;
  const float far = step_now(kFarStep, trained_samples_ - far_delay_) / ((far_power_ + 0.5f) * kFarTaps) * per_power;
  zero_below(kFarMargin * far, far_re_, far_im_, kFarTaps);
}

// The analytic signal of the sample for which the newest tap of the far echo was used `late` samples ago.
void EchoCanceller::put_analytic(int late) {
  const float* around = sent_.window(at_, far_delay_ - kFilterDelay + late, kFilterTaps);
  far_at_ = far_at_ + 1 == kFarWindow ? 0 : far_at_ + 1;
  analytic_re_.put(far_at_, around[kMiddle]);
  analytic_im_.put(far_at_, kernels_->dot(hilbert_, around, kFilterTaps));
}

void EchoCanceller::put(float x) {
  at_ = at_ + 1 == kLong ? 0 : at_ + 1;
  short_at_ = short_at_ + 1 == kShort ? 0 : short_at_ + 1;
  sent_.put(at_, x);
  if (hears_far() && !joined_) put_analytic(0);  // taps that begin at zero adapt only when their window is new
  if (training_) {
    const float* recent = sent_.window(at_, 0, kFilterTaps);
    const float delayed = recent[kMiddle];
    const float inverse = kernels_->dot(inverse_, recent, kFilterTaps);
    inverse_sent_.put(short_at_, inverse);
    near_power_ += kPowerMemory * (inverse * delayed - near_power_);
    far_power_ += kPowerMemory * (delayed * delayed - far_power_);
  }
}

// At the beginning of a signal the mean power lags: use at least the power at which the error is meaningful.
float EchoCanceller::power_floor() const {
  const float least = 0.5f * far_power_ + 1;
  return near_power_ > least ? near_power_ : least;
}

void EchoCanceller::adapt_near(float residual) {
  // The filter's delay makes the step late by kFilterDelay samples.
  float& late = residual_[trained_samples_ % kFilterDelay];
  const float error = late;
  late = residual;
  if (trained_samples_ < kSettle) return;
  const float step = step_now(kNearStep, trained_samples_) / (power_floor() * kNearTaps);
  kernels_->accumulate(near_, inverse_sent_.window(short_at_, near_delay_, kNearTaps), step * error, kNearTaps);
}

void EchoCanceller::add_to(HotLines* hot) const {
  constexpr int kAhead = 96;  // samples of a block
  const auto row = [hot](const float* from, int samples) {
    hot->add(from, static_cast<size_t>(samples) * sizeof(float));
  };
  hot->add_up_to(this, near_);
  row(sent_.at + at_, kAhead);
  if (near_span_.taps > 0) {
    row(near_ + near_span_.from, near_span_.taps);
    row(sent_.window(at_, near_delay_, kNearTaps) + near_span_.from, near_span_.taps + kAhead);
  }
  if (joined_) {
    row(joined_taps_ + joined_span_.from, joined_span_.taps);
    row(sent_.window(at_, far_delay_ - kFilterDelay, kJoinedTaps) + joined_span_.from, joined_span_.taps + kAhead);
  }
  if (hears_far() && !joined_) hot->add_up_to(&phase_, hilbert_);
}

float EchoCanceller::process(float received) {
  const auto [near, near_taps] = near_span_;
  float residual = received;
  if (near_taps > 0)
    residual -= kernels_->dot(near_ + near, sent_.window(at_, near_delay_, kNearTaps) + near, near_taps);
  if (!training_ && !hears_far()) return residual;
  if (joined_) {
    const auto [joined, taps] = joined_span_;
    const float* x = sent_.window(at_, far_delay_ - kFilterDelay, kJoinedTaps);
    return residual - kernels_->dot(joined_taps_ + joined, x + joined, taps);
  }
  const float* re = nullptr;
  const float* im = nullptr;
  Complex turn{1, 0};
  Complex replica{};
  if (hears_far()) {
    re = analytic_re_.window(far_at_, 0, kFarTaps);
    im = analytic_im_.window(far_at_, 0, kFarTaps);
    phase_ += step_of(frequency_);
    turn = unit_phasor(phase_);
    const auto [far, far_taps] = far_span_;
    replica = kernels_->complex_dot(far_re_ + far, far_im_ + far, re + far, im + far, far_taps) * turn;
    residual -= replica.re;
  }
  const int far_samples = trained_samples_ - far_delay_;  // delays at which a far echo is possible
  if (training_) {
    ++trained_samples_;
    adapt_near(residual);
    if (hears_far() && far_samples >= kSettle) {
      const float step = step_now(kFarStep, far_samples) * residual / ((2 * far_power_ + 1) * kFarTaps);
      kernels_->complex_adapt(far_re_, far_im_, re, im, step * conj(turn), kFarTaps);
    }
    echo_power_ += kPowerMemory * (received * received - echo_power_);
    residual_power_ += kPowerMemory * (residual * residual - residual_power_);
  }
  if (hears_far() && ((training_ && far_samples > kPhaseLoopFrom) || (!training_ && frequency_ != 0))) {
    replica_power_ += (1.0f / 1024) * (norm(replica) - replica_power_);
    const float gain = training_ ? kPhaseGain : kPhaseGainData;
    // Turning the replica further changes it by its negative quadrature.
    float error = -residual * replica.im / (replica_power_ + (training_ ? residual_power_ : 0) + 1.0f);
    error *= 2 * kTurnsPerRadian;  // turns
    if (error > 0.5f) error = 0.5f;
    if (error < -0.5f) error = -0.5f;
    phase_ += step_of(gain * error);
    frequency_ += gain * gain / 4 * error;
  }
  return residual;
}

}  // namespace offhook::qam
