// SPDX-License-Identifier: MIT
//
// An instrument's value in the low 24 bits of the argument of OH_EV_PUMP_INSTRUMENT and OH_EV_PUMP_TAP.
#pragma once

#include <cstdint>

namespace offhook {

/// @param value  in the instrument's unit; limited to +-83,000  @return 100 times the value, 24 bits
inline std::uint32_t logged_hundredths(float value) {
  constexpr float kMost = 83'000;
  const float cut = !(value > -kMost) ? -kMost : value > kMost ? kMost : value;
  const double hundredths = static_cast<double>(cut * 100);
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(hundredths + (hundredths < 0 ? -0.5 : 0.5))) & 0xffffffu;
}

}  // namespace offhook
