// SPDX-License-Identifier: MIT
#pragma once

#include "src/program/command/program.h"

namespace offhook::command {

/// `offhook pool`: answering modems on the lines of a SIP account, an AudioSocket port or DAHDI channels.
void add_pool(App& app, Action& action);

}  // namespace offhook::command
