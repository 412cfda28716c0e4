// SPDX-License-Identifier: MIT
//
// The trellis code of full rate: Wei's code of 16 states in four dimensions, two tones a step.
//
// A tone's points fall into four cosets of distance 4, by the two lowest bits of the label. Four bits u3 u2 u1 u0 name
// the cosets of both tones of a pair; u0 comes from the encoder's state, so half of all pairs of cosets are impossible.
// The encoder begins each symbol in state 0, and the last two pairs take it back there, so a symbol is decoded by
// itself.
//
// Tones are paired in the order of the bit table. When their number is odd, the first has no partner, and counts as
// paired with a tone of one point.
//
// Source: Wei 1987; G.992.1 7.8.2 in outline (docs/dmt.md lists the choices made here).
#pragma once

namespace offhook::dmt {

/// Fewer pairs are not coded, because the pairs that end the code must be complete.
inline constexpr int kLeastTrellisTones = 4;

constexpr int trellis_pairs(int tones) {
  return (tones + 1) / 2;
}
/// Bits of a symbol that the code takes: one per pair, and four to end it.
constexpr int trellis_overhead(int tones) {
  return trellis_pairs(tones) + 4;
}

/// The state is S3 S2 S1 S0, S0 lowest.
constexpr int trellis_next(int state, int u2, int u1) {
  const int s3 = state >> 3 & 1, s2 = state >> 2 & 1, s1 = state >> 1 & 1, s0 = state & 1;
  return s1 << 3 | s0 << 2 | (s2 ^ u2) << 1 | (s1 ^ s3 ^ u1);
}
/// u0 of a state.
constexpr int trellis_output(int state) {
  return state & 1;
}
/// The inputs that lead to state 0 in two steps.
struct TrellisInputs {
  int u2, u1;
};
constexpr TrellisInputs trellis_ending(int state) {
  return {state >> 2 & 1, (state >> 1 ^ state >> 3) & 1};
}

/// Cosets of a pair's tones.
struct CosetPair {
  int first, second;
};
constexpr CosetPair cosets_of(int u3, int u2, int u1, int u0) {
  return {(u1 ^ u3) << 1 | u3, (u0 ^ u1 ^ u2 ^ u3) << 1 | (u2 ^ u3)};
}

}  // namespace offhook::dmt
