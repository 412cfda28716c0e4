// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace offhook {

/// A text as a field of CSV. docs/formats.md states the policy: in quotes where it needs them (RFC 4180); what is not
/// printable is escaped, so that a row is a line; a text that a spreadsheet would take for a formula (it begins with
/// = + - @) gets an apostrophe before it, unless all of it is a number.
std::string csv_field(std::string_view text);

/// A table with a first row of column names: each key of any row once, in the order in which they come; what is nested
/// in `a` under `b` is the column `a_b`. null, and what a row has not, is an empty cell; the items of an array are in
/// one cell, "; " between them.
/// @param rows  an array of objects; of none there is no table, and no first row
std::string csv_table(const nlohmann::ordered_json& rows);

}  // namespace offhook
