// SPDX-License-Identifier: MIT
#include "dsp/qam/modulator.h"

#include "dsp/blocks/preemption_point.h"
#include "dsp/blocks/renew.h"
#include "dsp/blocks/root_raised_cosine.h"
#include "dsp/blocks/sincos.h"
#include "dsp/blocks/window.h"

namespace offhook::qam {
namespace {

// Steps per symbol that contain every phase of every symbol rate: the least common multiple of 10, 35, 20, 8, 5 and 7.
constexpr int kGrid = 280;
constexpr double kKaiserBeta = 6;

struct Pulse {
  float at[kGrid * Modulator::kSpan / 2 + 1];  // from the peak onwards
};

constexpr Pulse make_pulse(double roll_off) {
  Pulse p{};
  for (int k = 0; k <= kGrid * Modulator::kSpan / 2; ++k) {
    const double t = static_cast<double>(k) / kGrid;
    p.at[k] = static_cast<float>(root_raised_cosine(roll_off, t) * kaiser(2 * t / Modulator::kSpan, kKaiserBeta));
  }
  return p;
}
constexpr Pulse kNarrow = make_pulse(0.09);
constexpr Pulse kWide = make_pulse(0.25);
constexpr const Pulse* kPulses[] = {&kNarrow, &kWide};  // by RollOff

constexpr int gcd(int a, int b) {
  return b == 0 ? a : gcd(b, a % b);
}

}  // namespace

void Modulator::init(const Band& band, double rms, const PreEmphasis& pre_emphasis, RollOff roll_off,
                     const Kernels& kernels) {
  renew(*this);
  const Pulse& pulse = *kPulses[static_cast<int>(roll_off)];
  kernels_ = &kernels;
  const Ratio c = band.carrier;
  const int common = gcd(3 * band.of_2400.num, 10 * band.of_2400.den);  // S / 8000 = 3a / 10c
  per_sample_ = 3 * band.of_2400.num / common;
  phases_ = 10 * band.of_2400.den / common;
  turn_step_ = c.num;
  turns_ = c.den;
  for (int k = 0; k < turns_; ++k) {
    const SinCos w = sincos_turns(static_cast<double>(k) / turns_);
    rotation_[k] = {static_cast<float>(w.cos), static_cast<float>(w.sin)};
  }

  // Power of the real part is half that of the complex signal; a pulse of energy 1 symbol spreads over phases_ /
  // per_sample_ samples.
  const double gain = rms * kSqrt2;
  const double cycles = static_cast<double>(c.num) / c.den;  // carrier turns a symbol
  for (int p = 0; p < phases_; ++p) {
    oh_preemption_point();
    for (int k = 0; k < kSpan; ++k) {  // k = 0: the oldest symbol; the newest has age p / phases_
      const double t_pulse = kSpan - 1 - k + static_cast<double>(p) / phases_ - kSpan / 2.0;
      const int at = static_cast<int>((t_pulse < 0 ? -t_pulse : t_pulse) * kGrid + 0.5);
      const SinCos w = sincos_turns(cycles * t_pulse + 64);
      tap_re_[p][k] = static_cast<float>(gain * pulse.at[at] * w.cos);
      tap_im_[p][k] = static_cast<float>(-gain * pulse.at[at] * w.sin);
    }
  }
  delay_ = static_cast<float>(kSpan / 2.0 * 8000 / band.symbol_hz());
  emphasised_ = pre_emphasis.index > 0;
  if (emphasised_) {
    // The newest sample is last in the window; the padding is before it.
    design_pre_emphasis(pre_emphasis, band, 8000, emphasis_ + (kEmphasisTaps - kPreEmphasisTaps));
    constexpr int kMiddle = kPreEmphasisTaps / 2;
    delay_ += kMiddle;
  }
}

void Modulator::put(Complex symbol) {
  const Complex a = symbol * rotation_[turn_];
  turn_ += turn_step_;
  if (turn_ >= turns_) turn_ -= turns_;
  at_ = at_ + 1 == kSpan ? 0 : at_ + 1;
  re_[at_] = re_[at_ + kSpan] = a.re;
  im_[at_] = im_[at_ + kSpan] = a.im;
}

void Modulator::add_to(HotLines* hot) const {
  hot->add_up_to(this, tap_re_);
  hot->add_up_to(tap_re_, tap_re_ + phases_);
  hot->add_up_to(tap_im_, tap_im_ + phases_);
  if (emphasised_) hot->add_up_to(emphasis_, history_ + 2 * kEmphasisTaps);
}

float Modulator::next() {
  const float* re = re_ + at_ + 1;
  const float* im = im_ + at_ + 1;
  float y = kernels_->two_dots(tap_re_[phase_], re, tap_im_[phase_], im, kSpan);
  phase_ += per_sample_;
  if (phase_ >= phases_) phase_ -= phases_;
  if (emphasised_) {
    emphasis_at_ = emphasis_at_ + 1 == kEmphasisTaps ? 0 : emphasis_at_ + 1;
    history_[emphasis_at_] = history_[emphasis_at_ + kEmphasisTaps] = y;
    y = kernels_->dot(emphasis_, history_ + emphasis_at_ + 1, kEmphasisTaps);
  }
  return y;
}

}  // namespace offhook::qam
