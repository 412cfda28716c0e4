// SPDX-License-Identifier: MIT
//
// The pump that a scenario names.
#pragma once

#include "dsp/spandsp/v22bis.h"
#include "dsp/v34/pump.h"
#include "hostsim/call/scenario.h"

namespace offhook::config {

inline const oh_pump_ops* pump_of(const hostsim::Scenario& s) {
  return s.modem == hostsim::ModemKind::kV34 ? oh_v34_ops() : oh_v22bis_ops();
}

}  // namespace offhook::config
