// SPDX-License-Identifier: MIT
//
// The transmit spectra of V.34 (5.4): eleven templates that lift the upper band edge, by up to 11 dB, against cables
// that fall off there. The far modem chooses one in INFO1. dsp/qam/pre_emphasis.h makes a filter of it.
#pragma once

namespace offhook::v34 {

inline constexpr int kPreEmphasisFilters = 11;  ///< indices 0..10; 0 is flat

/// Template level in dB relative to its line of 0 dB, at normalized frequency f/S.
/// Indices 0 to 5 rise from 0 dB at 0 to alpha at 1; indices 6 to 10 are 0 dB up to 0.4, beta at 0.8 and beta + gamma
/// at 1.2. Between 0.4 and 0.8, where Figure 2 has no value, it is a straight line.
/// @pre 0 <= index <= 10, f_over_s >= 0.  Source: Figures 1 and 2, Tables 3 and 4.
constexpr double pre_emphasis_db(int index, double f_over_s) {
  if (index <= 5) return 2.0 * index * f_over_s;
  const double beta = 0.5 * (index - 5);
  const double gamma = index - 5;
  if (f_over_s <= 0.4) return 0;
  if (f_over_s <= 0.8) return beta * (f_over_s - 0.4) / 0.4;
  return beta + gamma * (f_over_s - 0.8) / 0.4;
}

}  // namespace offhook::v34
