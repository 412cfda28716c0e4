// SPDX-License-Identifier: MIT
//
// The self-synchronizing scramblers of V.34 (clause 7), which V.32bis shares.
//
// The polynomial belongs to the transmitting modem: what the call modem sends is scrambled, and at the far end
// descrambled, with GPC. A descrambler needs no start value: 23 good bits after any error it is right again.
#pragma once

#include <stdint.h>

namespace offhook::v34 {

/// Which modem transmits. Its value is the shorter delay of the polynomial.
enum class Scrambling : uint8_t {
  kCall = 18,   ///< GPC = 1 + x^-18 + x^-23, (7-1)
  kAnswer = 5,  ///< GPA = 1 + x^-5 + x^-23, (7-2)
};

/// Divides the bit stream by the polynomial. Real-time: yes, O(1) a bit.
class Scrambler {
 public:
  constexpr explicit Scrambler(Scrambling s = Scrambling::kCall) : tap_(static_cast<int>(s) - 1) {}
  constexpr void reset() { history_ = 0; }
  constexpr int scramble(int bit) {
    const uint32_t out = (static_cast<uint32_t>(bit) ^ history_ >> tap_ ^ history_ >> 22) & 1;
    history_ = history_ << 1 | out;
    return static_cast<int>(out);
  }

 private:
  int tap_;
  uint32_t history_ = 0;  // scrambled bits, newest in bit 0
};

/// Multiplies the bit stream by the polynomial. Real-time: yes, O(1) a bit.
class Descrambler {
 public:
  constexpr explicit Descrambler(Scrambling s = Scrambling::kCall) : tap_(static_cast<int>(s) - 1) {}
  constexpr void reset() { history_ = 0; }
  constexpr int descramble(int bit) {
    const uint32_t in = static_cast<uint32_t>(bit) & 1;
    const uint32_t out = (in ^ history_ >> tap_ ^ history_ >> 22) & 1;
    history_ = history_ << 1 | in;
    return static_cast<int>(out);
  }

 private:
  int tap_;
  uint32_t history_ = 0;
};

}  // namespace offhook::v34
