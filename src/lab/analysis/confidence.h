// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace offhook {

struct Interval {
  double low = 0, high = 0;
};

/// 95 % confidence interval of the mean of a Poisson variable that came out as `count`: exact (Garwood 1936), to 1e-9
/// of it.
Interval poisson_interval(std::uint64_t count);

}  // namespace offhook
