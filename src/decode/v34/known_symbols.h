// SPDX-License-Identifier: MIT
//
// The sequences of Phases 3 and 4 of which every symbol is known, in units of TRN's points.
#pragma once

#include <vector>

#include "dsp/blocks/scrambler.h"
#include "dsp/v34/coding/training.h"
#include "src/decode/line/samples.h"

namespace offhook::decode {

inline Cf to_cf(v34::Point p) {
  return {static_cast<float>(p.re), static_cast<float>(p.im)};
}

/// PP, with the power of TRN's four points.
std::vector<Cf> pp_symbols();

std::vector<Cf> trn_symbols(Scrambling scrambling, v34::TrainingPoints points, int n);

/// The point of TRN that is nearest to y.
Cf nearest_of_trn(Cf y, v34::TrainingPoints points);

}  // namespace offhook::decode
