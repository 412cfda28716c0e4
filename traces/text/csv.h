// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace offhook {

/// A text as a field of CSV. docs/formats.md states the policy: in quotes where it needs them (RFC 4180); what is not
/// printable is escaped, so that a row is a line; a text that a spreadsheet would take for a formula (it begins with
/// = + - @) gets an apostrophe before it, unless all of it is a number.
std::string csv_field(std::string_view text);

}  // namespace offhook
