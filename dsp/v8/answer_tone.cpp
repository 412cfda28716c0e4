// SPDX-License-Identifier: MIT
#include "dsp/v8/answer_tone.h"

#include "dsp/blocks/level.h"

namespace offhook::v8 {
namespace {

// The Recommendation's depth is 0.2; the window of 1/150 s leaves 0.197. At 10 dB of SNR a block's error is 0.012 rms.
constexpr float kLeastDepth = 0.12f;
constexpr float kPlainDepth = 0.07f;
// A line that limits the tone reduces the depth: to 0.05 at the RMS of the tone, to 0.02 at 0.75 of it. Then 15 Hz
// still exceeds 10 and 20 Hz, where noise is as strong. At 10 dB of SNR, plain ANS passes this once in 10,000 times.
constexpr float kFaintDepth = 0.005f;
constexpr float kOverNeighbours = 5;
constexpr int kDecidingBlocks = 2;
constexpr int kAbsentMs = 40;  // a shorter interruption is a reversal that was not detected
constexpr int kReversalSamples = static_cast<int>(kReversalPeriodS * 8000);

}  // namespace

AnsamGenerator::AnsamGenerator(double tx_level_dbm0, bool reversals)
    // The mean square of the envelope 1 + 0.2 cos is 1.02.
    : peak_(static_cast<float>(dbm0_to_peak(tx_level_dbm0) / 1.00995049383620780)), reversals_(reversals) {}

float AnsamGenerator::next() {
  if (reversals_ && age_++ == kReversalSamples) {
    peak_ = -peak_;
    age_ = 1;
  }
  return peak_ * (1 + static_cast<float>(kModulationDepth) * envelope_.next().re) * carrier_.next().re;
}

void AnswerToneDetector::reset() {
  *this = AnswerToneDetector{};
}

ToneEvent AnswerToneDetector::put(float x) {
  const ToneEvent event = detector_.put(x);
  if (detector_.now() % 8 != 0) return event;
  if (!detector_.present()) {
    in_block_ = 0;
    if (++absent_ms_ == kAbsentMs) {
      tone_ = AnswerTone::kNone;
      plain_blocks_ = faint_blocks_ = reversals_ = 0;
      depth_ = 0;
    }
    return event;
  }
  absent_ms_ = 0;
  if (tone_ == AnswerTone::kNone) tone_ = AnswerTone::kUnknown;
  if (event == ToneEvent::kReversal) {
    ++reversals_;
    in_block_ = 0;
    skip_ms_ = 8;  // the average still contains the reversal
  }
  if (skip_ms_ > 0) {
    --skip_ms_;
    return event;
  }
  if (in_block_ == 0) {
    sum_ = neighbour_sum_[0] = neighbour_sum_[1] = {};
    mean_ = 0;
  }
  const float envelope = magnitude(detector_.average());
  sum_ += envelope * modulation_.next();
  for (int k = 0; k < 2; ++k) neighbour_sum_[k] += envelope * neighbour_[k].next();
  mean_ += envelope;
  if (++in_block_ == kBlockMs) end_block();
  return event;
}

void AnswerToneDetector::end_block() {
  in_block_ = 0;
  const float per_mean = mean_ > 0 ? 2 / mean_ : 0;
  depth_ = per_mean * magnitude(sum_);
  const float neighbours = per_mean * (magnitude(neighbour_sum_[0]) + magnitude(neighbour_sum_[1])) / 2;
  faint_blocks_ = depth_ > kFaintDepth && depth_ > kOverNeighbours * neighbours ? faint_blocks_ + 1 : 0;
  if (depth_ > kLeastDepth || faint_blocks_ >= kDecidingBlocks) {
    tone_ = AnswerTone::kAnsam;
    plain_blocks_ = 0;
  } else if (depth_ < kPlainDepth && ++plain_blocks_ >= kDecidingBlocks) {
    tone_ = AnswerTone::kAns;
  }
}

}  // namespace offhook::v8
