// SPDX-License-Identifier: MIT
#include "dsp/qam/slip_search.h"

namespace offhook::qam {

void SlipSearch::begin(const Interpolator& now, float step_samples, Phase phase, float turns) {
  state_ = State::kKeeping;
  tried_ = kept_ = 0;
  enough_ = Interpolator::kTaps + static_cast<int>(step_samples * (kTaps + 2 * kSymbols)) + 2;
  phase_ = phase;
  turns_ = turns;
  first_ = now;
}

int SlipSearch::needed() const {
  return enough_ + (kSlips[tried_] < 0 ? -kSlips[tried_] : 0);
}

int SlipSearch::next(const Kernels& kernels, const float* tap_re, const float* tap_im) {
  const int slip = kSlips[tried_];
  const int last = needed();
  again_ = first_;
  int halves = slip > 0 ? again_.skip(slip) : 0;  // T/2 samples since begin()
  for (float& v : re_) v = 0;
  for (float& v : im_) v = 0;
  int at = 0;
  Phase carrier = phase_;
  for (int k = 1; k <= halves / 2; ++k) carrier += phase_of(turns_);
  int n = 0;  // of the symbol in a ring
  for (int i = slip < 0 ? -slip : 0; i < last; ++i) {
    Complex u;
    if (!again_.put(line_[i], &u)) continue;
    at = at + 1 == kRing ? 0 : at + 1;
    re_[at] = re_[at + kRing] = u.re;
    im_[at] = im_[at + kRing] = u.im;
    if (++halves % 2 != 0) continue;
    carrier += phase_of(turns_);
    const int first = at + 1 + kRing - kTaps;
    const Complex z = kernels.complex_dot(tap_re, tap_im, re_ + first, im_ + first, kTaps);
    symbols_[n] = z * conj(unit_phasor(carrier));
    n = n + 1 == kSymbols ? 0 : n + 1;
  }
  // Oldest first.
  const auto reverse = [this](int from, int to) {
    for (--to; from < to; ++from, --to) {
      const Complex one = symbols_[from];
      symbols_[from] = symbols_[to];
      symbols_[to] = one;
    }
  };
  reverse(0, n);
  reverse(n, kSymbols);
  reverse(0, kSymbols);
  if (++tried_ == kCount) state_ = State::kIdle;
  return slip;
}

}  // namespace offhook::qam
