// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace offhook {

/// The text as a terminal may show it. Three kinds of characters become \xNN of their bytes: control characters of
/// ASCII and of Unicode (line ends included), changes of the direction of the following text, and invalid UTF-8.
/// Names, recordings and files may hold any of these.
std::string printable(std::string_view text);

/// The same for a page, on which control characters have no effect: only changes of direction and invalid UTF-8 become
/// \xNN.
std::string of_one_direction(std::string_view text);

/// The length of the character that begins a text, 1 to 4 bytes; 0: it begins with no UTF-8.
std::size_t utf8_length(std::string_view text);

}  // namespace offhook
