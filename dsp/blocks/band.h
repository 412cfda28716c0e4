// SPDX-License-Identifier: MIT
//
// The band of a modulated signal: symbol rate and carrier as exact ratios, so that their phases against the sample
// clock repeat after a few samples and do not drift.
#pragma once

#include <stdint.h>

namespace offhook {

struct Ratio {
  uint8_t num;
  uint8_t den;
  friend constexpr bool operator==(const Ratio&, const Ratio&) = default;
};

struct Band {
  Ratio of_2400;  ///< symbol rate = 2400 * num/den Hz
  Ratio carrier;  ///< carrier = symbol rate * num/den

  friend constexpr bool operator==(const Band&, const Band&) = default;
  constexpr double symbol_hz() const { return 2400.0 * of_2400.num / of_2400.den; }
  constexpr double carrier_hz() const { return symbol_hz() * carrier.num / carrier.den; }
};

}  // namespace offhook
