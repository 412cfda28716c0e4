// SPDX-License-Identifier: MIT
//
// V.22: 1200 bit/s both ways. The pump is that of V.22bis, which never offers 2400; V.22bis itself falls back to it.
#pragma once

#include "dsp/modulation/modulation.h"
#include "dsp/spandsp/v22bis.h"

namespace offhook {

inline constexpr Modulation kV22 = {.id = OH_MODULATION_V22,
                                    .name = "v22",
                                    .title = "V.22",
                                    .carrier = "V22",
                                    .v8 = {.modulations = v8::kV22bis},
                                    .min_bit_rate = 1'200,
                                    .max_bit_rate = 1'200,
                                    .v42_window = 15,
                                    .alone = true,
                                    .mark_hz = 0,
                                    .type = oh_v22_type,
                                    .begin = [](void* self, bool, float far_dbm0) { oh_v22bis_begin(self, far_dbm0); }};

inline constexpr Modulation kV22bis = {
    .id = OH_MODULATION_V22BIS,
    .name = "v22bis",
    .title = "V.22bis",
    .carrier = "V22B",
    .v8 = {.modulations = v8::kV22bis},
    .min_bit_rate = 1'200,
    .max_bit_rate = 2'400,
    .v42_window = 15,
    .alone = true,
    .mark_hz = 0,
    .type = oh_v22bis_type,
    .begin = [](void* self, bool, float far_dbm0) { oh_v22bis_begin(self, far_dbm0); }};

}  // namespace offhook
