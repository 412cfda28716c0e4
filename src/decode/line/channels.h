// SPDX-License-Identifier: MIT
//
// Whether the two channels of a recording are two directions. A sound card, an MP3 in joint stereo or an editor may
// write one line twice: with noise, another level, or a delay between them. Then each modem is in both channels, and
// each of its signals would be reported twice.
#pragma once

#include <optional>
#include <span>

#include "src/decode/line/recording.h"

namespace offhook::decode {

/// @param a, b  at 8000 Hz  @return nothing if they are two signals: one gain and delay must explain the second
/// channel in all loud parts of either
std::optional<ChannelLikeness> channel_likeness(std::span<const float> a, std::span<const float> b);

/// Reads two channels that hold one line as one: their mean, or the louder one if they differ in delay or level.
void join_alike_channels(Recording& recording);

}  // namespace offhook::decode
