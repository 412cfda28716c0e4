// SPDX-License-Identifier: MIT
#pragma once

#include "dsp/blocks/sincos.h"

namespace offhook {

/// Root raised cosine of unit energy and roll-off a, `t` in symbols. For tables made at compile time or at init.
constexpr double root_raised_cosine(double a, double t) {
  if (t < 0) t = -t;
  if (t < 1e-9) return 1 + a * (4 / kPi - 1);
  const double x = 4 * a * t;
  const double near = 1 - x * x;
  if (near < 1e-6 && near > -1e-6) {
    const SinCos w = sincos_turns(1 / (8 * a));  // pi / (4 a)
    return a * (kSqrt2 / 2) * ((1 + 2 / kPi) * w.sin + (1 - 2 / kPi) * w.cos);
  }
  return (sincos_turns((1 - a) * t / 2).sin + x * sincos_turns((1 + a) * t / 2).cos) / (kPi * t * near);
}

}  // namespace offhook
