// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/parser.h"

#include <type_traits>

namespace offhook::v34 {
namespace {

// Bits I3 that a mapping frame of b <= 12 carries: 8, 9, 11 or 12 bits hold 0, 1, 3 or 4 of them. Above, all four.
int i3_bits(const Framing& f, bool high) {
  return f.bits > 12 ? 4 : f.bits - !high - 8;
}

// The order of the bits in time, written once: `primary` and `aux` are called with each place in turn.
template <class Frame, class Primary, class Aux>
void walk(const Framing& f, int i, Frame& frame, Primary primary, Aux aux) {
  const bool high = f.is_high(i);
  const int shell_bits = f.shell_bits > 0 ? f.shell_bits - !high : 0;
  for (int k = 0; k < shell_bits; ++k) primary(frame.shell, k);
  for (int j = 0; j < kGroupsPerMappingFrame; ++j) {
    auto& g = frame.group[j];
    if (j == 0 && f.is_aux(i)) {
      aux(g.i1);
    } else {
      primary(g.i1, 0);
    }
    primary(g.i2, 0);
    if (j < i3_bits(f, high)) primary(g.i3, 0);
    for (auto& q : g.q) {
      for (int k = 0; k < f.point_bits; ++k) primary(q, k);
    }
  }
}

}  // namespace

void parse(const Framing& f, int i, const uint8_t* primary, int aux, MappingFrame* frame) {
  *frame = {};
  walk(
      f, i, *frame,
      [&](auto& field, int k) {
        field = static_cast<std::remove_reference_t<decltype(field)>>(field | *primary++ << k);
      },
      [&](uint8_t& field) { field = static_cast<uint8_t>(aux); });
}

void deparse(const Framing& f, int i, const MappingFrame& frame, uint8_t* primary, uint8_t* aux) {
  walk(
      f, i, frame, [&](const auto& field, int k) { *primary++ = static_cast<uint8_t>(field >> k & 1); },
      [&](const uint8_t& field) { *aux = field & 1; });
}

}  // namespace offhook::v34
