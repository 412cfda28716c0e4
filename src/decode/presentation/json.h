// SPDX-License-Identifier: MIT
//
// The JSON of a decoded call: schema offhook.decode/1, documented key by key in docs/decode-json.md.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "src/decode/call/call.h"

namespace offhook::decode {

nlohmann::ordered_json json_of(const Call& call);

}  // namespace offhook::decode
