// SPDX-License-Identifier: MIT
//
// A context as tables and pages name it: the grammar counts a reservation in the host's ticks, people think in ms.
#pragma once

#include <string>

#include "driver/context/context_spec.h"

namespace offhook::config {

/// "RES 2/8 strict (1.953/7.812 ms)" for a reservation in ticks; other contexts as in the grammar.
/// @param tick_hz  of the host
std::string context_in_full(const ContextSpec& context, double tick_hz);

}  // namespace offhook::config
