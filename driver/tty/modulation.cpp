// SPDX-License-Identifier: MIT
#include "driver/tty/modulation.h"

#include <algorithm>

namespace offhook::modem {

std::string names_of(Carriers carriers) {
  std::string names;
  for (const Modulation& m : carriers) {
    if (*m.carrier == '\0') continue;
    if (!names.empty()) names += ',';
    names += m.carrier;
  }
  return names;
}

CallConfig choose_modem(const AtSettings& settings, Carriers carriers) {
  // A pump has one limit for both directions: the tighter one.
  const auto most = std::minmax(settings.max_tx_rate, settings.max_rx_rate);
  CallConfig call{
      .pump = carriers.back().type(),
      .role = OH_PUMP_CALL,
      .min_bit_rate = static_cast<std::uint32_t>(std::max(settings.min_tx_rate, settings.min_rx_rate)),
      .max_bit_rate = static_cast<std::uint32_t>(most.first != 0 ? most.first : most.second),
      .window = carriers.back().v42_window,
  };
  std::uint32_t slower = 0;
  for (const Modulation& m : carriers) {
    if (!settings.modulation.empty() && m.carrier == settings.modulation) {
      if (settings.automode == 0 && m.alone && call.min_bit_rate <= m.min_bit_rate) {
        call.pump = m.type();
        call.window = m.v42_window;
      } else {
        call.modulations = m.id | (settings.automode != 0 ? slower : 0u);
      }
    }
    slower |= m.id;
  }
  return call;
}

std::string_view carrier_of(const oh_pump_status& pump, Carriers carriers) {
  return std::find_if(carriers.begin(), carriers.end(),
                      [&pump](const Modulation& m) { return m.id == pump.modulation; })
      ->carrier;
}

}  // namespace offhook::modem
