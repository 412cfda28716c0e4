// SPDX-License-Identifier: MIT
//
// Pulses of one shape in the errors of symbols: a line card or a sender that clips the highest peaks adds a short pulse
// at each, always the same but for its height and its place. They are few, and loud enough to spoil decisions. The
// shape is learnt from the loudest.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/decode/line/samples.h"

namespace offhook::decode {

/// What a receiver made of a symbol, and where it stood.
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

  /// Learns the shape. @param errors  as many as symbols  @param loud  symbols that stand out
  /// @param least_gain  of energy that a pulse has to explain  @return whether enough of them are alike
  bool learn(std::span<const Cf> errors, std::span<const std::size_t> loud, double least_gain);

  struct Fit {
    Pulse pulse;
    double gain = 0;  ///< energy of the errors that it explains
  };
  /// Of a pulse the other way up where all but a few go one way: none.
  Fit fit(std::span<const Cf> errors, std::size_t symbol) const;

  /// What a pulse adds to the symbol `m` behind its own, -kBefore to kAfter.
  Cf added(const Pulse& pulse, int m) const;

  /// Whether nearly all pulses go one way: that of positive heights.
  bool one_sided() const { return one_sided_; }
  /// By how much, on average, those that were learnt from are higher than the least of them.
  double mean_excess() const { return mean_excess_; }

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
  Cf turn(std::size_t symbol, int shift, int m) const;
  void add_to(std::vector<Cf>& shape, std::span<const Cf> errors, const Pulse& pulse) const;

  std::span<const EqualisedSymbol> symbols_;
  double radians_a_sample_, samples_a_symbol_;
  std::vector<float> sinc_;
  bool one_sided_ = false;
  double mean_excess_ = 1;
  std::vector<Cf> shape_;  // its complex envelope, kFine a symbol
};

}  // namespace offhook::decode
