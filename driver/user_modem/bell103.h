// SPDX-License-Identifier: MIT
//
// Bell 103: 300 bit/s both ways. Its answer tone is its mark of 2225 Hz, and V.8 does not include it.
#pragma once

#include "driver/user_modem/fsk.h"

namespace offhook {

/// Source: Bell System Technical Reference PUB 41101 (1967)
inline constexpr fsk::Line kBell103Line = {.name = "bell103",
                                           .title = "Bell 103",
                                           .id = OH_MODULATION_BELL103,
                                           .call = {.zero_hz = 1070, .one_hz = 1270, .bit_rate = 300},
                                           .answer = {.zero_hz = 2025, .one_hz = 2225, .bit_rate = 300},
                                           .answer_tone = false};

inline constexpr Modulation kBell103 = fsk::row<kBell103Line>("B103", 0);

}  // namespace offhook
