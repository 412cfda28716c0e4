// SPDX-License-Identifier: MIT
//
// Sine and cosine of an angle in turns, without libm: for tables that freestanding code fills at init or compile time.
#pragma once

#include <numbers>

namespace offhook {

inline constexpr double kPi = std::numbers::pi;
inline constexpr double kSqrt2 = std::numbers::sqrt2;
inline constexpr float kTurnsPerRadian = static_cast<float>(1 / (2 * kPi));

struct SinCos {
  double sin;
  double cos;
};

/// sin and cos of 2 pi `turns`, absolute error below 1e-15 for |turns| < 2^20.
/// Real-time: yes, O(1). Source: reduction to an eighth of a turn, then the Taylor series of both to the 17th power.
constexpr SinCos sincos_turns(double turns) {
  double fraction = turns - static_cast<double>(static_cast<long long>(turns));
  if (fraction < 0) fraction += 1;
  const int octant = static_cast<int>(fraction * 8);
  const int quarter = (octant + 1) / 2;
  const double x = (fraction - quarter * 0.25) * (2 * kPi);
  const double x2 = x * x;
  double s = 0;
  double c = 0;
  for (int k = 17; k >= 1; k -= 2) s = 1 - s * x2 / ((k + 1.0) * (k + 2.0));
  for (int k = 16; k >= 0; k -= 2) c = 1 - c * x2 / ((k + 1.0) * (k + 2.0));
  s *= x;
  switch (quarter & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

}  // namespace offhook
