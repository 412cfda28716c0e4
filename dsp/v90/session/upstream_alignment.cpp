// SPDX-License-Identifier: MIT
#include "dsp/v90/session/upstream_alignment.h"

namespace offhook::v90 {

void UpstreamAlignment::enter(State s, PcmEchoCanceller* echo) {
  state_ = s;
  good_blocks_ = 0;
  bad_blocks_ = 1;  // the cause of this
  echo->seek(s == State::kSeek);
}

void UpstreamAlignment::reset(PcmEchoCanceller* echo) {
  if (state_ != State::kSteady) enter(State::kSteady, echo);
  sum_ = glance_ = 0;
  pairs_ = owed_ = 0;
  notes_.reset();
  off_grid_ = false;
}

// Decisions go wrong within a glance, or did so in the one before: their effect on the loops is undone.
void UpstreamAlignment::glance(bool off_grid, qam::Receiver* receiver) {
  const bool begins = off_grid && !off_grid_;
  off_grid_ = off_grid;
  if (!off_grid) {
    notes_.put(receiver->loops());
  } else if (begins && notes_.known()) {
    receiver->go_on_from(notes_.before());
  }
}

void UpstreamAlignment::put(float variance, float usual, PcmEchoCanceller* echo, qam::Receiver* receiver) {
  float most = usual > 0 ? kTimesUsual * usual : kOffGrid;
  if (most < kLeastOff) most = kLeastOff;
  if (most > kOffGrid) most = kOffGrid;
  glance_ += variance;
  if (++pairs_ % kGlancePairs != 0) return;
  glance(glance_ > most * kGlancePairs, receiver);
  sum_ += glance_;
  glance_ = 0;
  if (owed_ != 0) sum_ = 0, pairs_ = 0;
  if (pairs_ < kBlockPairs) return;
  const float mean = sum_ / kBlockPairs;
  sum_ = 0;
  pairs_ = 0;
  if (mean < most) {
    bad_blocks_ = 0;
    if (++good_blocks_ >= kGoodBlocks && state_ != State::kSteady) enter(State::kSteady, echo);
    return;
  }
  good_blocks_ = 0;
  ++bad_blocks_;
  if (state_ == State::kSteady) {
    enter(State::kSeek, echo);
    spent_ = 0;
  } else if (state_ == State::kEchoMoved && bad_blocks_ >= kBadBlocks) {
    owed_ = moved_;
    enter(State::kReceiverMoved, echo);
  } else if (state_ == State::kReceiverMoved && bad_blocks_ >= kBadBlocks) {
    // It was not there: back, and on.
    owed_ = -moved_;
    echo->move(-moved_);
    enter(State::kSeek, echo);
  }
}

void UpstreamAlignment::tick(PcmEchoCanceller* echo) {
  if (!working()) return;
  if (++spent_ >= kMostSamples) return enter(State::kGivenUp, echo);
  if (state_ != State::kSeek || !echo->found(&moved_)) return;
  if (moved_ == 0) return enter(State::kGivenUp, echo);
  echo->move(moved_);
  enter(State::kEchoMoved, echo);
}

}  // namespace offhook::v90
