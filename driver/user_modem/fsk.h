// SPDX-License-Identifier: MIT
//
// Frequency shift keying in two channels, V.21, V.23 and Bell 103, as a pump. It adds the missing parts to spandsp's
// modulator and correlator. Bits are serial and no clock crosses the line. The receiver samples in the middle of each
// bit after an edge, so it receives start-stop characters, and other bits only by chance. There is no training.
//
//    caller  .. silent, until the answerer's mark has lasted 155 ms | mark 0.7 s | data
//    answer  silence | 2100 Hz (not Bell 103) | 75 ms | mark, until the caller's ... | mark 0.7 s | data
//
// Both receive from the moment that they have heard a mark (OH_PUMP_DATA), and take bits to send 0.7 s later (circuit
// 106): nothing is sent before the far end listens, at any delay. A filter keeps the own channel, which comes back as
// an echo, from the other. A lost carrier is read as mark. If it is lost for 2 s, the call ends; hang_up() uses this,
// because there is no other signal for the far end.
//
// Levels are measured in the far end's channel; 0 dBm0 is 3.14 dB below a full-scale sine of 16 bits.
#pragma once

#include "dsp/modulation/modulation.h"
#include "dsp/pump/pump_type.h"

namespace offhook::fsk {

struct Channel {
  int zero_hz, one_hz;  ///< frequency of a one, a multiple of 5 Hz
  int bit_rate;
};

/// The differences between these modulations.
struct Line {
  const char *name, *title;  ///< of the row
  oh_modulation id;
  Channel call, answer;  ///< which each role sends
  bool answer_tone;      ///< the answerer begins with V.25's 2100 Hz; otherwise its mark is the answer tone
};

size_t size(const oh_pump_config* config, const Line& line);
int init(void* self, const oh_pump_config* config, const Line& line);
void process(void* self, const void* rx, void* tx, size_t n);
void report_gap(void* self, size_t n);
void status(const void* self, oh_pump_status* status);
void hang_up(void* self);

/// Modulation::begin(): the answerer sends its mark, the caller listens for it.
void begin(void* self, bool after_v8, float far_dbm0);

/// The pump of a row.
template <const Line& kLine>
const oh_pump_type* type() {
  static constexpr oh_pump_type kType = {
      .format_count = 1,
      .name = kLine.name,
      .formats = &kLinear8000,
      .roles = kBothRoles,
      .fpu = kEveryOperation,
      .longest_step = 300,
      .size = [](const oh_pump_config* c) { return size(c, kLine); },
      .init = [](void* self, const oh_pump_config* c) { return init(self, c, kLine); },
      .process = process,
      .report_gap = report_gap,
      .status = status,
      .hang_up = hang_up,
      .release = [](void*) {},
      .advance = oh_pump_advance_each};
  return &kType;
}

/// The row itself.
/// @param carrier  of +MS  @param v8_bit  of v8::Modulation, or 0: V.8 has no bit for it
template <const Line& kLine>
constexpr Modulation row(const char* carrier, uint16_t v8_bit) {
  const int call = kLine.call.bit_rate, answer = kLine.answer.bit_rate;
  return {.id = kLine.id,
          .name = kLine.name,
          .title = kLine.title,
          .carrier = carrier,
          .v8 = {.modulations = v8_bit},
          .min_bit_rate = static_cast<uint32_t>(call < answer ? call : answer),
          .max_bit_rate = static_cast<uint32_t>(call > answer ? call : answer),
          .v42_window = 0,
          .alone = true,
          .mark_hz = kLine.answer.one_hz,
          .type = type<kLine>,
          .begin = begin};
}

}  // namespace offhook::fsk
