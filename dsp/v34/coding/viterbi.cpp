// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/viterbi.h"

#include <string.h>

namespace offhook::v34 {

void ViterbiDecoder::reset(TrellisCode code, bool from_zero) {
  code_ = code;
  step_ = viterbi_step(code, set_);
  newest_ = 0;
  filled_ = 0;
  ahead_ = 0;
  best_ = 0;
  const GroupedTrellis& t = grouped_trellis(code);
  constexpr int32_t kFar = 512;
  for (int place = 0; place < kMaxTrellisStates; ++place) {
    metric_[place] = from_zero && t.next_state[place] != 0 ? kFar * kMetricUnit : 0;
  }
}

bool ViterbiDecoder::decode(const float received[4], bool bit_inversion, Point decided[2]) {
  newest_ = newest_ + 1 == kHistory ? 0 : newest_ + 1;
  memcpy(metrics_[newest_], metric_, sizeof metric_);
  best_ = step_(received, bit_inversion, metric_, &history_[newest_]);
  if (filled_ < kDelay) {
    ++filled_;
    return false;
  }
  if (ahead_ == 0) trace();
  --ahead_;
  decided[0] = traced_[ahead_][0];
  decided[1] = traced_[ahead_][1];
  return true;
}

// The last kBatch pairs of the history; the oldest comes out now.
void ViterbiDecoder::trace() {
  const GroupedTrellis& t = grouped_trellis(code_);
  int place = best_ & kMetricIds;
  int at = newest_;
  for (int age = 0; age < kHistory; ++age) {
    const ViterbiStep& s = history_[at];
    if (age >= kDepth) {
      pair_of(s, place, traced_[age - kDepth]);
      traced_margin_[age - kDepth] = margin_at(t, at, place);
    }
    place = t.next_place[prior_place(t, s, place)];
    at = at == 0 ? kHistory - 1 : at - 1;
  }
  ahead_ = kBatch;
}

void ViterbiDecoder::tentative(Point decided[2]) const {
  pair_of(history_[newest_], best_ & kMetricIds, decided);
}

// Where the survivor into `place` comes from.
int ViterbiDecoder::prior_place(const GroupedTrellis& t, const ViterbiStep& s, int place) {
  const int h = place & (t.inputs - 1);
  const int base = place - h;
  return base + static_cast<int>(s.from[h] >> (8 * (base / t.inputs)) & 0xFF);
}

// The second best of the transitions into `place` against the best.
float ViterbiDecoder::margin_at(const GroupedTrellis& t, int at, int place) const {
  const int base = place & ~(t.inputs - 1);
  const int32_t* branch = history_[at].branch[t.output[place / t.inputs]];
  int32_t least = INT32_MAX, second = INT32_MAX;
  for (int k = 0; k < t.inputs; ++k) {
    const int prior = base + k;
    const int32_t metric = metrics_[at][t.next_place[prior]] + (branch[(prior ^ place) & (t.inputs - 1)] & ~kMetricIds);
    if (metric < second) second = metric;
    if (second < least) {
      second = least;
      least = metric;
    }
  }
  return static_cast<float>(second - least) * (1.0f / kMetricUnit);
}

// The pair of points of the transition that survives into `place`.
void ViterbiDecoder::pair_of(const ViterbiStep& s, int place, Point decided[2]) const {
  const GroupedTrellis& t = grouped_trellis(code_);
  const int input = (prior_place(t, s, place) ^ place) & (t.inputs - 1);
  const int pair = s.branch[t.output[place / t.inputs]][input] & kMetricIds;
  const int label[2] = {pair >> 3, pair & 7};
  for (int k = 0; k < 2; ++k) decided[k] = {s.re[k][label[k]], s.im[k][label[k]]};
}

}  // namespace offhook::v34
