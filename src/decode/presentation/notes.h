// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "src/decode/call/call.h"

namespace offhook::decode {

/// What a reader of a decoded call should know and no single signal says, in sentences.
std::vector<std::string> notes(const Call& call);

/// What was found, in a few lines: how text and page begin.
std::string summary(const Call& call);

}  // namespace offhook::decode
