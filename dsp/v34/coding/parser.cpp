// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/parser.h"

#include <type_traits>

namespace offhook::v34 {
namespace {

// Bits I3 that a mapping frame of b <= 12 carries: 8, 9, 11 or 12 bits hold 0, 1, 3 or 4 of them. Above, all four.
int i3_bits(const Framing& f, bool high) {
  return f.bits > 12 ? 4 : f.bits - !high - 8;
}

// The order of the fields, defined once: calls `primary` with each field and its bits, or `aux`.
template <class Frame, class Primary, class Aux>
void walk(const Framing& f, int i, Frame& frame, Primary primary, Aux aux) {
  const bool high = f.is_high(i);
  const int shell_bits = f.shell_bits > 0 ? f.shell_bits - !high : 0;
  primary(frame.shell, shell_bits);
  for (int j = 0; j < kGroupsPerMappingFrame; ++j) {
    auto& g = frame.group[j];
    if (j == 0 && f.is_aux(i)) {
      aux(g.i1);
    } else {
      primary(g.i1, 1);
    }
    primary(g.i2, 1);
    if (j < i3_bits(f, high)) primary(g.i3, 1);
    for (auto& q : g.q) primary(q, f.point_bits);
  }
}

}  // namespace

void parse(const Framing& f, int i, FrameBits primary, int aux, MappingFrame* frame) {
  *frame = {};
  walk(
      f, i, *frame,
      [&](auto& field, int n) { field = static_cast<std::remove_reference_t<decltype(field)>>(primary.take(n)); },
      [&](uint8_t& field) { field = static_cast<uint8_t>(aux); });
}

FrameBits deparse(const Framing& f, int i, const MappingFrame& frame, uint8_t* aux) {
  FrameBitsWriter primary;
  walk(
      f, i, frame, [&](const auto& field, int n) { primary.put(field, n); },
      [&](const uint8_t& field) { *aux = field & 1; });
  return primary.bits();
}

}  // namespace offhook::v34
