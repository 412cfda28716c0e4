// SPDX-License-Identifier: MIT
//
// Looks for S followed by S-bar over a recording, where no TRN stands behind them to be found by: the analogue modem of
// V.90 goes from S-bar to CPt, or to an SCR whose scrambler may be in any state.
#pragma once

#include <vector>

#include "src/decode/v34/training.h"

namespace offhook::decode {

/// Each S of 128 symbols that turns into S-bar. S is alike to itself two symbols before, and the 16 symbols of S-bar
/// are what came before them upside down; a tone with a reversal is told from it by how far it turns in two symbols.
/// @param from_s, to_s  where to look  @return first symbols of S-bar, in samples, to half a symbol or so
std::vector<double> find_s_bar(const Baseband& line, const Direction& direction, double from_s, double to_s);

}  // namespace offhook::decode
