// SPDX-License-Identifier: MIT
//
// What strikes a reader of a decoded call, in sentences, and how far it was decoded; in truth.json's words.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/decode/call/call.h"

namespace offhook::decode {

std::vector<std::string> notes(const Call& call);

/// "V.8+INFO0/1+Phase 3/4+MP both": the phases that were read.
std::string depth(const Call& call);

/// The two data rates, answer to call and call to answer, that a file name such as modem-28800-33600.wav ends on.
std::optional<std::pair<int, int>> name_rates(const std::string& name);

}  // namespace offhook::decode
