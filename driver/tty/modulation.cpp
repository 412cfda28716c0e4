// SPDX-License-Identifier: MIT
#include "driver/tty/modulation.h"

#include <algorithm>

namespace offhook::modem {

ModemChoice choose_modem(const AtSettings& settings) {
  // A pump has one limit for both directions: the tighter one.
  const auto most = std::minmax(settings.max_tx_rate, settings.max_rx_rate);
  ModemChoice choice{.type = &config::modem_type(hostsim::ModemKind::kAuto),
                     .min_rate = std::max(settings.min_tx_rate, settings.min_rx_rate),
                     .max_rate = most.first != 0 ? most.first : most.second};
  for (const config::ModemType& m : config::kModemTypes) {
    if (settings.modulation.empty() || m.carrier != settings.modulation) continue;
    if (settings.automode == 0 && m.modulation == OH_MODULATION_V22BIS && choice.min_rate <= 1200) {
      choice.type = &m;
    } else if (settings.automode != 0) {
      choice.modulations = 2 * m.modulation - 1;  // and all that are slower
    } else {
      choice.modulations = m.modulation;
    }
  }
  return choice;
}

std::string_view carrier_of(const oh_pump_status& pump) {
  if (pump.modulation == OH_MODULATION_V22BIS && pump.rx_bit_rate <= 1200) return "V22";
  const auto type = std::find_if(config::kModemTypes.begin(), config::kModemTypes.end(),
                                 [&pump](const config::ModemType& m) { return m.modulation == pump.modulation; });
  return type->carrier;
}

}  // namespace offhook::modem
