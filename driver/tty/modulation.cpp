// SPDX-License-Identifier: MIT
#include "driver/tty/modulation.h"

#include <algorithm>

namespace offhook::modem {

std::string names_of(Carriers carriers) {
  std::string names;
  for (const Carrier& c : carriers) {
    if (!names.empty() && !c.name.empty()) names += ',';
    names += c.name;
  }
  return names;
}

CallConfig choose_modem(const AtSettings& settings, Carriers carriers) {
  // A pump has one limit for both directions: the tighter one.
  const auto most = std::minmax(settings.max_tx_rate, settings.max_rx_rate);
  CallConfig call{
      .pump = carriers.back().pump,
      .role = OH_PUMP_CALL,
      .min_bit_rate = static_cast<std::uint32_t>(std::max(settings.min_tx_rate, settings.min_rx_rate)),
      .max_bit_rate = static_cast<std::uint32_t>(most.first != 0 ? most.first : most.second),
      .window = carriers.back().window,
  };
  for (const Carrier& c : carriers) {
    if (settings.modulation.empty() || c.name != settings.modulation) continue;
    if (settings.automode == 0 && c.modulation == OH_MODULATION_V22BIS && call.min_bit_rate <= 1200) {
      call.pump = c.pump;
      call.window = c.window;
    } else if (settings.automode != 0) {
      call.modulations = 2 * c.modulation - 1;  // and all that are slower
    } else {
      call.modulations = c.modulation;
    }
  }
  return call;
}

std::string_view carrier_of(const oh_pump_status& pump, Carriers carriers) {
  if (pump.modulation == OH_MODULATION_V22BIS && pump.rx_bit_rate <= 1200) return "V22";
  return std::find_if(carriers.begin(), carriers.end(),
                      [&pump](const Carrier& c) { return c.modulation == pump.modulation; })
      ->name;
}

}  // namespace offhook::modem
