// SPDX-License-Identifier: MIT
//
// Data mode read again, with all of its symbols at hand: the most likely sequence from the first to the last, without
// the pulses that a clipped signal holds. Where a pulse has spoilt decisions, pulse and decisions are looked for
// together.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dsp/v34/data/data_mode.h"
#include "src/decode/v34/pulses.h"

namespace offhook::decode {

struct SecondReading {
  std::vector<v34::Point> points;  ///< decided, whole mapping frames
  std::vector<float> squared;      ///< of what is left of each symbol's error, behind the whitening filter
  std::size_t pulses = 0;          ///< that were taken off
};

/// @param symbols  from the first of B1 on, in grid units  @param start  of the encoder before it
SecondReading read_plainly(std::span<const EqualisedSymbol> symbols, const v34::DataParameters& parameters,
                           const v34::EncoderStart& start);

/// The same with a search for pulses; without any it gives the same. @param carrier_hz  nominal
SecondReading read_without_pulses(std::span<const EqualisedSymbol> symbols, const v34::DataParameters& parameters,
                                  const v34::EncoderStart& start, double carrier_hz);

/// Mean squared distance from anything at all to the nearest sequence of the code, a symbol: what errors come to where
/// decisions are but guesses.
inline constexpr double kGuessSquared = 0.76;

/// What undoes the precoder: y(n) = x(n) + sum of h(i) x(n - i).
class WhiteningFilter {
 public:
  explicit WhiteningFilter(const v34::PrecoderCoefficients& c);
  Cf put(Cf x);

 private:
  Cf h_[3], x_[3]{};
};

}  // namespace offhook::decode
