// SPDX-License-Identifier: MIT
//
// Tables of what commands write as JSON and CSV, for `offhook keys`.
#pragma once

#include "driver/base/record.h"

namespace offhook::command {

extern const record::Table kMttf, kMttfCell, kMttfTasks, kMttfTask;

}  // namespace offhook::command
