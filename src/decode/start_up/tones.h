// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "src/decode/start_up/info.h"

namespace offhook::decode {

/// Phase 2 begins at most kBeforeInfoS before the first INFO sequence, and ends kAfterInfoS after the last.
inline constexpr double kBeforeInfoS = 0.15, kAfterInfoS = 0.4;

/// Tone A or B of Phase 2. Times in seconds.
struct ToneHeard {
  int channel = 0;
  std::vector<std::pair<double, double>> segments;  ///< with the INFO sequences on the same carrier that they join
  std::vector<double> reversals;
};

/// Only around the INFO sequences, because data and speech may also contain the tone.
/// @param info  of all modems, in order of time; not empty
ToneHeard find_tone(const Recording& recording, int channel, int hz, const std::vector<InfoHeard>& info);

}  // namespace offhook::decode
