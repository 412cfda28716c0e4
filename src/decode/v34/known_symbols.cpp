// SPDX-License-Identifier: MIT
#include "src/decode/v34/known_symbols.h"

#include <cmath>
#include <numbers>

namespace offhook::decode {

std::vector<Cf> pp_symbols() {
  std::vector<Cf> s;
  for (int i = 0; i < v34::kPpSymbols; ++i)
    s.push_back(Cf(std::polar(std::numbers::sqrt2, 2 * std::numbers::pi * v34::pp_phase(i) / 12)));
  return s;
}

std::vector<Cf> trn_symbols(Scrambling scrambling, v34::TrainingPoints points, int n) {
  std::vector<Cf> s;
  v34::TrainingEncoder encoder(scrambling, points);
  for (int i = 0; i < n; ++i) s.push_back(to_cf(encoder.trn()));
  return s;
}

Cf nearest_of_trn(Cf y, v34::TrainingPoints points) {
  const auto axis = [&](float v) {
    if (points == v34::TrainingPoints::k4) return v < 0 ? -1.f : 1.f;
    return v < -2 ? -3.f : v < 0 ? -1.f : v < 2 ? 1.f : 3.f;
  };
  return {axis(y.real()), axis(y.imag())};
}

}  // namespace offhook::decode
