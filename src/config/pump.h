// SPDX-License-Identifier: MIT
//
// The modems there are, and the names by which scenarios, commands and AT+MS know them.
#pragma once

#include <array>
#include <string_view>

#include "dsp/spandsp/v22bis.h"
#include "dsp/v32/pump.h"
#include "dsp/v34/pump.h"
#include "hostsim/call/scenario.h"

namespace offhook::config {

struct ModemType {
  hostsim::ModemKind kind;
  std::string_view name;     ///< of pump.modem and --pump
  std::string_view carrier;  ///< of +MS
  const oh_pump_ops* (*ops)();
};

/// By kind; the fastest is the last.
inline constexpr std::array<ModemType, 3> kModemTypes = {
    {{hostsim::ModemKind::kV22bis, "v22bis", "V22B", oh_v22bis_ops},
     {hostsim::ModemKind::kV32bis, "v32bis", "V32B", oh_v32bis_ops},
     {hostsim::ModemKind::kV34, "v34", "V34", oh_v34_ops}}};

inline const oh_pump_ops* pump_of(const hostsim::Scenario& s) {
  return kModemTypes[static_cast<std::size_t>(s.modem)].ops();
}

}  // namespace offhook::config
