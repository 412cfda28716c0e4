// SPDX-License-Identifier: MIT
//
// The phase of an oscillator, and exp(i phase) of it without libm: a table of 256 points and three terms of the
// exponential series between them.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/sincos.h"

namespace offhook {

struct UnitCircle {
  static constexpr int kSize = 256;
  Complex at[kSize];
};

constexpr UnitCircle make_unit_circle() {
  UnitCircle t{};
  for (int k = 0; k < UnitCircle::kSize; ++k) {
    const SinCos w = sincos_turns((k + 0.5) / UnitCircle::kSize);
    t.at[k] = {static_cast<float>(w.cos), static_cast<float>(w.sin)};
  }
  return t;
}
inline constexpr UnitCircle kUnitCircle = make_unit_circle();

/// An angle in units of 2^-32 turns. It wraps exactly, however many steps are added.
struct Phase {
  uint32_t bits = 0;
  constexpr Phase& operator+=(Phase step) {
    bits += step.bits;
    return *this;
  }
};
constexpr Phase operator+(Phase a, Phase b) {
  return a += b;
}

/// @tparam Real  float or double  @pre |turns| < 2^30
template <class Real>
constexpr Phase phase_of(Real turns) {
  return {static_cast<uint32_t>(static_cast<int64_t>(turns * Real{4294967296}))};
}

/// As above for up to half a turn, scaled by 1 - 2^-24 so that the step stays below half a turn.
constexpr Phase step_of(float turns) {
  return phase_of(turns * 0.99999994f);
}

/// exp(i phase), error below 5e-7.  Real-time: yes, O(1).
constexpr Complex unit_phasor(Phase phase) {
  const Complex w = kUnitCircle.at[phase.bits >> 24];
  constexpr float kStep = static_cast<float>(2 * kPi) / 4294967296.0f;
  const float b = static_cast<float>(static_cast<int32_t>(phase.bits & 0xFFFFFF) - 0x800000) * kStep;
  return w * Complex{1 - 0.5f * b * b, b * (1 - b * b * (1.0f / 6))};
}

}  // namespace offhook
