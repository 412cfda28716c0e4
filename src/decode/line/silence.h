// SPDX-License-Identifier: MIT
//
// Silence between the calls of a long recording.
#pragma once

#include <vector>

namespace offhook::decode {

/// A part of a recording with sound in it.
struct SoundSpan {
  double from_s = 0, to_s = 0;
};

/// The parts between which every channel is silent for kSeparatesS or longer. Sounds that last less than 0.3 s in all,
/// such as clicks, count as silence.
/// @param power  by channel: mean square of each `block_s`, full scale 1
std::vector<SoundSpan> sound_spans(const std::vector<std::vector<float>>& power, double block_s);

/// CNG pauses for 3 s +- 15 % (T.30 4.2.1), most ringback tones for 4 s at most (E.180 supplement 2).
inline constexpr double kSeparatesS = 4.5;

}  // namespace offhook::decode
