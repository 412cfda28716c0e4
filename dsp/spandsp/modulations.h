// SPDX-License-Identifier: MIT
//
// The table of modulations: a line for each pump there is.
#pragma once

#include "dsp/modulation/modulation.h"
#include "dsp/spandsp/automode.h"
#include "dsp/spandsp/v22bis.h"

namespace offhook {

inline constexpr Modulation kV22bis = {
    .id = OH_MODULATION_V22BIS,
    .name = "v22bis",
    .carrier = "V22B",
    .v8 = {.modulations = v8::kV22bis},
    .max_bit_rate = 2'400,
    .v42_window = 15,
    .type = oh_v22bis_type,
    .begin = [](void* self, bool, float far_dbm0) { oh_v22bis_begin(self, far_dbm0); }};

inline constexpr Modulation kAutomode = {.id = OH_MODULATION_NONE,
                                         .name = "auto",
                                         .carrier = "",
                                         .v8 = {},
                                         .max_bit_rate = kV34.max_bit_rate,
                                         .v42_window = kV34.v42_window,
                                         .type = oh_automode_v22bis_type,
                                         .begin = nullptr};

/// From the slowest to the fastest; the last finds out which of them both ends have.
inline constexpr Modulation kModulations[] = {kV22bis, kV32bis, kV34, kAutomode};
inline constexpr int kModulationCount = sizeof kModulations / sizeof kModulations[0];

/// Where in the table it stands.
constexpr int index_of(oh_modulation id) {
  int k = 0;
  while (k < kModulationCount - 1 && kModulations[k].id != id) ++k;
  return k;
}
constexpr const Modulation& modulation_of(oh_modulation id) {
  return kModulations[index_of(id)];
}

/// Every id, as a set.
inline constexpr uint32_t kAllModulations = [] {
  uint32_t all = 0;
  for (const Modulation& m : kModulations) all |= m.id;
  return all;
}();

}  // namespace offhook
