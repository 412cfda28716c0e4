// SPDX-License-Identifier: MIT
//
// Data mode read again, with all of its symbols at hand: the most likely sequence from the first to the last, without
// the pulses that a clipped signal holds. Where a pulse has spoilt decisions, pulse and decisions are looked for
// together.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dsp/v34/session/data_mode.h"
#include "src/decode/v34/pulses.h"

namespace offhook::decode {

struct SecondReading {
  std::vector<v34::Point> points;    ///< decided, whole mapping frames
  std::vector<std::uint8_t> states;  ///< of the trellis, before each pair of them
  std::vector<float> squared;        ///< of what is left of each symbol's error, behind the whitening filter
  std::size_t pulses = 0;            ///< that were taken off
};

/// @param symbols  from the first of B1 on, in grid units  @param start  of the encoder before it
SecondReading read_plainly(std::span<const EqualisedSymbol> symbols, const v34::DataParameters& parameters,
                           const v34::EncoderStart& start);

/// The same with a search for pulses; without any it gives the same. @param carrier_hz  nominal
/// @param plain  of these symbols, or of more that begin with them: where it begins
SecondReading read_without_pulses(std::span<const EqualisedSymbol> symbols, const v34::DataParameters& parameters,
                                  const v34::EncoderStart& start, double carrier_hz, const SecondReading& plain);

/// Mean squared distance from anything at all to the nearest sequence of the code, a symbol: what errors come to where
/// decisions are but guesses.
inline constexpr double kGuessSquared = 0.76;
/// The same, from which on more than one point in a hundred is wrong, with each of the trellis codes.
inline constexpr double kUnsureSquared = 0.5;

/// What undoes the precoder: y(n) = x(n) + sum of h(i) x(n - i).
class WhiteningFilter {
 public:
  explicit WhiteningFilter(const v34::PrecoderCoefficients& c);
  Cf put(Cf x);

 private:
  Cf h_[3], x_[3]{};
};

}  // namespace offhook::decode
