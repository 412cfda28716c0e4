// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "src/decode/phases/start_up.h"

namespace offhook::decode {

/// L1 followed by L2 in one channel between two times: a comb of tones at multiples of 150 Hz, seen in windows of 20
/// ms, stepping down by 6 dB; and the line's gain and SNR at each tone.
std::vector<Probing> find_probing(std::span<const float> x, double from_s, double to_s);

}  // namespace offhook::decode
