// SPDX-License-Identifier: MIT
#pragma once

#include "src/decode/call/call.h"

namespace offhook::decode {

/// Phases 3 and 4 of both directions after each INFO1a.
std::vector<Training> find_trainings(const Recording& recording, const StartUp& start_up);

}  // namespace offhook::decode
