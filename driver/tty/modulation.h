// SPDX-License-Identifier: MIT
//
// +MS and what became of it: which pump a call gets, and how a connection is named.
#pragma once

#include <string_view>

#include "driver/tty/at.h"
#include "src/program/config/pump.h"

namespace offhook::modem {

/// The pump of a call and what it may do. Rates in bit/s, 0: no limit.
struct ModemChoice {
  const config::ModemType* type;
  std::uint32_t modulations = 0;  ///< of enum oh_modulation; 0: all
  int min_rate = 0, max_rate = 0;
};

/// By +MS (V.250 6.4.1): a carrier with automode is the best that may be used, without it the only one. V.22bis alone
/// needs no V.8.
ModemChoice choose_modem(const AtSettings& settings);

/// What +MCR calls it: "V34", "V32B", "V22B", "V22".
std::string_view carrier_of(const oh_pump_status& pump);

}  // namespace offhook::modem
