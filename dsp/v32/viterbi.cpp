// SPDX-License-Identifier: MIT
#include "dsp/v32/viterbi.h"

namespace offhook::v32 {

int ViterbiDecoder::best_state() const {
  int best = 0;
  for (int s = 1; s < 8; ++s) {
    if (metric_[s] < metric_[best]) best = s;
  }
  return best;
}

int ViterbiDecoder::put(Complex y) {
  const int uncoded = rate_->bits - 2;
  for (float& d : distance_) d = 1e30f;
  for (int label = 0; label < rate_->count; ++label) {
    const float d = norm(y - complex(rate_->points[label]));
    const int subset = label >> uncoded;
    if (d < distance_[subset]) {
      distance_[subset] = d;
      label_[subset] = label;
    }
  }
  float metric[8];
  for (float& m : metric) m = 1e30f;
  Step& step = step_[at_];
  for (int s = 0; s < 8; ++s) {
    for (int pair = 0; pair < 4; ++pair) {
      const int subset = (s & 1) << 2 | pair;
      const int to = next_state(s, pair);
      const float m = metric_[s] + distance_[subset];
      if (m < metric[to]) {
        metric[to] = m;
        step.from[to] = static_cast<uint8_t>(s);
        step.label[to] = static_cast<uint8_t>(label_[subset]);
      }
    }
  }
  float least = metric[0];
  for (int s = 1; s < 8; ++s) least = metric[s] < least ? metric[s] : least;
  for (int s = 0; s < 8; ++s) metric_[s] = metric[s] - least;
  const int best = best_state();
  best_subset_ = step.label[best] >> uncoded;
  at_ = at_ + 1 == kDepth ? 0 : at_ + 1;
  if (filled_ < kDepth) {
    ++filled_;
    if (filled_ < kDepth) return -1;
  }
  int state = best;
  int label = 0;
  for (int n = 0, k = at_; n < kDepth; ++n) {
    k = k == 0 ? kDepth - 1 : k - 1;
    label = step_[k].label[state];
    state = step_[k].from[state];
  }
  return label;
}

int ViterbiDecoder::finish(int* out) const {
  const int n = filled_ < kDepth ? filled_ : kDepth - 1;  // the oldest of a full history was given
  int state = best_state();
  for (int i = n - 1, k = at_; i >= 0; --i) {
    k = k == 0 ? kDepth - 1 : k - 1;
    out[i] = step_[k].label[state];
    state = step_[k].from[state];
  }
  return n;
}

}  // namespace offhook::v32
