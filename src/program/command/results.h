// SPDX-License-Identifier: MIT
//
// Tables of the JSON and CSV output of commands, for `offhook keys`.
#pragma once

#include "driver/base/record.h"

namespace offhook::command {

extern const record::Table kMttf, kMttfCell, kMttfTasks, kMttfTask;

}  // namespace offhook::command
