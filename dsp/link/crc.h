// SPDX-License-Identifier: MIT
//
// Frame check sequences: division by a generator polynomial, one octet at a time, least significant bit first.
#ifndef OFFHOOK_DSP_V42_CRC_H
#define OFFHOOK_DSP_V42_CRC_H

#include <stdint.h>

namespace offhook::v42 {

/// @tparam kPolynomial  mirrored, because the least significant bit goes first
template <uint32_t kPolynomial>
struct Crc {
  uint32_t table[256];
  constexpr Crc() : table{} {
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t r = i;
      for (int bit = 0; bit < 8; ++bit) r = (r >> 1) ^ ((r & 1) ? kPolynomial : 0);
      table[i] = r;
    }
  }
  constexpr uint32_t add(uint32_t r, uint8_t octet) const { return (r >> 8) ^ table[(r ^ octet) & 0xFF]; }
};

}  // namespace offhook::v42
#endif
