// SPDX-License-Identifier: MIT
//
// Symbols of V.34's data mode against the grid of odd points. Behind the whitening filter every symbol is near a point
// of it. Its size, turn and place fit only if equaliser, gain, phase and time do.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/decode/line/samples.h"

namespace offhook::decode {

/// The nearest point of the unbounded grid.
Cf nearest_on_grid(Cf y);

/// Squared distance of a whitened symbol to the nearest point of the grid; 2/3 in the mean for a guess.
float grid_error(Cf y);
float mean_grid_error(std::span<const Cf> y, Cf turned = 1);

/// Whether symbols are on the grid: S, tones and silence fit it by chance, on a few of its points.
bool on_grid(std::span<const Cf> y);

/// Follows the phase of symbols by their distance from the grid.
class PhaseOnGrid {
 public:
  /// @param turned  of the first symbol  @param energy  mean of the symbols, grid units squared
  PhaseOnGrid(Cf turned, double energy) : turned_(turned), energy_(static_cast<float>(energy)) {}
  /// @return the symbol with its phase put right
  Cf put(Cf y);
  Cf turned() const { return turned_; }

 private:
  Cf turned_;
  float energy_;
};
std::vector<Cf> with_phase_followed(std::vector<Cf> y, Cf turned, double energy);

}  // namespace offhook::decode
