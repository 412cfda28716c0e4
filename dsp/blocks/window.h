// SPDX-License-Identifier: MIT
//
// The Kaiser window, without libm, for tables made at compile time or at init.
#pragma once

namespace offhook {

/// Modified Bessel function of the first kind, order 0; relative error below 1e-12 for |x| <= 12.
constexpr double bessel_i0(double x) {
  double sum = 1;
  double term = 1;
  for (int k = 1; k <= 30; ++k) {
    term *= x / (2 * k) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

/// Kaiser window of shape `beta`, at `t` from -1 to 1; 0 beyond.
constexpr double kaiser(double t, double beta) {
  const double inside = 1 - t * t;
  if (inside <= 0) return inside < 0 ? 0 : 1 / bessel_i0(beta);
  double root = 1;
  for (int k = 0; k < 40 && root * root != inside; ++k) root = (root + inside / root) / 2;
  return bessel_i0(beta * root) / bessel_i0(beta);
}

}  // namespace offhook
