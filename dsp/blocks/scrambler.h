// SPDX-License-Identifier: MIT
//
// Self-synchronizing scramblers with a polynomial of three terms.
//
// A descrambler needs no start value: after any error its output is correct again once it has received as many good
// bits as the longer delay.
#pragma once

#include <stdint.h>

namespace offhook {

/// The polynomial 1 + x^-first + x^-second. @pre 1 <= first < second <= 32
struct Scrambling {
  uint8_t first, second;
  friend constexpr bool operator==(const Scrambling&, const Scrambling&) = default;
};
/// The transmit scrambler of a call modem, and of an answer modem. Source: V.32bis 4, V.34 7
inline constexpr Scrambling kGpc{18, 23}, kGpa{5, 23};

/// Divides the bit stream by the polynomial. Real-time: yes, O(1) for as many bits as the shorter delay.
class Scrambler {
 public:
  constexpr explicit Scrambler(Scrambling s = kGpc) : first_(s.first), second_(s.second) {}
  constexpr void reset() { history_ = 0; }
  constexpr int scramble(int bit) { return static_cast<int>(some(static_cast<uint64_t>(bit), 1)); }
  /// n bits, the first in time in bit 0. @pre 0 <= n <= 64
  constexpr uint64_t scramble(uint64_t bits, int n) {
    uint64_t out = 0;
    for (int done = 0; done < n; done += first_)
      out |= some(bits >> done, n - done < first_ ? n - done : first_) << done;
    return out;
  }

 private:
  // n <= first_, so none of them depends on another.
  constexpr uint64_t some(uint64_t bits, int n) {
    const uint64_t out = (bits ^ history_ ^ history_ >> (second_ - first_)) & ((uint64_t{1} << n) - 1);
    history_ = (history_ | out << second_) >> n;
    return out;
  }
  int first_, second_;
  uint64_t history_ = 0;  // the last second_ scrambled bits, the oldest in bit 0
};

/// Multiplies the bit stream by the polynomial. Real-time: yes, O(1) for 32 bits.
class Descrambler {
 public:
  constexpr explicit Descrambler(Scrambling s = kGpc) : first_(s.first), second_(s.second) {}
  constexpr void reset() { history_ = 0; }
  constexpr int descramble(int bit) { return static_cast<int>(some(static_cast<uint64_t>(bit), 1)); }
  /// n bits, the first in time in bit 0. @pre 0 <= n <= 64
  constexpr uint64_t descramble(uint64_t bits, int n) {
    constexpr int kMost = 32;
    if (n <= kMost) return some(bits, n);
    const uint64_t early = some(bits, kMost);
    return early | some(bits >> kMost, n - kMost) << kMost;
  }

 private:
  // n <= 32, so history and bits fit together.
  constexpr uint64_t some(uint64_t bits, int n) {
    const uint64_t mask = (uint64_t{1} << n) - 1;
    const uint64_t all = history_ | (bits & mask) << second_;
    history_ = all >> n;
    return (all >> second_ ^ all >> (second_ - first_) ^ all) & mask;
  }
  int first_, second_;
  uint64_t history_ = 0;  // the last second_ bits, the oldest in bit 0
};

}  // namespace offhook
