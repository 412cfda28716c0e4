// SPDX-License-Identifier: MIT
//
// Bits and points of V.22bis: Table 1, Figure 2, and the scrambler with its guard (clauses 2.5 and 5).
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/scrambler.h"

namespace offhook::v22 {

/// Points have odd coordinates from -3 to 3 at both rates.
inline constexpr float kMeanEnergy = 10;

/// Quarter turns anticlockwise for a pair of bits, the first bit in bit 1; and the reverse (Table 1).
inline constexpr uint8_t kTurnOfDibit[] = {1, 0, 2, 3};
inline constexpr uint8_t kDibitOfTurn[] = {1, 0, 2, 3};
/// The second pair at 1200 bit/s, in every quadrant (2.5.2.2).
inline constexpr int kInnerAt1200 = 1;

/// A point of quadrant q, counted anticlockwise from the first, from 0 (Figure 2).
constexpr Complex point(int quadrant, int inner) {
  const Complex first{inner & 1 ? 3.f : 1.f, inner & 2 ? 3.f : 1.f};
  switch (quadrant & 3) {
    case 0:
      return first;
    case 1:
      return {-first.im, first.re};
    case 2:
      return {-first.re, -first.im};
    default:
      return {first.im, -first.re};
  }
}

struct Decision {
  uint8_t quadrant, inner;
};
constexpr int quadrant_of(Complex y) {
  return y.im >= 0 ? (y.re >= 0 ? 0 : 1) : (y.re < 0 ? 2 : 3);
}
/// The nearest of the four points of 1200 bit/s: they are 18.4 degrees before the diagonals, whose signs decide.
constexpr Decision nearest_of_four(Complex y) {
  // arg(3 + i) to 45 degrees is the angle of 2 + i.
  return {static_cast<uint8_t>(quadrant_of(y * Complex{2, 1})), kInnerAt1200};
}
constexpr Decision nearest_of_sixteen(Complex y) {
  const int q = quadrant_of(y);
  constexpr Complex kBack[] = {{1, 0}, {0, -1}, {-1, 0}, {0, 1}};
  const Complex first = y * kBack[q];
  return {static_cast<uint8_t>(q), static_cast<uint8_t>((first.im >= 2 ? 2 : 0) | (first.re >= 2 ? 1 : 0))};
}

inline constexpr Scrambling kScrambling{14, 17};
inline constexpr int kMostOnes = 64;

/// 5.1: after 64 ones at its output, it inverts the next input.
class GuardedScrambler {
 public:
  constexpr int scramble(int bit) {
    const bool invert = ones_ == kMostOnes;
    if (invert) ones_ = 0;
    const int out = scrambler_.scramble(bit ^ static_cast<int>(invert));
    ones_ = out != 0 ? ones_ + 1 : 0;
    return out;
  }

 private:
  Scrambler scrambler_{kScrambling};
  int ones_ = 0;
};

/// 5.2.
class GuardedDescrambler {
 public:
  constexpr int descramble(int bit) {
    const bool invert = ones_ == kMostOnes;
    if (invert) ones_ = 0;
    ones_ = bit != 0 ? ones_ + 1 : 0;
    return descrambler_.descramble(bit) ^ static_cast<int>(invert);
  }

 private:
  Descrambler descrambler_{kScrambling};
  int ones_ = 0;
};

}  // namespace offhook::v22
