// SPDX-License-Identifier: MIT
//
// V.23 duplex with constant carriers: the answerer, a videotex centre, has the forward channel with 1200 bit/s in mode
// 2, the caller the backward one with 75.
#pragma once

#include "driver/user_modem/fsk.h"

namespace offhook {

/// Source: V.23 (11/88) 2, 3
inline constexpr fsk::Line kV23Line = {.name = "v23",
                                       .title = "V.23",
                                       .id = OH_MODULATION_V23,
                                       .call = {.zero_hz = 450, .one_hz = 390, .bit_rate = 75},
                                       .answer = {.zero_hz = 2100, .one_hz = 1300, .bit_rate = 1200},
                                       .answer_tone = true};

inline constexpr Modulation kV23 = fsk::row<kV23Line>("V23C", v8::kV23Duplex);

}  // namespace offhook
