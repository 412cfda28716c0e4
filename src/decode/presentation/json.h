// SPDX-License-Identifier: MIT
//
// The JSON of a decoded call: schema offhook.decode/1. Its tables describe each key once: json.cpp, json_start_up.cpp
// and json_training.cpp. docs/decode-json.md is made from them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "driver/base/record.h"
#include "src/decode/call/call.h"

namespace offhook::decode {

extern const record::Table kDocument;
nlohmann::ordered_json json_of(const Call& call);

}  // namespace offhook::decode
