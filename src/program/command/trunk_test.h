// SPDX-License-Identifier: MIT
#pragma once

#include "src/program/command/program.h"

namespace offhook::command {

/// `offhook trunk-test`: what a telephone network does to a modem's octets.
void add_trunk_test(App& app, Action& action);

}  // namespace offhook::command
