// SPDX-License-Identifier: MIT
//
// An instrument's value as the low 24 bits that OH_EV_PUMP_INSTRUMENT and OH_EV_PUMP_TAP have it in.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace offhook {

/// @param value  in the instrument's unit; beyond 83 000 either way it is cut. @return 100 times it, 24 bits
inline std::uint32_t logged_hundredths(float value) {
  return static_cast<std::uint32_t>(
             static_cast<std::int32_t>(std::lround(std::clamp(value, -83000.f, 83000.f) * 100))) &
         0xffffffu;
}

}  // namespace offhook
