// SPDX-License-Identifier: MIT
//
// The CRC-16 of the messages between the two ends.
#pragma once

#include <stdint.h>

#include "dsp/blocks/packed_bits.h"
#include "dsp/blocks/sequence.h"

namespace offhook::dmt {

inline constexpr int kCrcOctets = 2;  ///< the low one is sent first

/// @param[in] octets  [n], least significant bits first. Real-time: yes, O(n).
inline uint16_t crc_of(const uint8_t* octets, int n) {
  Crc crc;
  unpack_bits(octets, 8 * static_cast<size_t>(n), [&crc](int bit) { crc.put(bit); });
  return crc.value();
}

}  // namespace offhook::dmt
