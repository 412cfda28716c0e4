// SPDX-License-Identifier: MIT
//
// Pre-emphasis: a transmit spectrum that lifts the upper band edge against cables that fall off there. A template, a
// function of f/S alone, becomes a linear-phase FIR for the modulated signal.
#pragma once

#include "dsp/blocks/band.h"

namespace offhook::qam {

inline constexpr int kPreEmphasisTaps = 33;

/// One template of a family.
struct PreEmphasis {
  double (*level_db)(int index, double f_over_s) = nullptr;  ///< relative to the template's line of 0 dB
  int index = 0;                                             ///< 0: flat, no filter
};

/// Taps of a symmetric FIR for the real signal on the line; delay (kPreEmphasisTaps - 1) / 2 samples. A signal with a
/// flat spectrum over carrier +- S/2 keeps its power, so the level does not depend on the template. Within 0.2 dB of
/// V.34's templates over the band of 5.4.1 at 8000 to 9600 Hz (which permits 1 dB).
/// @param sample_rate_hz  8000 to 9600  @param[out] taps  [kPreEmphasisTaps]
/// @pre pre_emphasis.level_db is not null.  Not real-time: for init.
void design_pre_emphasis(const PreEmphasis& pre_emphasis, const Band& band, double sample_rate_hz, float* taps);

}  // namespace offhook::qam
