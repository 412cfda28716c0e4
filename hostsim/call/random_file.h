// SPDX-License-Identifier: MIT
//
// The file that the far end sends if none is given.
#pragma once

#include <cstdint>
#include <vector>

#include "hostsim/call/scenario.h"

namespace offhook::hostsim {

/// [scenario.bytes] incompressible bytes, drawn from the scenario's seed.
std::vector<std::uint8_t> random_file(const Scenario& scenario);

}  // namespace offhook::hostsim
