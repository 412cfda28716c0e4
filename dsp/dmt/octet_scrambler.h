// SPDX-License-Identifier: MIT
//
// The scrambler and descrambler of dsp/blocks with the polynomial 1 + x^-18 + x^-23, eight bits at a time: no bit of an
// octet depends on another one of it. An octet's first bit in time is the least significant.
#pragma once

#include <stdint.h>

namespace offhook::dmt {

/// One direction of a stream: call either scramble() or descramble() for all of it. Real-time: yes, O(1) per octet.
class OctetScrambler {
 public:
  /// All ones, so that initial zeros are not sent as zeros.
  constexpr void reset() { bits_ = kOnes; }
  constexpr uint8_t scramble(uint8_t octet) {
    const auto out = static_cast<uint8_t>(octet ^ change());
    push(out);
    return out;
  }
  constexpr uint8_t descramble(uint8_t octet) {
    const auto out = static_cast<uint8_t>(octet ^ change());
    push(octet);
    return out;
  }

 private:
  /// The change of the next octet.
  constexpr uint8_t change() const { return static_cast<uint8_t>(bits_ ^ bits_ >> 5); }
  constexpr void push(uint8_t scrambled) { bits_ = bits_ >> 8 | static_cast<uint32_t>(scrambled) << 15; }

  static constexpr uint32_t kOnes = (1u << 23) - 1;
  uint32_t bits_ = kOnes;  // the newest 23 bits of the scrambled stream, the oldest one lowest
};

}  // namespace offhook::dmt
