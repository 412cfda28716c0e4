// SPDX-License-Identifier: MIT
#include "driver/tty/modulation.h"

#include <algorithm>

namespace offhook::modem {

ModemChoice choose_modem(const AtSettings& settings) {
  ModemChoice choice{.type = &config::modem_type(hostsim::ModemKind::kAuto),
                     .min_rate = settings.min_rate,
                     .max_rate = settings.max_rate};
  for (const config::ModemType& m : config::kModemTypes) {
    if (settings.modulation.empty() || m.carrier != settings.modulation) continue;
    if (!settings.automode && m.modulation == OH_MODULATION_V22BIS && settings.min_rate <= 1200) {
      choice.type = &m;
    } else if (settings.automode) {
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
