// SPDX-License-Identifier: MIT
//
// Searches a recording for S followed by S-bar that has no TRN behind it: the analogue modem of V.90 goes from S-bar to
// CPt, or to an SCR whose scrambler may be in any state.
#pragma once

#include <vector>

#include "src/decode/v34/training.h"

namespace offhook::decode {

/// Each S of 128 symbols that turns into S-bar. S equals itself two symbols before, and the 16 symbols of S-bar
/// equal the ones before them with the opposite sign. For a tone with a reversal the signs differ: its phase turns
/// within two symbols.
/// @param from_s, to_s  range to search  @return first symbols of S-bar, in samples, to half a symbol or so
std::vector<double> find_s_bar(const Baseband& line, const Direction& direction, double from_s, double to_s);

}  // namespace offhook::decode
