// SPDX-License-Identifier: MIT
//
// The modems there are, and the names by which scenarios, commands and AT+MS know them.
#pragma once

#include <array>
#include <string_view>

#include "dsp/spandsp/automode.h"
#include "dsp/spandsp/v22bis.h"
#include "dsp/v32/pump.h"
#include "dsp/v34/control/pump.h"
#include "hostsim/call/scenario.h"

namespace offhook::config {

struct ModemType {
  hostsim::ModemKind kind;
  std::string_view name;     ///< of pump.modem and --pump
  std::string_view carrier;  ///< of +MS; empty: any
  oh_modulation modulation;
  const oh_pump_type* (*type)();
};

/// By kind: from the slowest to the fastest, and then what finds out.
inline constexpr std::array<ModemType, 4> kModemTypes = {
    {{hostsim::ModemKind::kV22bis, "v22bis", "V22B", OH_MODULATION_V22BIS, oh_v22bis_type},
     {hostsim::ModemKind::kV32bis, "v32bis", "V32B", OH_MODULATION_V32BIS, oh_v32bis_type},
     {hostsim::ModemKind::kV34, "v34", "V34", OH_MODULATION_V34, oh_v34_type},
     {hostsim::ModemKind::kAuto, "auto", "", OH_MODULATION_NONE, oh_automode_v22bis_type}}};

constexpr const ModemType& modem_type(hostsim::ModemKind kind) {
  return kModemTypes[static_cast<std::size_t>(kind)];
}

inline const oh_pump_type* pump_of(const hostsim::Scenario& s) {
  return modem_type(s.modem).type();
}
inline const oh_pump_type* far_pump_of(const hostsim::Scenario& s) {
  return modem_type(s.far_modem.value_or(s.modem)).type();
}

}  // namespace offhook::config
