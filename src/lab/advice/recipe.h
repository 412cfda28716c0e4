// SPDX-License-Identifier: MIT
//
// The chosen context as lines to copy: commands, lines of a systemd unit, and calls that give a program this context on
// Linux.
#pragma once

#include <string>
#include <vector>

#include "src/lab/advice/advice.h"

namespace offhook::advice {

/// Lines for a terminal, a systemd unit and a C program. Empty if nothing was chosen, or the host is not Linux.
std::vector<std::string> recipe(const Advice& advice);

/// The order of precedence on this host, the most urgent first: interrupts, deferred work, threads of the load, and the
/// device in the chosen context.
std::vector<std::string> order_of_priorities(const Advice& advice);

}  // namespace offhook::advice
