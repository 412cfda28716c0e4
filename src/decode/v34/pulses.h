// SPDX-License-Identifier: MIT
//
// Pulses of one shape in the errors of symbols: a line card or a sender that clips the highest peaks adds a short pulse
// at each, always the same except for its height and its place. They are few, and loud enough to spoil decisions. The
// shape is learnt from the loudest.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "src/decode/line/samples.h"

namespace offhook::decode {

/// A symbol after the equaliser, and its place.
struct EqualisedSymbol {
  double t = 0;      ///< in samples
  double phase = 0;  ///< radians that the equaliser's output was turned back by
  Cf out;            ///< that output
};

/// One of them, real on the line.
struct Pulse {
  std::size_t symbol = 0;  ///< near the middle
  int shift = 0;           ///< of its middle behind that, kFine a symbol
  float height = 0;        ///< times the shape
};

class PulseShape {
 public:
  static constexpr int kFine = 32;               ///< steps of a pulse's place, a symbol
  static constexpr int kBefore = 8, kAfter = 6;  ///< symbols around the middle that a pulse adds to
  static constexpr int kReach = 48;              ///< greatest shift, either way

  /// @param symbols, errors  as many of both; errors are received minus decided  @param carrier_hz  nominal
  PulseShape(std::span<const EqualisedSymbol> symbols, double carrier_hz);

  /// Learns the shape, and the places of pulses in the sender's waveform. @param errors  as many as symbols
  /// @param loud  symbols with large errors  @param variance  of errors without pulses
  /// @return whether enough of them are alike
  bool learn(std::span<const Cf> errors, std::span<const std::size_t> loud, double variance);

  static constexpr double kLeastGain = 20;  ///< that a pulse has to explain, in variances

  struct Fit {
    Pulse pulse;
    double gain = 0;   ///< energy of the errors that it explains, in variances
    double score = 0;  ///< the same, less the improbability of the pulse: high, or at an unusual waveform of the sender
  };
  /// The most likely pulse near a symbol with these errors.
  Fit fit(std::span<const Cf> errors, std::size_t symbol) const;

  /// The contribution of a pulse to the symbol `m` behind its own, -kBefore to kAfter.
  Cf added(const Pulse& pulse, int m) const;

  /// Whether all pulses go one way: that of positive heights.
  bool one_sided() const { return one_sided_; }

  static std::size_t beside(std::size_t symbol, int m) {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(symbol) + m);
  }

  /// The symbols with errors of more energy, the loudest first, each far enough from louder ones and from both ends.
  static std::vector<std::size_t> loudest(std::span<const Cf> errors, double more_than);

 private:
  static constexpr int kWide = 6;  // symbols of the interpolation, either way
  static constexpr int kLow = -kBefore * kFine - kReach, kHigh = kAfter * kFine + kReach;
  static constexpr std::size_t kMargin = kWide + kBefore + kAfter + 16;

  Cf& at(std::vector<Cf>& shape, int step) const { return shape[static_cast<std::size_t>(step - kLow)]; }
  Cf at(int step) const { return shape_[static_cast<std::size_t>(step - kLow)]; }
  Cf carrier_at(std::size_t symbol, int shift) const;
  Cf unturned(std::span<const Cf> x, std::size_t symbol, int m) const;
  double learn_from(std::size_t first, std::span<const Cf> errors, std::span<const std::size_t> loud);
  void learn_place(std::span<const Cf> errors, std::span<const Pulse> pulses);
  using Signal = std::array<Cf, 2 * kWide + 1>;  // mean square 1, one per symbol
  Signal signal_around(std::span<const Cf> errors, std::size_t symbol) const;
  Cf signal_at(const Signal& around, int shift) const;
  double surprise(const Pulse& pulse, Cf signal) const;
  double alike(Cf signal) const;
  void add_to(std::vector<Cf>& shape, std::span<const Cf> errors, const Pulse& pulse) const;

  std::span<const EqualisedSymbol> symbols_;
  double radians_a_sample_, samples_a_symbol_;
  std::vector<float> sinc_;
  bool one_sided_ = false;
  double variance_ = 1;
  double mean_excess_ = 1;  // of heights, over the least of them
  double alike_ = 0;        // the part of all pulses that come at like places
  Cf middle_;               // of the signal at these
  double spread_ = 1;       // around it
  double mean_square_ = 1;  // of the signal
  std::vector<Cf> shape_;   // its complex envelope, kFine a symbol
};

}  // namespace offhook::decode
