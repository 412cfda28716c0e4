// SPDX-License-Identifier: MIT
//
// V.21: 300 bit/s both ways. The caller has channel 1.
#pragma once

#include "driver/user_modem/fsk.h"

namespace offhook {

/// Source: V.21 (11/88) 3
inline constexpr fsk::Line kV21Line = {.name = "v21",
                                       .title = "V.21",
                                       .id = OH_MODULATION_V21,
                                       .call = {.zero_hz = 1180, .one_hz = 980, .bit_rate = 300},
                                       .answer = {.zero_hz = 1850, .one_hz = 1650, .bit_rate = 300},
                                       .answer_tone = true};

inline constexpr Modulation kV21 = fsk::row<kV21Line>("V21", v8::kV21);

}  // namespace offhook
