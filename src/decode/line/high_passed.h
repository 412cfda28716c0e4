// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace offhook::decode {

/// A part of a signal without DC and mains hum (dsp/blocks/linear_high_pass.h), in time with the signal.
/// @param x  at 8000 Hz, int16 units  @param from, to  samples of x  @return [to - from]
std::vector<float> high_passed(std::span<const float> x, std::size_t from, std::size_t to);
inline std::vector<float> high_passed(std::span<const float> x) {
  return high_passed(x, 0, x.size());
}

}  // namespace offhook::decode
