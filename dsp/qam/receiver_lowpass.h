// SPDX-License-Identifier: MIT
//
// The lowpasses of receivers (dsp/blocks/interpolator.h) in the bands of V.32bis and V.34, made at compile time: 16 KB
// each, one for all receivers of a band.
#pragma once

#include "dsp/blocks/band.h"
#include "dsp/blocks/interpolator.h"

namespace offhook::qam {

/// @pre the band is one of them  Real-time: yes, O(1).
const Interpolator::Lowpass& receiver_lowpass(const Band& band);

}  // namespace offhook::qam
