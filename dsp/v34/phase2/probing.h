// SPDX-License-Identifier: MIT
//
// The line probing signals L1 and L2 of Phase 2 (10.1.2.4): 21 cosines, multiples of 150 Hz without 900, 1200, 1800 and
// 2400 Hz, of equal amplitude, with signs that keep the peaks low. L1 is sent 6 dB above L2.
#pragma once

#include <stdint.h>

#include "dsp/blocks/sincos.h"

namespace offhook::v34 {

inline constexpr int kProbingSpacingHz = 150;
inline constexpr int kProbingTones = 21;

struct ProbingTone {
  uint8_t multiple;  ///< of 150 Hz
  bool inverted;     ///< initial phase 180 degrees, otherwise 0
};

/// Table 17.
inline constexpr ProbingTone kProbingTone[kProbingTones] = {
    {1, false},  {2, true},  {3, false},  {4, false},  {5, false}, {7, false},  {9, false},
    {10, false}, {11, true}, {13, false}, {14, false}, {15, true}, {17, false}, {18, true},
    {19, false}, {20, true}, {21, true},  {22, true},  {23, true}, {24, false}, {25, false},
};

/// The sum of the cosines of amplitude 1, at `periods` after the start; a period is 1/150 s. Mean square 10.5.
constexpr double probing_sum(double periods) {
  double sum = 0;
  for (const ProbingTone& tone : kProbingTone) {
    const double c = sincos_turns(tone.multiple * periods).cos;
    sum += tone.inverted ? -c : c;
  }
  return sum;
}

inline constexpr int kProbingSamples = 160;  ///< three periods at 8000 Hz; L1 lasts eight times as long

/// The signal at 8000 Hz with mean square 1, to be repeated continuously.
struct ProbingTable {
  float sample[kProbingSamples];
};

constexpr ProbingTable make_probing_table() {
  ProbingTable t{};
  constexpr double kInverseRms = 0.30860669992418382;  // 1 / sqrt(10.5)
  for (int n = 0; n < kProbingSamples; ++n) {
    t.sample[n] = static_cast<float>(probing_sum(n * (3.0 / kProbingSamples)) * kInverseRms);
  }
  return t;
}

inline constexpr ProbingTable kProbingTable = make_probing_table();

}  // namespace offhook::v34
