// SPDX-License-Identifier: MIT
//
// Names for text, page and JSON.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/decode/call/call.h"

namespace offhook::decode {

/// "V.34", "V.32bis/V.32", ...: the modulations of a menu, the preferred one first.
std::vector<std::string> modulation_names(const v8::Menu& menu);

/// "data", "transmit fax", ...
const char* call_function_name(const v8::Menu& menu);

/// "call modem", "answer modem", or "channel 0" if that is not known or both are in one channel.
std::string speaker(const Call& call, int channel);

/// Of INFO0: "internal", "from its receiver", ...
const char* clock_name(const v34::Info0& info);

/// "CPt", "CP" or "CP'".
const char* cp_name(const v90::Cp& cp);

/// "phase 3", "phase 4", "rate renegotiation" or "cleardown". @param data  whether data mode came before
const char* segment_name(const Segment& segment, bool data);

/// "retrain", "rate renegotiation" or "cleardown".
const char* change_name(const Change& change);

/// In bit/s: bit k of a mask of MP is 2400 (k + 1).
std::vector<int> bit_rates(std::uint32_t mask);
/// Those of a rate signal of V.32bis, each once.
std::vector<int> bit_rates(const v32::RateSignal& signal);
/// The upstream rates of CP.
std::vector<int> upstream_bit_rates(const v90::Cp& cp);

/// "B5 00 94".
std::string octet_string(std::span<const std::uint8_t> octets);

/// "analogue, UQTS 78, LAPM".
std::string describe(const v90::QuickConnect& qc);
/// "MHack", as in Table 32 of V.92; and the meaning of its information bits: "hold for 30 s", or nothing.
const char* name(v90::HoldSignal signal);
std::string describe(const v90::HoldMessage& message);
/// The content of a link: "17 LAPM frames, 0 bad, 1024 octets".
std::string describe(const Link& link);
/// "by the call modem, 9600 bit/s then".
std::string describe(const Change& change);

}  // namespace offhook::decode
