// SPDX-License-Identifier: MIT
#include "src/lab/analysis/confidence.h"

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

namespace offhook {

Interval poisson_interval(std::uint64_t count) {
  const double n = static_cast<double>(count);
  return {count == 0 ? 0 : boost::math::gamma_p_inv(n, 0.025), boost::math::gamma_q_inv(n + 1, 0.025)};
}

MeanInterval mean_interval(const std::vector<double>& values) {
  MeanInterval out;
  out.n = values.size();
  if (out.n == 0) return out;
  for (const double v : values) out.mean += v / static_cast<double>(out.n);
  if (out.n < 2) return out;
  double squares = 0;
  for (const double v : values) squares += (v - out.mean) * (v - out.mean);
  out.deviation = std::sqrt(squares / static_cast<double>(out.n - 1));
  const double t = boost::math::quantile(boost::math::students_t(static_cast<double>(out.n - 1)), 0.975);
  out.half_width = t * out.deviation / std::sqrt(static_cast<double>(out.n));
  return out;
}

}  // namespace offhook
