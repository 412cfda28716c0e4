// SPDX-License-Identifier: MIT
//
// What the modems of a recorded call told each other in V.8bis, field by field: for people and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "src/decode/phases/start_up.h"

namespace offhook::decode {

/// One line a field, in words; empty where the message has nothing of it.
struct V8bisFields {
  std::string identification;  ///< "V.8, transmit ACK(1)"; of V.92's QC2 and QCA2 what they ask for
  std::string standard;        ///< "data: V.42, V.42bis; analogue telephony: voice"
  std::string non_standard;    ///< "United States, K56flex (B5 00 94): 81 83 03 47 85"
  std::string malformed;       ///< "octet 6: expected the non-standard field"
};
V8bisFields v8bis_fields(const V8bisMessage& message);

/// The keys of the recordings' truth.json for all that it knows of a message, and its fields.
nlohmann::ordered_json v8bis_json(const V8bisMessage& message);
nlohmann::ordered_json v8bis_json(const V8bisSignal& signal);

}  // namespace offhook::decode
