// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/viterbi_step.h"

#include <utility>

#include "dsp/blocks/instruction_set.h"

namespace offhook::v34 {
namespace {

// The inputs that a code uses are packed: 16 states leave out Y4 and Y3, 32 states Y3.
constexpr int unpack_input(TrellisCode code, int packed) {
  switch (code) {
    case TrellisCode::k16:
      return packed;
    case TrellisCode::k32:
      return (packed << 1 & 8) | (packed & 3);
    default:
      return packed;
  }
}

constexpr GroupedTrellis make_trellis(TrellisCode code) {
  GroupedTrellis t{};
  const int states = trellis_states(code);
  t.inputs = states / kTrellisGroups;
  const auto next = [code](int state, int packed) { return trellis_next(code, state, unpack_input(code, packed)); };
  bool grouped[kMaxTrellisStates]{};
  int group = 0;
  for (int first = 0; first < states; ++first) {
    if (grouped[first]) continue;
    const int base = group * t.inputs;
    for (int h = 0; h < t.inputs; ++h) t.next_state[base + h] = static_cast<uint8_t>(next(first, h));
    for (int state = 0; state < states; ++state) {  // which other states reach the same ones, and by which shift?
      for (int g = 0; g < t.inputs; ++g) {
        if (next(state, g) != t.next_state[base]) continue;
        t.prior_state[base + g] = static_cast<uint8_t>(state);
        grouped[state] = true;
      }
    }
    t.output[group++] = static_cast<uint8_t>(trellis_output(first));
  }
  for (int prior = 0; prior < states; ++prior) {
    for (int place = 0; place < states; ++place) {
      if (t.next_state[place] != t.prior_state[prior]) continue;
      t.next_place[prior] = static_cast<uint8_t>(place);
      t.prior_place[place] = static_cast<uint8_t>(prior);
    }
  }
  return t;
}

template <TrellisCode kCode>
constexpr GroupedTrellis kTrellis = make_trellis(kCode);

// Checks the header's statement for every transition.
constexpr bool is_exclusive_or(TrellisCode code) {
  const GroupedTrellis t = make_trellis(code);
  for (int place = 0; place < trellis_states(code); ++place) {
    const int base = place / t.inputs * t.inputs;
    if (trellis_output(t.prior_state[place]) != t.output[place / t.inputs]) return false;
    for (int h = 0; h < t.inputs; ++h) {
      const int y = unpack_input(code, (place - base) ^ h);
      if (trellis_next(code, t.prior_state[place], y) != t.next_state[base + h]) return false;
    }
  }
  return true;
}
static_assert(is_exclusive_or(TrellisCode::k16) && is_exclusive_or(TrellisCode::k32) &&
              is_exclusive_or(TrellisCode::k64));

constexpr bool classes_are_labels() {
  for (int c = 0; c < 4; ++c) {
    for (int row = -3; row <= 3; ++row) {
      for (int column = -3; column <= 3; ++column) {
        const Point p{static_cast<int16_t>(kOffsetRe[c] + 4 * column), static_cast<int16_t>(kOffsetIm[c] + 4 * row)};
        if (subset_label(p) != c + 4 * ((row + column + c) & 1)) return false;
      }
    }
  }
  return true;
}
static_assert(classes_are_labels());

// Pairs by parity of the labels, by Y3, and by whether the high bits differ (Y4): four pairs for Y2 and Y1. Each has
// the low two bits of both labels.
struct PairLabels {
  int s0[2][2][4], s1[2][2][4];
};
constexpr PairLabels make_pair_labels() {
  PairLabels l{};
  for (int s0 = 0; s0 < 4; ++s0) {
    for (int s1 = 0; s1 < 4; ++s1) {
      const int parity = (s0 ^ s1) & 1, y = trellis_input(s0, s1);
      l.s0[parity][y >> 2 & 1][y & 3] = s0;
      l.s1[parity][y >> 2 & 1][y & 3] = s1;
    }
  }
  return l;
}
constexpr PairLabels kPairLabels = make_pair_labels();
constexpr bool high_bit_is_y4() {
  for (int s0 = 0; s0 < 4; ++s0) {
    for (int s1 = 0; s1 < 4; ++s1) {
      if (trellis_input(s0, s1 ^ 4) != (trellis_input(s0, s1) ^ 8)) return false;
    }
  }
  return true;
}
static_assert(high_bit_is_y4());
constexpr bool high_bits_cancel() {
  for (int s0 = 0; s0 < 8; ++s0) {
    for (int s1 = 0; s1 < 8; ++s1) {
      if (trellis_input(s0, s1) != trellis_input(s0 ^ 4, s1 ^ 4)) return false;
    }
  }
  return true;
}
static_assert(high_bits_cancel());

// A vector register of kCount integers, and the same number of octets.
template <int kCount>
struct Ints;
template <>
struct Ints<4> {
  using Vector = int32_t __attribute__((vector_size(16)));
  using Octets = int8_t __attribute__((vector_size(4)));
};
template <>
struct Ints<8> {
  using Vector = int32_t __attribute__((vector_size(32)));
  using Octets = int8_t __attribute__((vector_size(8)));
};
template <>
struct Ints<16> {
  using Vector = int32_t __attribute__((vector_size(64)));
  using Octets = int8_t __attribute__((vector_size(16)));
};

namespace plain {
constexpr int kLanes = 4;
#define OFFHOOK_TARGET
#include "dsp/v34/coding/viterbi_step_variant.inc"
#undef OFFHOOK_TARGET
}  // namespace plain

#if defined(OFFHOOK_X86_VARIANTS)
namespace avx2 {
constexpr int kLanes = 8;
#define OFFHOOK_TARGET OFFHOOK_TARGET_AVX2
#include "dsp/v34/coding/viterbi_step_variant.inc"
#undef OFFHOOK_TARGET
}  // namespace avx2

namespace avx512 {
constexpr int kLanes = 16;
#define OFFHOOK_TARGET OFFHOOK_TARGET_AVX512
#include "dsp/v34/coding/viterbi_step_variant.inc"
#undef OFFHOOK_TARGET
}  // namespace avx512
#endif

}  // namespace

const GroupedTrellis& grouped_trellis(TrellisCode code) {
  switch (code) {
    case TrellisCode::k16:
      return kTrellis<TrellisCode::k16>;
    case TrellisCode::k32:
      return kTrellis<TrellisCode::k32>;
    default:
      return kTrellis<TrellisCode::k64>;
  }
}

ViterbiStepFunction viterbi_step(TrellisCode code, [[maybe_unused]] InstructionSet set) {
  const int c = static_cast<int>(code);
#if defined(OFFHOOK_X86_VARIANTS)
  if (set == InstructionSet::kAvx2) return avx2::kSteps[c];
  if (set == InstructionSet::kAvx512) return avx512::kSteps[c];
#endif
  return plain::kSteps[c];
}

}  // namespace offhook::v34
