// SPDX-License-Identifier: MIT
//
// Bits in octets, eight per octet, the first in time in the least significant bit: the order of the ports of
// offhook/pump.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace offhook {

/// Packs n bits of next(), each 0 or 1, into [ceil(n / 8)] octets; unused bits of the last are zero.  Real-time: yes.
template <class Next>
void pack_bits(uint8_t* octets, size_t n, Next&& next) {
  for (size_t k = 0; k < n; ++k) {
    const auto bit = static_cast<unsigned>(next());
    octets[k / 8] = static_cast<uint8_t>((k % 8 == 0 ? 0u : octets[k / 8]) | bit << k % 8);
  }
}

/// Calls put(bit) for each of n bits.  Real-time: yes.
template <class Put>
void unpack_bits(const uint8_t* octets, size_t n, Put&& put) {
  for (size_t k = 0; k < n; ++k) put(octets[k / 8] >> k % 8 & 1);
}

}  // namespace offhook
