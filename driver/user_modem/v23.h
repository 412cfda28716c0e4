// SPDX-License-Identifier: MIT
//
// V.23 duplex with constant carriers. The answerer, a videotex centre, has the forward channel with 1200 bit/s in mode
// 2, the caller the backward one with 75. Turned round, the caller has the forward channel. Mode 1 has 600 bit/s.
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

/// The same channels with exchanged senders, and mode 1 of the forward channel.
template <const fsk::Line& kLine>
constexpr fsk::Line turned_round(const char* name) {
  fsk::Line line = kLine;
  line.name = name;
  line.call = kLine.answer;
  line.answer = kLine.call;
  return line;
}
inline constexpr fsk::Line kV23TurnedLine = turned_round<kV23Line>("v23turned");
inline constexpr fsk::Line kV23At600Line = [] {
  fsk::Line line = kV23Line;
  line.name = "v23at600";
  line.answer = {.zero_hz = 1700, .one_hz = 1300, .bit_rate = 600};
  return line;
}();
inline constexpr fsk::Line kV23At600TurnedLine = turned_round<kV23At600Line>("v23at600turned");

/// The pump with these bit rates of the two senders. @return NULL if V.23 does not have them
inline const oh_pump_type* v23_with_rates(uint32_t caller, uint32_t answerer) {
  if (caller == 75 && answerer == 1200) return fsk::type<kV23Line>();
  if (caller == 1200 && answerer == 75) return fsk::type<kV23TurnedLine>();
  if (caller == 75 && answerer == 600) return fsk::type<kV23At600Line>();
  if (caller == 600 && answerer == 75) return fsk::type<kV23At600TurnedLine>();
  return nullptr;
}

inline constexpr Modulation kV23 = [] {
  Modulation row = fsk::row<kV23Line>("V23C", v8::kV23Duplex);
  row.with_rates = v23_with_rates;
  return row;
}();

}  // namespace offhook
