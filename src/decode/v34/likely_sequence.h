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
  int state = 0;  ///< kAnyState: unknown
};
inline constexpr int kAnyState = -1;

struct LikelySequence {
  std::vector<v34::Point> points;
  std::vector<std::uint8_t> states;  ///< before each pair
  double squared = 0;                ///< distances from the received signal, summed
};

/// @param y  whole pairs, behind the whitening filter  @param to  the state behind the last pair, if known
LikelySequence likely_sequence(std::span<const Cf> y, v34::TrellisCode code, TrellisPlace from,
                               std::optional<int> to = {});

/// Distances of the most likely sequences, one for each place of the superframe that the first symbol may have, from an
/// unknown state. Of 8 P J places the right one alone has V0, by which the sender marks the half data frames,
/// everywhere.
/// @param y  whitened symbols, at least two  @param first  the place that is tried first
/// @param enough  the search at a place ends early, once its distance exceeds the best one by this
/// @return by symbol of the superframe, which begins with B1's data frame
std::vector<double> distances_by_place(std::span<const Cf> y, v34::TrellisCode code, const v34::Framing& framing,
                                       std::size_t first, double enough);
/// The place of a symbol of the superframe, in an unknown state. @pre symbol is even
TrellisPlace place_in_superframe(const v34::Framing& framing, std::size_t symbol);

}  // namespace offhook::decode
