// SPDX-License-Identifier: MIT
//
// Clopper-Pearson interval for an error rate: exact, from the beta distribution.
#pragma once

#include <cmath>

namespace offhook::v34 {

// Regularized incomplete beta function I_x(a, b): Lentz's continued fraction (Numerical methods, DLMF 8.17.22).
inline double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
  const double front =
      std::exp(a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b));
  double c = 1;
  double d = 1 / (1 - (a + b) * x / (a + 1));
  double f = d;
  for (int m = 1; m < 500; ++m) {
    for (const bool even : {true, false}) {
      const double numerator = even ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                    : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 / (1 + numerator * d);
      c = 1 + numerator / c;
      f *= c * d;
    }
    if (std::abs(c * d - 1) < 1e-12) break;
  }
  return front * f / a;
}

struct Interval {
  double low;
  double high;
};

// `errors` of `trials`, two-sided at the given confidence.
inline Interval clopper_pearson(double errors, double trials, double confidence = 0.99) {
  const double tail = (1 - confidence) / 2;
  const auto quantile = [](double p, double a, double b) {
    double low = 0;
    double high = 1;
    for (int k = 0; k < 200; ++k) {
      const double middle = low > 0 ? std::sqrt(low * high) : high / 8;
      if (middle < 1e-18) return middle;
      (incomplete_beta(a, b, middle) < p ? low : high) = middle;
      if (high - low < 1e-9 * high) break;
    }
    return high;
  };
  return {errors > 0 ? quantile(tail, errors, trials - errors + 1) : 0,
          errors < trials ? quantile(1 - tail, errors + 1, trials - errors) : 1};
}

}  // namespace offhook::v34
