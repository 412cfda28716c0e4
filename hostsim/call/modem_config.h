// SPDX-License-Identifier: MIT
//
// Settings of a scenario's modems, for connections with real pumps.
#pragma once

#include <algorithm>

#include "driver/user_modem/modem.h"
#include "dsp/pump/pump_type.h"
#include "hostsim/call/scenario.h"
#include "offhook/modem_card.h"

namespace offhook::hostsim {

/// The link of a modem of this kind.
inline oh_link_config link_of(const Scenario& s, const Modulation& modulation) {
  oh_link_config link = s.link;
  link.window = modulation.v42_window;
  // V.44 I.2 and Table 10: the longest strings, and the default history for this number of codewords.
  link.v44_tx =
      link.v44_rx = {.codewords = link.codewords, .history = std::min(3 * link.codewords, 0xFFFFu), .max_string = 255};
  return link;
}

/// The pump of a modem.
inline const oh_pump_type* type_of(const Scenario& s, oh_modulation modem) {
  return s.pcm_upstream && modem == OH_MODULATION_V90 ? oh_v92_type() : modulation_of(modem).type();
}
/// The pump under test and the pump at the far end.
inline const oh_pump_type* near_type(const Scenario& s) {
  return type_of(s, s.modem);
}
inline const oh_pump_type* far_type(const Scenario& s) {
  return type_of(s, s.far_modem.value_or(s.modem));
}

/// The samples of a modem of this type on a digital trunk: the network's octets at its digital end, those of a V.90
/// card at the other end. Linear samples at 8000 Hz if the pump does not accept them.
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

/// Samples of the near end's card in this format.
inline oh_streams card_streams(const oh_pump_format& format) {
  oh_streams streams = oh_modem_streams(format.tx.rate_hz);
  streams.rx.encoding = format.rx.encoding;
  streams.tx.encoding = format.tx.encoding;
  streams.rx.rate_hz = format.rx.rate_hz;
  streams.rx.ring_samples *= format.rx.rate_hz / format.tx.rate_hz;
  return streams;
}

/// The modem under test, without its event log.
inline modem::Modem::Config near_modem(const Scenario& scenario, const oh_pump_type* pump) {
  return {.pump = pump,
          .role = scenario.role,
          .format = near_format(scenario),
          .link = link_of(scenario, modulation_of(scenario.modem)),
          .modulations = scenario.modulations,
          .io_delay_samples = scenario.transmit_lead_samples + scenario.device_delay_samples,
          .guard_tone_hz = scenario.guard_tone_hz,
          .answer_delay_ms = scenario.answer_delay_ms,
          .hold_timeout = scenario.hold.granted()};
}

/// The modem at the far end, likewise.
inline modem::Modem::Config far_modem(const Scenario& scenario, const oh_pump_type* pump) {
  oh_link_config link = link_of(scenario, modulation_of(scenario.far_modem.value_or(scenario.modem)));
  if (scenario.far_protocols != 0) link.protocols = scenario.far_protocols;
  return {.pump = pump,
          .role = scenario.role == OH_PUMP_CALL ? OH_PUMP_ANSWER : OH_PUMP_CALL,
          .format = far_format(scenario),
          .link = link,
          .modulations = scenario.far_modulations,
          .guard_tone_hz = scenario.guard_tone_hz,
          .answer_delay_ms = scenario.answer_delay_ms,
          .hold_timeout = scenario.hold.granted()};
}

/// As above, with its events in a log under `id`. For the near end (0), also with the pump's observations. @param
/// connection  has now(), ns
template <class Connection>
modem::Modem::Config logged(modem::Modem::Config config, oh_event_log* log, std::uint16_t id, Connection* connection) {
  config.log_symbols = id == 0;
  config.log = log;
  config.id = id;
  config.now_ns = [](void* self) { return static_cast<const Connection*>(self)->now(); };
  config.clock = connection;
  return config;
}

}  // namespace offhook::hostsim
