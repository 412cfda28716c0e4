// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace offhook {

/// The text as a field of CSV: in quotes where it needs them (RFC 4180).
std::string csv_field(std::string_view text);

}  // namespace offhook
