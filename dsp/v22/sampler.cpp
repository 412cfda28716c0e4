// SPDX-License-Identifier: MIT
#include "dsp/v22/sampler.h"

namespace offhook::v22 {
namespace {

constexpr int64_t kOne = int64_t{1} << 32;
constexpr int64_t kNominalStep = 20 * kOne / 3;  // T/2
constexpr int kPhaseBits = 27;                   // in 32nds of a sample below ReceiveFilter's phase
static_assert(1 << (32 - kPhaseBits) == ReceiveFilter::kPhases);

// Sixteen products in four sums, so that the compiler may use the vector unit without reordering additions.
float dot(const float* a, const float* b) {
  float sum[4]{};
  for (int k = 0; k < 2 * TransmitPulse::kSpan; k += 4) {
    for (int j = 0; j < 4; ++j) sum[j] += a[k + j] * b[k + j];
  }
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

}  // namespace

void Shaper::put(Complex symbol) {
  constexpr int kSpan = TransmitPulse::kSpan;
  for (int k = 1; k < 2 * kSpan; ++k) symbols_[k - 1] = symbols_[k];
  symbols_[kSpan - 1] = symbol.re;
  symbols_[2 * kSpan - 1] = symbol.im;
}

float Shaper::next() {
  const float x = dot(pulse_->tap[phase_], symbols_);
  phase_ += TransmitPulse::kPerSample;
  if (phase_ >= TransmitPulse::kPhases) phase_ -= TransmitPulse::kPhases;
  return x;
}

Sampler::Sampler(Channel channel, const Kernels& kernels)
    : kernels_(&kernels),
      filter_(&receive_filter(channel)),
      carrier_twentieths_(channel == Channel::kLow ? 3 : 6),
      step_(kNominalStep) {}

// Moves the next T/2 sample later by `by`. The carrier turns for the same time.
void Sampler::advance(int64_t by) {
  until_ += by;
  turned_.bits += static_cast<uint32_t>(by * carrier_twentieths_ / 20);
}

void Sampler::delay(float samples) {
  advance(static_cast<int64_t>(samples * static_cast<float>(kOne)));
}

void Sampler::set_deviation(double deviation) {
  step_ = kNominalStep + static_cast<int64_t>(static_cast<double>(kNominalStep) * deviation);
}

bool Sampler::put(float sample, Complex* u) {
  line_at_ = line_at_ + 1 == ReceiveFilter::kTaps ? 0 : line_at_ + 1;
  line_[line_at_] = line_[line_at_ + ReceiveFilter::kTaps] = sample;
  until_ -= kOne;
  if (until_ > 0) return false;
  *u = baseband();
  advance(step_);
  return true;
}

Complex Sampler::baseband() const {
  const auto ago = static_cast<uint32_t>(-until_ < kOne ? -until_ : kOne - 1);
  const uint32_t phase = ago >> kPhaseBits;
  const float* x = line_ + line_at_ + 1;
  const Complex u{kernels_->dot(filter_->re[phase], x, ReceiveFilter::kTaps),
                  kernels_->dot(filter_->im[phase], x, ReceiveFilter::kTaps)};
  // The filter is at most half a phase from the wanted one; the carrier is removed at the filter's position.
  const int64_t off = static_cast<int64_t>(ago & ((1u << kPhaseBits) - 1)) - (int64_t{1} << (kPhaseBits - 1));
  const Phase at{turned_.bits + static_cast<uint32_t>(off * carrier_twentieths_ / 20)};
  return u * conj(unit_phasor(at));
}

}  // namespace offhook::v22
