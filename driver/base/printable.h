// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace offhook {

/// The text as a terminal may show it: what would command the terminal (control characters of ASCII and of Unicode,
/// line ends among them), turn the direction of the text that follows, or is no UTF-8, becomes \xNN of its bytes.
/// Names, recordings and files may hold any of these.
std::string printable(std::string_view text);

/// The same for a page, which control characters do not command: only what turns the direction is \xNN, and what is no
/// UTF-8.
std::string of_one_direction(std::string_view text);

/// The length of the character that begins a text, 1 to 4 bytes; 0: it begins with no UTF-8.
std::size_t utf8_length(std::string_view text);

}  // namespace offhook
