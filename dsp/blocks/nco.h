// SPDX-License-Identifier: MIT
//
// exp(i phase) of any phase, and an oscillator of any frequency, without libm: a table of 256 points and three terms of
// the exponential series between them.
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

/// exp(2 pi i phase / 2^32), error below 5e-7.  Real-time: yes, O(1).
constexpr Complex unit_phasor(uint32_t phase) {
  const Complex w = kUnitCircle.at[phase >> 24];
  constexpr float kStep = 6.2831853071795865f / 4294967296.0f;
  const float b = static_cast<float>(static_cast<int32_t>(phase & 0xFFFFFF) - 0x800000) * kStep;
  return w * Complex{1 - 0.5f * b * b, b * (1 - b * b * (1.0f / 6))};
}

/// A phase, in turns, as unit_phasor takes it. @pre |turns| < 2^30
constexpr uint32_t phase_of(double turns) {
  const double fraction = turns - static_cast<double>(static_cast<int64_t>(turns));
  return static_cast<uint32_t>(static_cast<int64_t>(fraction * 4294967296.0));
}

}  // namespace offhook
