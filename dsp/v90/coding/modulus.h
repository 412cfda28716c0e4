// SPDX-License-Identifier: MIT
//
// The modulus encoder of V.90 5.4.3: K bits, as one number, in mixed radix: one digit for each interval of a data
// frame.
#pragma once

#include <stdint.h>

namespace offhook::v90 {

inline constexpr int kFrameIntervals = 6;
inline constexpr int kMaxModulusBits = 39;  ///< Table 2

/// The product of the six moduli: at most 2^42, so that nothing here overflows.
constexpr uint64_t product_of(const uint8_t* moduli) {
  uint64_t product = 1;
  for (int i = 0; i < kFrameIntervals; ++i) product *= moduli[i];
  return product;
}

/// @param r0  b_0 is its least significant bit  @param[in] moduli  [6] at least 1  @param[out] digits  [6] K_i, each
/// below its modulus  @pre r0 < product_of(moduli).  Real-time: yes, O(1).
constexpr void modulus_encode(uint64_t r0, const uint8_t* moduli, uint8_t* digits) {
  for (int i = 0; i < kFrameIntervals; ++i) {
    digits[i] = static_cast<uint8_t>(r0 % moduli[i]);
    r0 /= moduli[i];
  }
}

/// Undoes modulus_encode().
constexpr uint64_t modulus_decode(const uint8_t* digits, const uint8_t* moduli) {
  uint64_t r = 0;
  for (int i = kFrameIntervals - 1; i >= 0; --i) r = r * moduli[i] + digits[i];
  return r;
}

}  // namespace offhook::v90
