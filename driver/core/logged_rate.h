// SPDX-License-Identifier: MIT
//
// The bit rate of one direction in its 16 bits of OH_EV_PUMP_RATES.
#pragma once

#include <cstdint>

namespace offhook {

inline constexpr std::uint32_t kLoggedSteps = 0x7f00;  ///< of 4000/3 bit/s: V.90
/// From this code on, steps of 32 kbit/s above 3.2 Mbit/s, the steps of ADSL's payload.
inline constexpr std::uint32_t kLoggedFast = 0x7f40;
inline constexpr std::uint32_t kLoggedFastFrom = 3'200'000, kLoggedFastStep = 32'000;

/// @param bit_rate  bit/s; a rate without a code is rounded down to the next one with a code
constexpr std::uint32_t logged_rate(std::uint32_t bit_rate) {
  if (bit_rate / 100 >= kLoggedSteps) {
    const std::uint32_t steps = (bit_rate - kLoggedFastFrom) / kLoggedFastStep;
    return kLoggedFast + (steps < 0x7fff - kLoggedFast ? steps : 0x7fff - kLoggedFast);
  }
  if (bit_rate % 100 == 0) return bit_rate / 100;
  if (bit_rate <= 0x7fff) return 0x8000 | bit_rate;
  const std::uint32_t steps = (bit_rate * 3 + 3999) / 4000;  // of V.90, rounded down by the pump
  return steps < kLoggedFast - kLoggedSteps && steps * 4000 / 3 == bit_rate ? kLoggedSteps | steps : bit_rate / 100;
}

/// bit/s. @param half  of the event's argument
constexpr std::uint32_t rate_logged(std::uint32_t half) {
  if ((half & 0x8000) != 0) return half & 0x7fff;
  if (half >= kLoggedFast) return kLoggedFastFrom + (half - kLoggedFast) * kLoggedFastStep;
  return half >= kLoggedSteps ? (half - kLoggedSteps) * 4000 / 3 : 100 * half;
}

}  // namespace offhook
