// SPDX-License-Identifier: MIT
#include "src/lab/analysis/confidence.h"

#include <cmath>

namespace offhook {
namespace {

/// P(X <= count) for a Poisson variable X of this mean, summed from its largest term down.
double up_to(std::uint64_t count, double mean) {
  const double n = static_cast<double>(count);
  double term = std::exp(n * std::log(mean) - mean - std::lgamma(n + 1)), sum = 0;
  for (double k = n; k >= 0 && (term > 1e-18 * sum || k > mean); k--) {
    sum += term;
    term *= k / mean;
  }
  return sum;
}

}  // namespace

Interval poisson_interval(std::uint64_t count) {
  const double n = static_cast<double>(count), wide = 10 * std::sqrt(n + 1) + 10;
  const auto where = [&](std::uint64_t seen, double share) {  // the mean at which P(X <= seen) is `share`
    double low = std::fmax(n - wide, 1e-12), high = n + wide;
    for (int i = 0; i < 60; i++) {
      const double middle = (low + high) / 2;
      (up_to(seen, middle) > share ? low : high) = middle;
    }
    return low;
  };
  return {count == 0 ? 0 : where(count - 1, 0.975), where(count, 0.025)};
}

}  // namespace offhook
