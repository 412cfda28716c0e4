// SPDX-License-Identifier: MIT
//
// The transmit spectra of V.34 (5.4): eleven templates that lift the upper band edge, by up to 11 dB, against cables
// that fall off there. The far modem chooses one in INFO1.
//
// The template is a function of f/S alone; here it becomes a linear-phase FIR for the modulated signal.
#pragma once

#include "dsp/v34/coding/framing.h"

namespace offhook::v34 {

inline constexpr int kPreEmphasisFilters = 11;  ///< indices 0..10; 0 is flat
inline constexpr int kPreEmphasisTaps = 33;

/// Template level in dB relative to its line of 0 dB, at normalized frequency f/S.
/// Indices 0 to 5 rise from 0 dB at 0 to alpha at 1; indices 6 to 10 are 0 dB up to 0.4, beta at 0.8 and beta + gamma
/// at 1.2. Where Figure 2 shows nothing, between 0.4 and 0.8, it is a straight line.
/// @pre 0 <= index <= 10, f_over_s >= 0.  Source: Figures 1 and 2, Tables 3 and 4.
constexpr double pre_emphasis_db(int index, double f_over_s) {
  if (index <= 5) return 2.0 * index * f_over_s;
  const double beta = 0.5 * (index - 5);
  const double gamma = index - 5;
  if (f_over_s <= 0.4) return 0;
  if (f_over_s <= 0.8) return beta * (f_over_s - 0.4) / 0.4;
  return beta + gamma * (f_over_s - 0.8) / 0.4;
}

/// Taps of a symmetric FIR for the real signal on the line; delay (kPreEmphasisTaps - 1) / 2 samples. A signal of even
/// spectrum over carrier +- S/2 keeps its power, so that the level does not depend on the index (10.1.3).
/// Within 0.2 dB of the template over the band of 5.4.1 at 8000 to 9600 Hz (the text allows 1 dB).
/// @param sample_rate_hz  8000 to 9600  @param[out] taps  [kPreEmphasisTaps]
/// @pre 0 <= index <= 10.  Not real-time: for init.
void design_pre_emphasis(int index, SymbolRate symbol_rate, Carrier carrier, double sample_rate_hz, float* taps);

}  // namespace offhook::v34
