// SPDX-License-Identifier: MIT
//
// The table of modulations: a line for each pump there is.
#pragma once

#include "dsp/modulation/modulation.h"
#include "dsp/spandsp/automode.h"
#include "dsp/spandsp/bell103.h"
#include "dsp/spandsp/v21.h"
#include "dsp/spandsp/v23.h"

namespace offhook {

inline constexpr Modulation kAutomode = {.id = OH_MODULATION_NONE,
                                         .name = "auto",
                                         .title = "automode",
                                         .carrier = "",
                                         .v8 = {},
                                         .min_bit_rate = kV23.min_bit_rate,
                                         .max_bit_rate = kV90.max_bit_rate,
                                         .v42_window = kV90.v42_window,
                                         .alone = false,
                                         .mark_hz = 0,
                                         .type = oh_automode_v22bis_type,
                                         .begin = nullptr};

/// From the slowest to the fastest; the last finds out which of them both ends have.
inline constexpr Modulation kModulations[] = {kBell103, kV21, kV23, kV22, kV22bis, kV32bis, kV34, kV90, kAutomode};
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

/// Every id, as a set; and of them those over which V.42 runs.
inline constexpr uint32_t kAllModulations = [] {
  uint32_t all = 0;
  for (const Modulation& m : kModulations) all |= m.id;
  return all;
}();
inline constexpr uint32_t kModulationsWithV42 = [] {
  uint32_t all = 0;
  for (const Modulation& m : kModulations) all |= m.v42_window > 0 ? uint32_t{m.id} : 0u;
  return all;
}();

}  // namespace offhook
