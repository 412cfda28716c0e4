// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/viterbi.h"

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
  for (int place = 0; place < trellis_states(code); ++place) {
    const int32_t metric = from_zero && t.next_state[place] != 0 ? kFar * kMetricUnit : 0;
    metrics_[after(newest_)][place] = metric | slot_of(place, t.inputs);
  }
}

bool ViterbiDecoder::decode(const float received[4], bool bit_inversion, Point decided[2]) {
  newest_ = after(newest_);
  best_ = step_(received, bit_inversion, metrics_[newest_], metrics_[after(newest_)], &history_[newest_]);
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
  int slot = best_ & kMetricIds;
  int at = newest_;
  for (int age = 0; age < kDepth; ++age) {
    slot = history_[at].from[slot];
    at = before(at);
  }
  for (int k = 0; k < kBatch; ++k) {
    pair_of(history_[at], slot, traced_[k]);
    traced_margin_[k] = margin_at(t, at, slot);
    slot = history_[at].from[slot];
    at = before(at);
  }
  ahead_ = kBatch;
}

void ViterbiDecoder::tentative(Point decided[2]) const {
  pair_of(history_[newest_], best_ & kMetricIds, decided);
}

// The second best of the transitions into the slot against the best.
float ViterbiDecoder::margin_at(const GroupedTrellis& t, int at, int slot) const {
  const int place = place_of(slot, t.inputs);
  const int base = place & ~(t.inputs - 1);
  const int32_t* branch = history_[at].branch[t.output[slot % kTrellisGroups]];
  int32_t least = INT32_MAX, second = INT32_MAX;
  for (int k = 0; k < t.inputs; ++k) {
    const int prior = base + k;
    // What travels in the low bits is less than 1e-4 of a squared distance.
    const int32_t metric = metrics_[at][t.next_place[prior]] + branch[(prior ^ place) & (t.inputs - 1)];
    const int32_t greater = metric < least ? least : metric;  // each a minimum or a maximum: no branch
    least = metric < least ? metric : least;
    second = greater < second ? greater : second;
  }
  return static_cast<float>(second - least) * (1.0f / kMetricUnit);
}

// The pair of points of the transition that survives into the slot.
void ViterbiDecoder::pair_of(const ViterbiStep& s, int slot, Point decided[2]) const {
  const GroupedTrellis& t = grouped_trellis(code_);
  const int prior = t.prior_place[place_of(s.from[slot], t.inputs)];
  const int input = (prior ^ slot / kTrellisGroups) & (t.inputs - 1);
  const int pair = s.branch[t.output[slot % kTrellisGroups]][input] & kMetricIds;
  const int label[2] = {pair >> 3, pair & 7};
  for (int k = 0; k < 2; ++k) decided[k] = {s.re[k][label[k]], s.im[k][label[k]]};
}

}  // namespace offhook::v34
