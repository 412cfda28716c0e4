// SPDX-License-Identifier: MIT
//
// Soft decisions for the trellis code of V.32bis (Figure 1): the path through its eight states that is nearest to the
// symbols received. Any quarter turn of the symbols is a path as well.
#pragma once

#include <stdint.h>

#include "dsp/v32/coding.h"

namespace offhook::v32 {

class ViterbiDecoder {
 public:
  static constexpr int kDepth = 48;  ///< symbols by which decisions are late

  /// Any state to begin with. @pre rate.bits > 2
  explicit ViterbiDecoder(const Rate& rate) : rate_(&rate) {}

  /// One symbol, in units of the rate's points.  @return the label of the symbol kDepth before it, -1 for the first
  /// kDepth.  Real-time: yes, O(points + states).
  int put(Complex y);
  /// The label that the best path has for the newest symbol; nearly always right, and not late.
  int newest() const { return best_label_; }
  /// The labels of the last kDepth symbols, when no more come. @param out [kDepth], oldest first @return how many
  int finish(int* out) const;

 private:
  struct Step {
    uint8_t from[8];   // state before, of the best path into each
    uint8_t label[8];  // of the nearest point of each subset, Y0 Y1 Y2
  };
  static constexpr int kBlock = 8, kBlocks = kDepth / kBlock;
  static int label_of(const Step& step, int to);  // of the best branch into a state
  int best_state() const;
  int oldest_label(int newest, int state) const;

  const Rate* rate_;
  float metric_[8]{};
  int best_label_ = 0;
  Step step_[kDepth]{};
  uint8_t start_[kBlocks][8]{};  // where in each block the best path into a state at its end, or its newest, begins
  int at_ = 0;                   // of the next step
  int filled_ = 0;
};

}  // namespace offhook::v32
