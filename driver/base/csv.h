// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace offhook {

/// A text as a field of CSV. docs/formats.md states the policy. A field is quoted if necessary (RFC 4180). Unprintable
/// characters are escaped, so that every row is one line. A text that a spreadsheet would read as a formula (it begins
/// with = + - @) gets an apostrophe before it, unless all of it is a number.
std::string csv_field(std::string_view text);

/// A table whose first row has the column names: each key of any row once, in order of appearance. A member `b` of the
/// object `a` is the column `a_b`. null and absent values are an empty cell; the items of an array share one cell,
/// separated by semicolons.
/// @param rows  an array of objects; if it is empty, there is no table and no first row
std::string csv_table(const nlohmann::ordered_json& rows);

}  // namespace offhook
