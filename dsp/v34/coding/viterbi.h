// SPDX-License-Identifier: MIT
//
// Soft-decision Viterbi decoder for the three 4D trellis codes of V.34 (9.6.3).
//
// Each 4D symbol brings two received points. For each of the eight 2D subsets only the nearest point matters; for each
// 4D subset (input Y4..Y1 and label parity) only its best pair. That leaves one branch metric for each transition of
// the trellis (viterbi_step.h). The survivors are traced back for eight decisions at a time.
//
// The lattice is taken as unbounded: after the precoder any odd point may occur.
#pragma once

#include <stdint.h>

#include "dsp/blocks/hot_lines.h"
#include "dsp/v34/coding/trellis.h"
#include "dsp/v34/coding/viterbi_step.h"

namespace offhook::v34 {

class ViterbiDecoder {
 public:
  /// 4D symbols after which survivors are assumed to have merged: at least six times the longest code's memory.
  static constexpr int kDepth = 32;
  static constexpr int kBatch = 8;
  /// 4D symbols between the input of a pair and its decision.
  static constexpr int kDelay = kDepth + kBatch - 1;

  /// @pre cpu_has(set); it affects only the speed
  explicit ViterbiDecoder(TrellisCode code = TrellisCode::k16, InstructionSet set = best_kernels().set) : set_(set) {
    reset(code, false);
  }

  /// @param from_zero  the encoder starts from state 0 with the next pair (B1); otherwise it may start from any state
  void reset(TrellisCode code, bool from_zero);

  /// One 4D symbol. @param[in] received  re, im, re, im of two points, grid units; any value, even NaN
  /// @param bit_inversion  V0 of this 4D symbol  @param[out] decided  [2] the pair of kDelay 4D symbols ago
  /// @return whether `decided` was written, from call kDelay + 1 on. Real-time: yes, O(1): about states * inputs
  /// additions, and kDelay steps of traceback in each eighth call.
  bool decode(const float received[4], bool bit_inversion, Point decided[2]);

  /// The pair of the newest 4D symbol on the best path so far: without delay, but less certain; for adaptive loops.
  void tentative(Point decided[2]) const;

  /// For the last decided pair: whether another path, worse by at most kTossUp, joins the decided one there. Parallel
  /// transitions are ignored.
  bool toss_up() const { return traced_toss_up_[ahead_]; }

  void add_to(HotLines* hot) const;  ///< the memory that decode() uses

  /// How much the metric of the best path grew with the newest 4D symbol: squared distance, about the noise energy of
  /// two points in normal operation.
  float path_metric_step() const {
    return static_cast<float>(best_ >> kMetricIdBits) * (1.0f / static_cast<float>(kMetricUnit >> kMetricIdBits));
  }

 private:
  static constexpr int kSteps = kDelay + 1;

  static int before(int at) { return at == 0 ? kSteps - 1 : at - 1; }
  static int after(int at) { return at + 1 == kSteps ? 0 : at + 1; }
  uint8_t* history(int at) { return history_ + at * layout_.bytes; }
  const uint8_t* history(int at) const { return history_ + at * layout_.bytes; }
  void trace();
  void pair_of(const uint8_t* step, int slot, Point decided[2]) const;

  TrellisCode code_ = TrellisCode::k16;
  InstructionSet set_;
  ViterbiStepFunction step_ = nullptr;
  StepLayout layout_{};
  int newest_ = 0;
  int filled_ = 0;
  int ahead_ = 0;            // decisions that remain in traced_
  int metrics_at_ = 0;       // those after the newest step
  int32_t best_ = 0;         // as returned by the step
  Point traced_[kBatch][2];  // the newest first
  bool traced_toss_up_[kBatch]{};
  alignas(64) int32_t metrics_[2][kMaxTrellisStates];
  alignas(64) uint8_t history_[kSteps * StepLayout::kMostBytes];
};

}  // namespace offhook::v34
