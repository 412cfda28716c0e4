// SPDX-License-Identifier: MIT
//
// Words in the lines of a text protocol: SIP, SDP, HTTP.
#pragma once

#include <string_view>

namespace offhook {

/// Removes the text up to and including `end`. @return the text before `end`
std::string_view take_until(std::string_view& text, char end);
/// Without these characters at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n");
/// Equal except for the case of ASCII letters.
bool same_word(std::string_view a, std::string_view b);

}  // namespace offhook
