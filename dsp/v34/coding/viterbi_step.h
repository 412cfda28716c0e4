// SPDX-License-Identifier: MIT
//
// One step of the Viterbi decoder: two received points in, the survivors of all states out. Integers throughout, so
// that every instruction set's variant gives the same bits.
//
// The transitions of each code fall into four groups. Within a group every prior state is joined with every next state,
// the input is the exclusive or of their places in the group, and Y0 is the same for all. (The AND gates of the
// 64-state encoder only decide which places.) So one step is four small min-plus convolutions over contiguous arrays.
// Squared distances leave the six low bits free; these hold the index of the minimum.
#pragma once

#include <stdint.h>

#include "dsp/blocks/kernels.h"
#include "dsp/v34/coding/trellis.h"

namespace offhook::v34 {

inline constexpr int kTrellisGroups = 4;
inline constexpr int kMaxInputs = kMaxTrellisStates / kTrellisGroups;
inline constexpr int kMetricIdBits = 6;
inline constexpr int32_t kMetricIds = (1 << kMetricIdBits) - 1;
/// A squared distance of 1 (grid units); the greatest metric is 1024 times this.
inline constexpr int32_t kMetricUnit = 1 << (15 + kMetricIdBits);

/// A trellis sorted into groups. A position is group * inputs + index in the group. A state has one position as a prior
/// state and another as a next state. Its slot is its next position in the storage order of survivors: index in the
/// group * kTrellisGroups + group.
struct GroupedTrellis {
  int inputs;                              ///< 4, 8 or 16
  uint8_t next_state[kMaxTrellisStates];   ///< by next place
  uint8_t prior_state[kMaxTrellisStates];  ///< by prior place
  uint8_t next_place[kMaxTrellisStates];   ///< by prior position: the next position of the same state
  uint8_t prior_place[kMaxTrellisStates];  ///< by next position: the prior position of the same state
  uint8_t output[kTrellisGroups];          ///< Y0 of all prior states of the group
};
const GroupedTrellis& grouped_trellis(TrellisCode code);
/// @param place  position of a next state
constexpr int slot_of(int place, int inputs) {
  return place % inputs * kTrellisGroups + place / inputs;
}
constexpr int place_of(int slot, int inputs) {
  return slot % kTrellisGroups * inputs + slot / kTrellisGroups;
}

/// If squared distances of paths differ by at most this, the decision is random (half of kMetricUnit).
inline constexpr int32_t kTossUp = kMetricUnit / 2;

/// The stored part of a step, until its decision. It is packed by the code's states, because with a thousand decoders
/// all of it passes through the caches repeatedly.
///    from     [states] by slot: the survivor's slot before this step, and kTossUpBit
///    pair     [2][inputs] by Y0 and input: 8 s(2m) + s(2m+1) of the best pair
///    nearest  re [2][8], im [2][8]: nearest points, by subset label, as places of their class (nearest_point())
struct StepLayout {
  static constexpr uint8_t kTossUpBit = 0x80;  ///< a second path into the slot was worse by at most kTossUp
  static constexpr int kMostBytes = 128;
  int pair, nearest;
  int bytes;  ///< of one step
};
constexpr StepLayout step_layout(int states) {
  const int pair = states, nearest = pair + 2 * states / kTrellisGroups, end = nearest + 32;
  return {pair, nearest, end < 64 ? 64 : end};
}
static_assert(step_layout(kMaxTrellisStates).bytes == StepLayout::kMostBytes);

/// Points 1 modulo 4 turned by 0..3 times 90 degrees: one class for each label modulo 4. A class has two subsets, which
/// differ in the parity of both coordinates' indices.
inline constexpr int kOffsetRe[] = {1, 1, 3, 3};
inline constexpr int kOffsetIm[] = {1, 3, 3, 1};

/// One of the two points of a step: the nearest one of that label.  Real-time: yes, O(1).
inline Point nearest_point(const uint8_t* step, const StepLayout& layout, int which, int label) {
  const auto* place = reinterpret_cast<const int8_t*>(step + layout.nearest + 8 * which + label);
  return {static_cast<int16_t>(kOffsetRe[label & 3] + 4 * place[0]),
          static_cast<int16_t>(kOffsetIm[label & 3] + 4 * place[16])};
}

/// @param[in] received  re, im, re, im of two points; any value  @param bit_inversion  V0
/// @param[in] before  [64] by next position: metric, and in the low bits the slot  @param[out] after  the same after
/// the step; the least metric is 0. Must not alias `before`
/// @param[out] step  in the StepLayout of the code
/// @return the metric's growth, and in the low bits the best slot.  Real-time: yes, O(states * inputs).
using ViterbiStepFunction = int32_t (*)(const float received[4], bool bit_inversion,
                                        const int32_t before[kMaxTrellisStates], int32_t after[kMaxTrellisStates],
                                        uint8_t* step);
/// @pre cpu_has(set)
ViterbiStepFunction viterbi_step(TrellisCode code, InstructionSet set);

}  // namespace offhook::v34
