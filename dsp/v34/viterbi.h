// SPDX-License-Identifier: MIT
//
// Soft-decision Viterbi decoder for the three 4D trellis codes of V.34 (9.6.3).
//
// Each 4D symbol brings two received points. Of each of the eight 2D subsets only the nearest point matters; of each 4D
// subset (input Y4..Y1 and label parity) only its best pair. That leaves one branch metric for each transition of the
// trellis.
//
// The transitions of each code fall into four groups: within a group every prior state is joined with every next state,
// the input is the exclusive or of their places in the group, and Y0 is the same for all. (The AND gates of the
// 64-state encoder only decide which places.) So one step is four small min-plus convolutions over contiguous arrays,
// which the compiler turns into SIMD code, and a survivor needs one byte.
//
// The lattice is taken as unbounded: after the precoder any odd point may occur.
#pragma once

#include <stdint.h>

#include "dsp/v34/trellis.h"

namespace offhook::v34 {

class ViterbiDecoder {
 public:
  /// 4D symbols between a pair going in and its decision coming out. About six times the memory of the longest code.
  static constexpr int kDelay = 32;

  explicit ViterbiDecoder(TrellisCode code = TrellisCode::k16) { reset(code, false); }

  /// @param from_zero  the encoder starts from state 0 with the next pair (B1); otherwise any state may be the first
  void reset(TrellisCode code, bool from_zero);

  /// One 4D symbol. @param[in] received  re, im, re, im of two points, grid units; any value, NaN too
  /// @param bit_inversion  V0 of this 4D symbol  @param[out] decided  [2] the pair of kDelay 4D symbols ago
  /// @return true when `decided` was written: from the kDelay+1st call on.
  /// Real-time: yes, O(1); about states * inputs additions and kDelay steps of traceback.
  bool decode(const float received[4], bool bit_inversion, Point decided[2]);

  /// The pair of the newest 4D symbol on the best path so far: without delay, less certain; for loops that adapt.
  void tentative(Point decided[2]) const;

  /// How much the metric of the best path grew with the newest 4D symbol: squared distance, near the noise energy of
  /// two points when all is well.
  float path_metric_step() const { return metric_step_; }

 private:
  static constexpr int kHistory = kDelay + 1;

  struct Step {
    uint8_t before[kMaxTrellisStates];  // by next place: where the survivor came from, its next place one step earlier
    uint8_t pair[2][16];                // by Y0 and input: 8 s(2m) + s(2m+1) of the best pair
    Point nearest[2][8];                // by subset label
  };

  template <int kInputs>
  void step(const float branch[2][16], Step* s);
  int best_place() const;
  void pair_of(const Step& s, int place, Point decided[2]) const;

  TrellisCode code_ = TrellisCode::k16;
  int newest_ = 0;
  int filled_ = 0;
  float metric_step_ = 0;
  float metric_[kMaxTrellisStates];  // by next place
  Step history_[kHistory];
};

}  // namespace offhook::v34
