// SPDX-License-Identifier: MIT
//
// The DIL that the tests of the downstream and of its levels ask for.
#pragma once

#include <cstdint>

#include "dsp/v90/coding/sequences.h"
#include "dsp/v90/coding/ucode.h"

namespace offhook::decode {

inline constexpr std::uint8_t kUInfo = 79;

/// Each Ucode from one on, in a segment of its own, among those of UINFO. @param h  segments have 6 (h + 1) symbols
inline v90::Dil dil_from(int from, std::uint8_t h) {
  v90::Dil d{};
  d.segments = static_cast<std::uint8_t>(v90::kUcodes - from);
  d.sign_length = d.training_length = 12;
  d.sign[0] = 0b10010110, d.sign[1] = 0b1001;
  d.training[0] = 0xFF, d.training[1] = 0xF;
  for (int c = 0; c < 8; ++c) d.length[c] = h, d.reference[c] = kUInfo;
  for (int u = from; u < v90::kUcodes; ++u) d.ucode[u - from] = static_cast<std::uint8_t>(u);
  return d;
}

}  // namespace offhook::decode
