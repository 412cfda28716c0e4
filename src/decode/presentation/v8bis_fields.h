// SPDX-License-Identifier: MIT
//
// The information exchanged by the modems of a recorded call in V.8bis, field by field.
#pragma once

#include <string>
#include <vector>

#include "src/decode/start_up/v8bis_messages.h"

namespace offhook::decode {

/// Parameters by name, and parameters that have further parameters.
struct V8bisParameters {
  std::string name;  ///< empty: the whole field
  std::vector<std::string> parameters;
  std::vector<V8bisParameters> fields;
};
V8bisParameters v8bis_parameters(const v8bis::Message& message, v8bis::Field field);

/// Codes and octets in hexadecimal. Country and provider by spandsp's tables of T.35; empty if they do
/// not.
struct V8bisNonStandard {
  std::string country_code, country, provider_code, provider, octets;
};
V8bisNonStandard v8bis_non_standard(const v8bis::NonStandard& block);

/// One line per field, in words; empty if the message does not have it.
struct V8bisFields {
  std::string identification;  ///< "V.8, transmit ACK(1)"; of V.92's QC2 and QCA2 what they ask for
  std::string standard;        ///< "data: V.42, V.42bis; analogue telephony: voice"
  std::string non_standard;    ///< "United States, K56flex (B5 00 94): 81 83 03 47 85"
  std::string malformed;       ///< "octet 6: expected the non-standard field"
};
V8bisFields v8bis_fields(const V8bisMessage& message);

}  // namespace offhook::decode
