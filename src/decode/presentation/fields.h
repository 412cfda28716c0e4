// SPDX-License-Identifier: MIT
//
// What the modems of a recorded call told each other and what probing showed, field by field, as tables for people: one
// source for the text and for the page. to_json() has the same fields under the keys of truth.json.
#pragma once

#include <string>
#include <vector>

#include "src/decode/call/call.h"

namespace offhook::decode {

struct FieldTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< each of columns.size() cells
  std::string note;                            ///< fields besides; may be empty
};

/// Messages of V.8bis, menus of V.8, INFO0, INFO1, probing, MP, CP: those that were heard, in this order. Of a menu or
/// INFO that was repeated the last one; every MP; every CP but the CP' that only acknowledges.
std::vector<FieldTable> field_tables(const Call& call);

/// "V.34", "V.32bis/V.32", ...: the modulations of a menu, the preferred one first.
std::vector<std::string> modulation_names(const v8::Menu& menu);

/// "data", "transmit fax", ...
const char* call_function_name(const v8::Menu& menu);

/// "call modem", "answer modem", or "channel 0" where that is not known or both are in one channel.
std::string speaker(const Call& call, int channel);

}  // namespace offhook::decode
