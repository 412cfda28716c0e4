// SPDX-License-Identifier: MIT
//
// Data mode of one direction of a recorded call: from the symbols after E to bits.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "dsp/v34/data/data_mode.h"
#include "src/decode/phases/training.h"

namespace offhook::decode {

struct DataHeard {
  v34::DataParameters parameters{};
  double t0 = 0, t1 = 0;           ///< seconds: first symbol of B1, last symbol
  double b1_match = 0;             ///< 0 to 1: share of B1 that the known symbols explain; low: parameters are wrong
  int b1_quadrant = 0;             ///< where the differential encoder stood before it; 0 by the Recommendation
  int b1_errors = 0;               ///< bits of B1 that were not one
  double snr_db = 0;               ///< median over the passage, as the Viterbi decoder's best path sees it
  std::vector<std::uint8_t> bits;  ///< after B1, one each
  std::vector<std::pair<double, std::size_t>> times;  ///< second and number of bits until then, every 100 ms
  std::vector<std::pair<double, double>> snr_track;   ///< second and dB, every 100 ms
  std::vector<Cf> constellation;                      ///< samples of what goes into the Viterbi decoder, grid units
  bool s_after = false;                               ///< it ended with S
  ReceiverState at_end;                               ///< within that S, units of four training points
  double t_s = 0;                                     ///< where S began, to a few symbols
};

/// @param end  in samples, where something else is known to begin
DataHeard read_data(const Baseband& line, const Baseband* other, const Direction& direction,
                    const v34::DataParameters& parameters, const ReceiverState& start, double end);

}  // namespace offhook::decode
