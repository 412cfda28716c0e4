// SPDX-License-Identifier: MIT
#pragma once

#include "dsp/blocks/sequence.h"

namespace offhook::v34 {

/// The end of MP in V.34 (Tables 20 and 21) and V.90, each word with its start bit: in type 1 the precoder's
/// coefficients, then the reserved word and the CRC. @param io  FieldWriter or FieldReader  @param v  type1 and
/// precoder
template <class Io, class V>
void end_mp(Io& io, V& v) {
  constexpr uint32_t kStart = 0;
  if (v.type1) {
    for (auto& tap : v.precoder.h) {
      io.field(tap.re, 16);
      io.fixed(kStart, 1);
      io.field(tap.im, 16);
      io.fixed(kStart, 1);
    }
  }
  io.reserved(16);
  io.fixed(kStart, 1);
  io.crc();
}

}  // namespace offhook::v34
