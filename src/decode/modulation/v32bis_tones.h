// SPDX-License-Identifier: MIT
//
// The signals of V.32bis that are two symbols in turn: A A .. is the carrier, A C .. its two band edges, S both. They
// are recognised by their spectral lines, without knowledge of the symbol clock.
#pragma once

#include <vector>

#include "src/decode/line/baseband.h"

namespace offhook::decode {

struct V32Tone {
  enum class Kind { kCarrier, kEdges, kS } kind;
  double t0 = 0, t1 = 0;          ///< samples
  std::vector<double> reversals;  ///< samples
};

/// @param line  mixed down from 1800 Hz  @param power  of a symbol of this direction; signals 10 dB below it are
/// an echo.  @return in order of time, tones of at least 20 ms: carrier or edges of this direction's tones, and
/// S
std::vector<V32Tone> find_v32_tones(const Baseband& line, bool answer, double power);

}  // namespace offhook::decode
