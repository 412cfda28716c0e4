// SPDX-License-Identifier: MIT
// What encoder and decoder of V.44 have in common.
#ifndef OFFHOOK_DSP_V44_CODING_H
#define OFFHOOK_DSP_V44_CODING_H

#include <stddef.h>
#include <stdint.h>

namespace offhook::v44 {

inline constexpr uint16_t kFirstCodeword = 4;                                             // N5
inline constexpr uint8_t kFirstWidth = 6, kFirstOrdinalWidth = 7, kLastOrdinalWidth = 8;  // 7.5.1: C2, C5
inline constexpr uint8_t kEtm = 0, kFlush = 1, kStepUp = 2, kReinit = 3;                  // Table 8
inline constexpr uint8_t kEcm = 0, kEid = 1;                                              // Table 9
inline constexpr uint8_t kEscapeStep = 51;                                                // 7.14

// Tables 3 and 4: length 1; 2 to 4 in two bits; 5 to 12 in three; from 13 on, in the bits of the longest length.
inline constexpr uint8_t kSecondLength = 2, kThirdLength = 5, kLastLength = 13;

constexpr uint8_t last_length_width(uint8_t max_string) {
  return max_string <= 46 ? 5 : max_string <= 78 ? 6 : max_string <= 142 ? 7 : 8;
}

constexpr size_t rounded(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace offhook::v44
#endif
