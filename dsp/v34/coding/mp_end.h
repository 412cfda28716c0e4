// SPDX-License-Identifier: MIT
#pragma once

#include "dsp/blocks/sequence.h"

namespace offhook::v34 {

/// How MP ends in V.34 (Tables 20 and 21) and V.90: in type 1 the precoder's coefficients, then the reserved word and
/// the CRC, each word with its start bit. @param io  FieldWriter or FieldReader  @param v  with type1 and precoder
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
