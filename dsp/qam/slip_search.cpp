// SPDX-License-Identifier: MIT
#include "dsp/qam/slip_search.h"

#include "dsp/blocks/preemption_point.h"

namespace offhook::qam {

void SlipSearch::begin(const Interpolator& now, float step_samples, const Loops& then, Phase phase) {
  state_ = State::kKeeping;
  tried_ = kept_ = 0;
  enough_ = Interpolator::kTaps + static_cast<int>(step_samples * kHalves) + 2;
  phase_ = phase;
  turns_ = then.frequency;
  deviation_ = static_cast<float>(then.deviation);
  first_ = now;
  found_ = {};
}

int SlipSearch::needed() const {
  return enough_ + (slip() < 0 ? -slip() : 0);
}

void SlipSearch::advance() {
  ++tried_;
  if (tried_ % 2 != 0 && part_of_next() < kLeastPart && part_of_next() > -kLeastPart) ++tried_;
  if (tried_ == 2 * kCount) state_ = State::kIdle;
}

int SlipSearch::next(const Kernels& kernels, const float* tap_re, const float* tap_im) {
  const int slip = this->slip();
  newest_ = {slip, part_of_next(), 1};
  const int from = slip < 0 ? -slip : 0, to = needed();
  oh_preemption_point();
  Interpolator again = first_;
  int halves = slip > 0 ? again.skip(slip) : 0;  // T/2 samples since begin()
  again.skip_part(newest_.part);
  Phase carrier{phase_.bits + static_cast<uint32_t>(halves / 2) * phase_of(turns_).bits};
  int at = 0, clean = 0, n = 0;  // T/2 sample in the ring; T/2 samples outside the interpolator's memory; symbols
  for (int i = from; i < to && n < kSymbols; ++i) {
    Complex u;
    if (!again.put(line_[i], &u)) continue;
    at = at + 1 == kRing ? 0 : at + 1;
    re_[at] = re_[at + kRing] = u.re;
    im_[at] = im_[at + kRing] = u.im;
    if (i >= from + Interpolator::kTaps) ++clean;
    if (++halves % 2 != 0) continue;
    carrier += phase_of(turns_);
    if (clean <= kTaps) continue;
    const int first = at + 1 + kRing - kTaps;
    symbols_[n++] = kernels.complex_dot(tap_re, tap_im, re_ + first, im_ + first, kTaps) * conj(unit_phasor(carrier));
  }
  advance();
  return slip;
}

bool SlipSearch::judge(float misfit) {
  if (misfit < found_.misfit) found_ = {newest_.samples, newest_.part, misfit};
  const bool has_another_length = tried_ % 2 != 0 && state_ != State::kIdle;
  return found_.misfit < 1 && !has_another_length;
}

}  // namespace offhook::qam
