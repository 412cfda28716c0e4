// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/viterbi.h"

namespace offhook::v34 {

void ViterbiDecoder::reset(TrellisCode code, bool from_zero) {
  code_ = code;
  step_ = viterbi_step(code, set_);
  layout_ = step_layout(trellis_states(code));
  newest_ = 0;
  filled_ = 0;
  ahead_ = 0;
  best_ = 0;
  metrics_at_ = 0;
  const GroupedTrellis& t = grouped_trellis(code);
  constexpr int32_t kFar = 512;
  for (int place = 0; place < trellis_states(code); ++place) {
    const int32_t metric = from_zero && t.next_state[place] != 0 ? kFar * kMetricUnit : 0;
    metrics_[metrics_at_][place] = metric | slot_of(place, t.inputs);
  }
}

bool ViterbiDecoder::decode(const float received[4], bool bit_inversion, Point decided[2]) {
  newest_ = after(newest_);
  best_ = step_(received, bit_inversion, metrics_[metrics_at_], metrics_[1 - metrics_at_], history(newest_));
  metrics_at_ = 1 - metrics_at_;
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

// The last kBatch pairs of the history; the oldest one is decided now.
void ViterbiDecoder::trace() {
  int slot = best_ & kMetricIds;
  int at = newest_;
  for (int age = 0; age < kDepth; ++age) {
    slot = history(at)[slot] & kMetricIds;
    at = before(at);
  }
  for (int k = 0; k < kBatch; ++k) {
    const uint8_t* step = history(at);
    pair_of(step, slot, traced_[k]);
    traced_toss_up_[k] = (step[slot] & StepLayout::kTossUpBit) != 0;
    slot = step[slot] & kMetricIds;
    at = before(at);
  }
  ahead_ = kBatch;
}

// If a step is neither replaced nor decided soon, only its survivors are read, which are in the first line.
void ViterbiDecoder::add_to(HotLines* hot) const {
  constexpr int kWhole = 29;  // starting with the oldest, in a block of 96 samples
  hot->add_up_to(this, history_);
  int at = newest_;
  for (int k = 0; k < kSteps; ++k) {
    at = after(at);
    hot->add(history(at), k < kWhole ? static_cast<size_t>(layout_.bytes) : HotLines::kLine);
  }
}

void ViterbiDecoder::tentative(Point decided[2]) const {
  pair_of(history(newest_), best_ & kMetricIds, decided);
}

// The pair of points of the transition that survives in the slot.
void ViterbiDecoder::pair_of(const uint8_t* step, int slot, Point decided[2]) const {
  const GroupedTrellis& t = grouped_trellis(code_);
  const int prior = t.prior_place[place_of(step[slot] & kMetricIds, t.inputs)];
  const int input = (prior ^ slot / kTrellisGroups) & (t.inputs - 1);
  const int pair = step[layout_.pair + t.output[slot % kTrellisGroups] * t.inputs + input];
  decided[0] = nearest_point(step, layout_, 0, pair >> 3);
  decided[1] = nearest_point(step, layout_, 1, pair & 7);
}

}  // namespace offhook::v34
