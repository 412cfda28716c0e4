// SPDX-License-Identifier: MIT
#pragma once

#include "src/program/command/program.h"

namespace offhook::command {

/// `offhook trunk-test`: the effect of a telephone network on a modem's octets.
void add_trunk_test(App& app, Action& action);

}  // namespace offhook::command
