// SPDX-License-Identifier: MIT
//
// 95 % confidence intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace offhook {

struct Interval {
  double low = 0, high = 0;
};

/// Interval of the mean of a Poisson variable that was observed as `count`: exact (Garwood 1936).
Interval poisson_interval(std::uint64_t count);

/// Mean, standard deviation and half width of the interval of the mean (Student's t).
struct MeanInterval {
  std::size_t n = 0;
  double mean = 0, deviation = 0, half_width = 0;  ///< deviation and half width are 0 if n < 2
};
MeanInterval mean_interval(const std::vector<double>& values);

}  // namespace offhook
