// SPDX-License-Identifier: MIT
//
// A modulation that a stranger adds: V.32bis that never goes faster than 4800 bit/s.
#pragma once

#include "dsp/modulation/modulation.h"

extern "C" const oh_pump_type* oh_walk_type();

namespace offhook {

inline constexpr Modulation kExtension = {.id = OH_MODULATION_OWN,
                                          .name = "extension",
                                          .title = "Extension",
                                          .carrier = "EXTENSION",
                                          .v8 = {},
                                          .min_bit_rate = 4'800,
                                          .max_bit_rate = 4'800,
                                          .v42_window = 15,
                                          .alone = false,
                                          .mark_hz = 0,
                                          .type = oh_walk_type,
                                          .begin = kV32bis.begin};

}  // namespace offhook
