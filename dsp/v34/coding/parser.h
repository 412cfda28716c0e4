// SPDX-License-Identifier: MIT
//
// The parser of V.34 (9.3): the bits of one mapping frame, sorted into shell mapper, quadrant and point bits; and back.
#pragma once

#include <stdint.h>

#include "dsp/v34/coding/frame_bits.h"
#include "dsp/v34/coding/framing.h"

namespace offhook::v34 {

/// The bits of one mapping frame after parsing.
struct MappingFrame {
  uint32_t shell;  ///< R0 of (9-7): the K shell mapper bits, the first one least significant
  struct Group {   ///< one 4D symbol
    uint8_t i1, i2, i3;
    uint8_t q[2];  ///< point bits of each 2D symbol, the first one least significant
  } group[kGroupsPerMappingFrame];
};

/// Sort the bits of mapping frame i of a data frame.
/// @param[in] primary  f.primary_bits(i) scrambled bits
/// @param[in] aux      the auxiliary bit, 0 or 1; used only if f.is_aux(i)
/// @param[out] frame   bits that low frames or b <= 12 do not use are zero. Real-time: yes, O(1).  Source: 9.3.1,
/// 9.3.2, 8.3
void parse(const Framing& f, int i, FrameBits primary, int aux, MappingFrame* frame);

/// The inverse of parse().
/// @param[out] aux  written only if f.is_aux(i)  @return the f.primary_bits(i) scrambled bits; later bits are 0. Bits
/// that the frame cannot carry (the last shell bit of a low frame) are dropped.  Real-time: yes, O(1).
FrameBits deparse(const Framing& f, int i, const MappingFrame& frame, uint8_t* aux);

}  // namespace offhook::v34
