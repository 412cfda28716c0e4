// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "offhook/event_log.h"
#include "offhook/pump.h"

namespace offhook::traces {

/// The name of an event kind in exports, as in enum oh_event_kind: "service_begin". Empty for a kind unknown here.
constexpr std::string_view event_name(std::uint8_t kind) {
  switch (static_cast<oh_event_kind>(kind)) {
    case OH_EV_NONE:
      return "none";
    case OH_EV_RUN:
      return "run";
    case OH_EV_IDLE:
      return "idle";
    case OH_EV_FINISH:
      return "finish";
    case OH_EV_INTERRUPT:
      return "interrupt";
    case OH_EV_RX_OVERRUN:
      return "rx_overrun";
    case OH_EV_TX_UNDERRUN:
      return "tx_underrun";
    case OH_EV_CARD_RATE:
      return "card_rate";
    case OH_EV_ISR_ENTER:
      return "isr_enter";
    case OH_EV_ISR_EXIT:
      return "isr_exit";
    case OH_EV_SERVICE_REQUEST:
      return "service_request";
    case OH_EV_SERVICE_BEGIN:
      return "service_begin";
    case OH_EV_OUTPUT_READY:
      return "output_ready";
    case OH_EV_SERVICE_END:
      return "service_end";
    case OH_EV_FILL_IN:
      return "fill_in";
    case OH_EV_CALL_BEGIN:
      return "call_begin";
    case OH_EV_CALL_END:
      return "call_end";
    case OH_EV_PUMP_STATE:
      return "pump_state";
    case OH_EV_SYMBOL:
      return "symbol";
    case OH_EV_LINK_STATE:
      return "link_state";
    case OH_EV_LINK_RETRANSMIT:
      return "link_retransmit";
    case OH_EV_LINK_BAD_FRAME:
      return "link_bad_frame";
    case OH_EV_LINK_BYTES:
      return "link_bytes";
    case OH_EV_PUMP_RATES:
      return "pump_rates";
    case OH_EV_PUMP_INSTRUMENT:
      return "pump_instrument";
    case OH_EV_PUMP_TAP:
      return "pump_tap";
    case OH_EV_TIMER_CALLBACK:
      return "timer_callback";
    case OH_EV_PHASE:
      return "phase";
    case OH_EV_MARK:
      return "mark";
  }
  return {};
}

/// Of OH_EV_PUMP_INSTRUMENT's argument: its value in hundredths.
constexpr std::int32_t instrument_hundredths(std::uint32_t argument) {
  return static_cast<std::int32_t>(argument << 8) >> 8;
}
/// Of an instrument that is OH_INSTRUMENT_RETRAIN_CAUSE.
constexpr std::string_view retrain_cause_name(std::int32_t cause) {
  switch (cause) {
    case OH_RETRAIN_OWN:
      return "asked for";
    case OH_RETRAIN_FAR:
      return "the far end's tone";
    case OH_RETRAIN_LOST:
      return "signal lost";
    case OH_RETRAIN_TIMEOUT:
      return "time-out";
    default:
      return "unknown";
  }
}
/// Whether an event is a retrain, with its cause.
constexpr bool is_retrain(const oh_event& e) {
  return e.kind == OH_EV_PUMP_INSTRUMENT && e.argument >> 24 == OH_INSTRUMENT_RETRAIN_CAUSE;
}

/// One direction of OH_EV_PUMP_RATES, bit/s.
constexpr std::uint32_t logged_bit_rate(std::uint32_t half) {
  if ((half & 0x8000) != 0) return half & 0x7fff;
  return half >= 0x7f00 ? (half & 0xff) * 4000 / 3 : 100 * half;
}
/// And its name, with the unit of a hundredth.
constexpr std::string_view instrument_name(std::uint32_t argument) {
  switch (static_cast<oh_instrument>(argument >> 24)) {
    case OH_INSTRUMENT_SNR:
      return "SNR, 0.01 dB";
    case OH_INSTRUMENT_CLOCK:
      return "clock, 0.01 ppm";
    case OH_INSTRUMENT_CARRIER:
      return "carrier, 0.01 Hz";
    case OH_INSTRUMENT_ECHO_RETURN_LOSS:
      return "echo return loss, 0.01 dB";
    case OH_INSTRUMENT_PATH_METRIC:
      return "path metric, 0.01 dB";
    case OH_INSTRUMENT_RETRAIN_CAUSE:
      return "retrain cause";
  }
  return "instrument";
}

/// Whether an event's id is that of an entity (header.h), or of a driver and its card.
constexpr bool names_entity(std::uint8_t kind) {
  return kind == OH_EV_RUN || kind == OH_EV_FINISH || kind == OH_EV_TIMER_CALLBACK;
}
constexpr bool names_driver(std::uint8_t kind) {
  return kind >= OH_EV_INTERRUPT && kind <= OH_EV_CALL_END;
}

}  // namespace offhook::traces
