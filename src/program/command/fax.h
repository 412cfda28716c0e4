// SPDX-License-Identifier: MIT
#pragma once

#include "src/program/command/program.h"

namespace offhook::command {

/// `offhook fax send` and `offhook fax receive`.
void add_fax(App& app, Action& action);

}  // namespace offhook::command
