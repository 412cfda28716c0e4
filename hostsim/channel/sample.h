// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace offhook::hostsim {

/// The nearest 16-bit sample, limited to the range; ties go to the even one.
inline std::int16_t to_int16(float x) {
  return static_cast<std::int16_t>(std::lrintf(std::clamp(x, -32768.f, 32767.f)));
}

}  // namespace offhook::hostsim
