// SPDX-License-Identifier: MIT
#include "src/decode/v34/grid.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <set>
#include <utility>

namespace offhook::decode {

Cf nearest_on_grid(Cf y) {
  return {2 * std::floor(y.real() / 2) + 1, 2 * std::floor(y.imag() / 2) + 1};
}

float grid_error(Cf y) {
  return std::norm(y - nearest_on_grid(y));
}

float mean_grid_error(std::span<const Cf> y, Cf turned) {
  float sum = 0;
  for (const Cf v : y) sum += grid_error(v * turned);
  return sum / static_cast<float>(y.size());
}

bool on_grid(std::span<const Cf> y) {
  constexpr float kMostError = 0.5f;
  constexpr std::size_t kLeastPoints = 16;  // that occur
  std::set<std::pair<float, float>> points;
  for (const Cf v : y) points.insert({nearest_on_grid(v).real(), nearest_on_grid(v).imag()});
  return points.size() >= kLeastPoints && mean_grid_error(y) < kMostError;
}

Cf PhaseOnGrid::put(Cf y) {
  constexpr float kFollow = 0.03f;
  y *= turned_;
  const float off = (std::conj(y) * nearest_on_grid(y)).imag() / energy_;
  turned_ *= Cf(std::polar(1.0f, kFollow * std::clamp(off, -0.1f, 0.1f)));
  return y;
}

std::vector<Cf> with_phase_followed(std::vector<Cf> y, Cf turned, double energy) {
  PhaseOnGrid phase(turned, energy);
  for (Cf& v : y) v = phase.put(v);
  return y;
}

}  // namespace offhook::decode
