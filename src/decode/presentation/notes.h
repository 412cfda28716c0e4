// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "src/decode/call/call.h"

namespace offhook::decode {

/// Notes for a reader of a decoded call that follow from no single signal, in sentences.
std::vector<std::string> notes(const Call& call);

/// The results in a few lines: the beginning of text and page.
std::string summary(const Call& call);

}  // namespace offhook::decode
