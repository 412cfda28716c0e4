// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "offhook/event_log.h"
#include "offhook/pump.h"

namespace offhook::traces {

/// Names by event kind, as in enum oh_event_kind; empty for unused numbers.
inline constexpr auto kEventNames = [] {
  std::array<std::string_view, 256> names{};
  names[OH_EV_NONE] = "none";
  names[OH_EV_RUN] = "run";
  names[OH_EV_IDLE] = "idle";
  names[OH_EV_FINISH] = "finish";
  names[OH_EV_INTERRUPT] = "interrupt";
  names[OH_EV_RX_OVERRUN] = "rx_overrun";
  names[OH_EV_TX_UNDERRUN] = "tx_underrun";
  names[OH_EV_CARD_RATE] = "card_rate";
  names[OH_EV_ISR_ENTER] = "isr_enter";
  names[OH_EV_ISR_EXIT] = "isr_exit";
  names[OH_EV_SERVICE_REQUEST] = "service_request";
  names[OH_EV_SERVICE_BEGIN] = "service_begin";
  names[OH_EV_OUTPUT_READY] = "output_ready";
  names[OH_EV_SERVICE_END] = "service_end";
  names[OH_EV_FILL_IN] = "report_gap";
  names[OH_EV_SERVICE_RUN_BEGIN] = "service_run_begin";
  names[OH_EV_SERVICE_RUN_END] = "service_run_end";
  names[OH_EV_PUMP_STATE] = "pump_state";
  names[OH_EV_SYMBOL] = "symbol";
  names[OH_EV_LINK_STATE] = "link_state";
  names[OH_EV_LINK_RETRANSMIT] = "link_retransmit";
  names[OH_EV_LINK_BAD_FRAME] = "link_bad_frame";
  names[OH_EV_LINK_BYTES] = "link_bytes";
  names[OH_EV_PUMP_RATES] = "pump_rates";
  names[OH_EV_PUMP_INSTRUMENT] = "pump_instrument";
  names[OH_EV_PUMP_TAP] = "pump_tap";
  names[OH_EV_PUMP_HOLD] = "pump_hold";
  names[OH_EV_PUMP_SEQUENCE] = "pump_sequence";
  names[OH_EV_CALL_END] = "call_end";
  names[OH_EV_TIMER_CALLBACK] = "timer_callback";
  names[OH_EV_PHASE] = "phase";
  names[OH_EV_MARK] = "mark";
  return names;
}();
/// The name of an event kind in exports: "service_begin". Empty for an unknown kind.
constexpr std::string_view event_name(std::uint8_t kind) {
  return kEventNames[kind];
}

/// Value of OH_EV_PUMP_INSTRUMENT's argument, in hundredths.
constexpr std::int32_t instrument_hundredths(std::uint32_t argument) {
  return static_cast<std::int32_t>(argument << 8) >> 8;
}
/// Cause of an instrument with the value OH_INSTRUMENT_RETRAIN_CAUSE.
constexpr std::string_view retrain_cause_name(std::int32_t cause) {
  constexpr std::string_view kNames[] = {"unknown", "asked for", "the far end's tone", "signal lost", "time-out"};
  return kNames[cause > 0 && cause <= OH_RETRAIN_TIMEOUT ? cause : 0];
}
/// Whether an event is a retrain, with its cause.
constexpr bool is_retrain(const oh_event& e) {
  return e.kind == OH_EV_PUMP_INSTRUMENT && e.argument >> 24 == OH_INSTRUMENT_RETRAIN_CAUSE;
}

/// And its name, with the unit of its hundredths.
constexpr std::string_view instrument_name(std::uint32_t argument) {
  constexpr std::string_view kNames[] = {"SNR, 0.01 dB",
                                         "clock, 0.01 ppm",
                                         "carrier, 0.01 Hz",
                                         "echo return loss, 0.01 dB",
                                         "path metric, 0.01 dB",
                                         "retrain cause",
                                         "round trip, 0.01 ms",
                                         "symbol rate sent, 0.01 baud",
                                         "symbol rate received, 0.01 baud",
                                         "start-up",
                                         "slips, 0.01",
                                         "instrument"};  // as enum oh_instrument; the last: unknown here
  return kNames[std::min<std::uint32_t>(argument >> 24, OH_INSTRUMENT_SLIPS + 1)];
}

/// Whether an event's id is that of an entity (header.h), or of a driver and its card.
constexpr bool names_entity(std::uint8_t kind) {
  return kind == OH_EV_RUN || kind == OH_EV_FINISH || kind == OH_EV_TIMER_CALLBACK;
}
constexpr bool names_driver(std::uint8_t kind) {
  return kind >= OH_EV_INTERRUPT && kind <= OH_EV_SERVICE_RUN_END;
}

}  // namespace offhook::traces
