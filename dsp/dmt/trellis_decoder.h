// SPDX-License-Identifier: MIT
//
// Viterbi decoder of the trellis code (trellis.h), one symbol at a time. For each pair of tones it takes the squared
// distance of the received points to the nearest point of each coset, over the tone's noise; then the path from state 0
// to state 0 with the least sum of distances. The path is never truncated: it is as long as the symbol.
//
// The constellations' borders count: a coset's nearest point is one that can be sent.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/dmt/tones.h"

namespace offhook::dmt {

class TrellisDecoder {
 public:
  /// @pre table.trellis()  @param[in] noise  [kMostTones] mean square by tone, in units of the tone's points; 0:
  /// unknown. Real-time: yes, O(tones).
  void set(const BitTable& table, const float* noise);

  /// One symbol. @param[in] z  [tones] in the table's order, in units of the points; any value, even NaN
  /// @param[out] cosets  [tones] of the points that were most likely sent
  /// @pre the table is that of set(). Real-time: yes, O(16 * 4 * pairs), equal for every z except the few beyond a
  /// cross's corners.
  void decode(const Complex* z, uint8_t* cosets);

 private:
  using Float4 = float __attribute__((vector_size(16)));
  using Int4 = int32_t __attribute__((vector_size(16)));

  struct Tone {
    float least, most;  // coordinates of the constellation that are 1 modulo 4
    float inner;        // if both coordinates reach this, the constellation is not a square
    float weight;
    int bits;
  };
  static Float4 distances(const Tone& tone, Complex z);
  static Float4 exact_distances(const Tone& tone, Complex z);
  void trace(uint8_t* cosets) const;

  int count_ = 0;
  Tone tones_[kMostTones]{};
  /// For each step: lane S1 S0 has S3 S2 of the survivors into the four next states, two bits each. Lane u1 u0 has u3
  /// for u2 zero in bit 8, and for u2 one in bit 9.
  Int4 survivors_[kMostTones / 2]{};
};

}  // namespace offhook::dmt
