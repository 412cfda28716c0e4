// SPDX-License-Identifier: MIT
//
// Data mode read again, with all of its symbols available: the most likely sequence from the first to the last, without
// the pulses that a clipped signal holds. If a pulse has spoilt decisions, pulse and decisions are searched for
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
  std::vector<float> squared;        ///< of each symbol's residual error, behind the whitening filter
  std::size_t pulses = 0;            ///< that were subtracted
};

/// @param symbols  from the first of B1 on, in grid units  @param start  of the encoder before it
SecondReading read_plainly(std::span<const EqualisedSymbol> symbols, const v34::DataParameters& parameters,
                           const v34::EncoderStart& start);

/// As above, with a search for pulses; the result is equal if there are none. @param carrier_hz  nominal
/// @param plain  of these symbols, or of more that begin with them: the initial decisions
SecondReading read_without_pulses(std::span<const EqualisedSymbol> symbols, const v34::DataParameters& parameters,
                                  const v34::EncoderStart& start, double carrier_hz, const SecondReading& plain);

/// The same for a data mode of any length, one segment at a time, so that its memory does not grow with the data. At
/// their borders, each segment is read with some symbols of the other: the decisions are those of one reading.
class SegmentedReading {
 public:
  static constexpr std::size_t kSegment = std::size_t{1} << 19;  ///< symbols: 153 s at 3429 symbols/s
  static constexpr std::size_t kBeside = 1024;  ///< symbols of the segments around; the code forgets in 200 or so

  /// @param start  of the encoder before the first symbol  @param segment  symbols, whole mapping frames
  SegmentedReading(const v34::DataParameters& parameters, const v34::EncoderStart& start, double carrier_hz,
                   std::size_t segment = kSegment)
      : parameters_(parameters), start_(start), carrier_hz_(carrier_hz), segment_(segment) {}

  /// First of the available symbols that belongs to the next segment; the ones before are of the previous segment.
  std::size_t first() const { return first_; }
  std::size_t last() const { return first_ + segment_; }

  /// Reads the next segment. @param symbols  last() + kBeside or more
  SecondReading read(std::span<const EqualisedSymbol> symbols) const;
  /// Begins the next segment. @param read  the result of read()  @return number of symbols that are no longer needed
  std::size_t go_on(const SecondReading& read);
  /// The rest, when no more symbols come.
  SecondReading read_plainly(std::span<const EqualisedSymbol> symbols) const;
  SecondReading read_without_pulses(std::span<const EqualisedSymbol> symbols, const SecondReading& plain) const;

 private:
  const v34::DataParameters& parameters_;
  v34::EncoderStart start_;  // before the first available symbol
  double carrier_hz_;
  std::size_t segment_, first_ = 0;
};

/// Mean squared distance from random points to the nearest sequence of the code, per symbol: the mean error of
/// decisions that are only guesses.
inline constexpr double kGuessSquared = 0.76;
/// The distance above which more than one point in a hundred is wrong, for each of the trellis codes.
inline constexpr double kUnsureSquared = 0.5;

/// The inverse of the precoder: y(n) = x(n) + sum of h(i) x(n - i).
class WhiteningFilter {
 public:
  explicit WhiteningFilter(const v34::PrecoderCoefficients& c);
  Cf put(Cf x);

 private:
  Cf h_[3], x_[3]{};
};

}  // namespace offhook::decode
