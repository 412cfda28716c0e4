// SPDX-License-Identifier: MIT
//
// The most likely points of a trellis code between two places. A modem decides some dozen symbols late; a recording is
// all there, so that the trellis is searched to the end and only then traced back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dsp/v34/coding/framing.h"
#include "dsp/v34/coding/trellis.h"
#include "src/decode/line/samples.h"

namespace offhook::decode {

/// The state of a trellis encoder before a pair of points.
struct TrellisPlace {
  v34::FramePosition frame;
  int group = 0;  ///< pair of the mapping frame
  int state = 0;
};

struct LikelySequence {
  std::vector<v34::Point> points;
  std::vector<std::uint8_t> states;  ///< before each pair
  double squared = 0;                ///< distances from the received signal, summed
};

/// @param y  whole pairs, behind the whitening filter  @param to  the state behind the last pair, if known
LikelySequence likely_sequence(std::span<const Cf> y, v34::TrellisCode code, TrellisPlace from,
                               std::optional<int> to = {});

}  // namespace offhook::decode
