// SPDX-License-Identifier: MIT
//
// Many calls at a glance: one row per call, as CSV and as a page that links to the page of each call.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "offhook/decode.h"

namespace offhook::decode {

/// One row: recording, call, start_s, duration_s, technology, retrains, rate_renegotiations, cleardowns, for each of
/// two directions name, bit_rate, data, good_frames and bad_frames, then signals, evidence, page and error. All rows
/// have the same keys.
/// @param recording  path of the file as the user gave it  @param page  of the call, or empty
nlohmann::ordered_json table_row(const Call& call, std::string_view recording, std::string_view page);

/// The row of a recording that failed to decode.
nlohmann::ordered_json table_row_of_error(std::string_view recording, std::string_view error);

/// Self-contained HTML: the rows as a table. @param rows  array of table_row()
std::string index_page(const nlohmann::ordered_json& rows);

}  // namespace offhook::decode
