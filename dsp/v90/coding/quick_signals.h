// SPDX-License-Identifier: MIT
//
// The digital modem's signals of the short Phase 1 of V.92 (11/2000) other than QC and QCA, as codes of the network:
// QTS (8.3.6), by which the analogue modem recognises a known line, and ANSpcm (8.3.1), an answer tone whose codes are
// known. TONEq, the analogue modem's answer, is a tone of 980 Hz (8.2.5).
#pragma once

#include <stdint.h>

#include "dsp/v90/coding/ucode.h"

namespace offhook::v90 {

inline constexpr int kToneQHz = 980;
inline constexpr int kQtsSymbols = 768;    ///< 128 of its sequences
inline constexpr int kQtsBarSymbols = 48;  ///< 8 of QTS-bar's
inline constexpr int kAnspcmPeriod = 301;  ///< symbols, 79 cycles: 2099.67 Hz
inline constexpr int kAnspcmReversal = 12 * kAnspcmPeriod;

/// @param n  0 to kQtsSymbols + kQtsBarSymbols - 1, QTS-bar after QTS; n % 6 is the data frame interval
/// @param uqts  Ucode that the analogue modem requested.  Real-time: yes, O(1).
constexpr Pcm qts_symbol(int n, uint8_t uqts) {
  const int i = n % 6;
  const bool first_half = i < 3;
  return {i % 3 == 1 ? uint8_t{0} : uqts, first_half == (n < kQtsSymbols)};
}

/// @param tenth_dbm0  one of Table 6: -95, -120, -150, -180  @param n  symbols since it began
/// The codes of Tables 7 to 10, by the equation of 8.3.1.  Real-time: yes, O(1).
Pcm anspcm_symbol(Law law, int tenth_dbm0, uint32_t n);

/// The level of ANSpcm for a modem of this power: the highest of Table 6 that is not above it, -180 below them.
/// @return tenths of dBm0
int16_t anspcm_level(float tx_level_dbm0);

}  // namespace offhook::v90
