// SPDX-License-Identifier: MIT
//
// What a scenario says of its modems, for connections with real pumps.
#pragma once

#include <algorithm>

#include "driver/modem/modem.h"
#include "dsp/pump/pump_type.h"
#include "hostsim/call/scenario.h"
#include "offhook/modem_card.h"

namespace offhook::hostsim {

inline modem::ErrorControl error_control(const LinkScenario& link) {
  const auto codewords = static_cast<std::uint16_t>(link.codewords);
  // V.44 I.2 and Table 10: the longest strings, and the history that is the default for so many codewords.
  const oh_v44_parameters v44{
      .codewords = codewords,
      .history = static_cast<std::uint16_t>(std::min<std::uint32_t>(3 * link.codewords, 0xFFFF)),
      .max_string = 255};
  return {.mode = static_cast<modem::ErrorControl::Mode>(link.error_control),
          .compression = static_cast<std::uint8_t>(link.compression == Compression::kV42bis ? 3 : 0),
          .codewords = codewords,
          .max_string = static_cast<std::uint8_t>(link.max_string),
          .v44 = static_cast<std::uint8_t>(link.compression == Compression::kV44 ? 3 : 0),
          .v44_tx = v44,
          .v44_rx = v44};
}

/// The pump under test, and the one at the far end.
inline const oh_pump_type* near_type(const Scenario& s) {
  return modulation_of(s.modem).type();
}
inline const oh_pump_type* far_type(const Scenario& s) {
  return modulation_of(s.far_modem.value_or(s.modem)).type();
}

/// The samples of a modem of this type on a digital trunk: at its digital end the network's octets, at the other those
/// of a card of V.90. Linear ones at 8000 Hz where the pump does not take them.
inline oh_pump_format trunk_format(const Scenario& s, const oh_pump_type& type, bool digital) {
  const oh_pump_format octets = s.trunk.law == "a-law" ? kALaw8000 : kMuLaw8000;
  const oh_pump_format wanted = digital ? octets : kLinear16000To8000;
  return takes(type, wanted) ? wanted : kLinear8000;
}
inline oh_pump_format near_format(const Scenario& s) {
  return s.line_kind == LineKind::kDigitalTrunk ? trunk_format(s, *near_type(s), s.near_is_digital) : kLinear8000;
}
inline oh_pump_format far_format(const Scenario& s) {
  return s.line_kind == LineKind::kDigitalTrunk ? trunk_format(s, *far_type(s), !s.near_is_digital) : kLinear8000;
}

/// What the near end's card has for samples of this format.
inline oh_streams card_streams(const oh_pump_format& format) {
  oh_streams streams = oh_modem_streams(format.tx.rate_hz);
  streams.rx.encoding = format.rx.encoding;
  streams.tx.encoding = format.tx.encoding;
  streams.rx.rate_hz = format.rx.rate_hz;
  streams.rx.ring_samples *= format.rx.rate_hz / format.tx.rate_hz;
  return streams;
}

/// The modem under test.
inline modem::Modem::Config near_modem(const Scenario& scenario, const oh_pump_type* pump, oh_event_log* log,
                                       std::function<std::uint64_t()> now_ns) {
  return {.pump = pump,
          .role = scenario.role,
          .id = 0,
          .log = log,
          .now_ns = std::move(now_ns),
          .log_symbols = true,
          .io_delay_samples = scenario.transmit_lead_samples + scenario.device_delay_samples,
          .modulations = scenario.modulations,
          .window = modulation_of(scenario.modem).v42_window,
          .error_control = error_control(scenario.link),
          .format = near_format(scenario),
          .hold_timeout = scenario.hold.granted()};
}

}  // namespace offhook::hostsim
