// SPDX-License-Identifier: MIT
//
// What a scenario says of its modems, for connections with real pumps.
#pragma once

#include "driver/modem/modem.h"
#include "hostsim/call/scenario.h"

namespace offhook::hostsim {

inline modem::ErrorControl error_control(const LinkScenario& link) {
  return {.mode = static_cast<modem::ErrorControl::Mode>(link.error_control),
          .compression = static_cast<std::uint8_t>(link.compression == Compression::kV42bis ? 3 : 0),
          .codewords = static_cast<std::uint16_t>(link.codewords),
          .max_string = static_cast<std::uint8_t>(link.max_string)};
}

/// The pump under test, and the one at the far end.
inline const oh_pump_type* near_type(const Scenario& s) {
  return modulation_of(s.modem).type();
}
inline const oh_pump_type* far_type(const Scenario& s) {
  return modulation_of(s.far_modem.value_or(s.modem)).type();
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
          .io_delay_samples = scenario.transmit_lead_samples,
          .modulations = scenario.modulations,
          .window = modulation_of(scenario.modem).v42_window,
          .error_control = error_control(scenario.link)};
}

}  // namespace offhook::hostsim
