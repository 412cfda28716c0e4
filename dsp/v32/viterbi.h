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
  static constexpr int kDepth = 48;  ///< delay of decisions, in symbols

  /// Starts in any state. @pre rate.bits > 2
  explicit ViterbiDecoder(const Rate& rate) : rate_(&rate) {}

  /// One symbol, in units of the rate's points.  @return the label of the symbol kDepth - 1 before it, -1 for the first
  /// kDepth - 1.  Real-time: yes, O(states), in each eighth call O(kDepth).
  int put(Complex y);
  /// The label of the newest symbol on the best path; nearly always right, and without delay.
  int newest() const;
  /// The same, as a point.
  Complex newest_point() const;
  /// The labels of the last kDepth symbols, when no more arrive. @param out [kDepth], oldest first @return their number
  int finish(int* out) const;

 private:
  struct Step {
    uint8_t from[8];       // previous state of the best path into each state
    int16_t re[8], im[8];  // the nearest point of each subset Y0 Y1 Y2
  };
  static constexpr int kBatch = 8;  // labels that one trace gives
  static int before(int at) { return at == 0 ? kDepth - 1 : at - 1; }
  static int subset_of(const Step& step, int to);  // for the best branch into a state
  int label_of(const Step& step, int to) const;    // of the same
  void trace();

  const Rate* rate_;
  alignas(16) float metric_[8]{};
  int newest_ = kDepth - 1;  // step
  int best_ = 0;             // state after it
  int filled_ = 0;
  int ahead_ = 0;             // labels that remain in traced_
  uint8_t traced_[kBatch]{};  // the newest first
  Step step_[kDepth]{};
};

}  // namespace offhook::v32
