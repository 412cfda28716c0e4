// SPDX-License-Identifier: MIT
//
// Data mode of one direction of a recorded call: from the symbols after E to bits.
#pragma once

#include "dsp/v34/session/data_mode.h"
#include "src/decode/line/data.h"
#include "src/decode/v34/lattice.h"
#include "src/decode/v34/training.h"

namespace offhook::decode {

struct V34DataHeard : DataHeard {
  v34::DataParameters parameters{};
  double b1_match = 0;         ///< 0 to 1: share of B1 that the known symbols explain; low: parameters are wrong
  v34::EncoderStart b1_start;  ///< state of the encoder before it; all zero by the Recommendation
  bool b1_found = false;
  double due_t = 0;       ///< of the first symbol of B1, behind E; t0 is the first one that was read
  LatticeSearch lattice;  ///< of the data, if B1 was not found
  bool was_read() const { return b1_found || lattice.result == LatticeSearch::Result::kFound; }
  double unsure_t = 0;         ///< from then on most decisions are too uncertain; 0: never
  bool lost = false;           ///< it ended because the points could no longer be distinguished
  bool silence_after = false;  ///< it ended with the signal
  bool s_after = false;        ///< it ended with S
  double t_s = 0;              ///< begin of S, to a few symbols
  std::vector<std::pair<double, int>>
      slips;             ///< when, and how many samples of 8000 Hz were put in, or lost if negative
  ReceiverState at_end;  ///< within that S, units of four training points
};

/// @param end  in samples, the known begin of another signal
V34DataHeard read_data(const Baseband& line, const Baseband* other, const Direction& direction,
                       const v34::DataParameters& parameters, const ReceiverState& start, double end);

}  // namespace offhook::decode
