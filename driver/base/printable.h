// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace offhook {

/// A text that is safe to show on a terminal. Three kinds of characters become \xNN of their bytes: control characters
/// of ASCII and of Unicode (line ends included), changes of the direction of the following text, and invalid UTF-8.
/// Names, recordings and files may hold any of these.
std::string printable(std::string_view text);

/// A text that is safe to show on a page, where control characters have no effect: only changes of direction and
/// invalid UTF-8 become \xNN.
std::string of_one_direction(std::string_view text);

/// The length of the first character of a text, 1 to 4 bytes; 0: the text does not begin with UTF-8.
std::size_t utf8_length(std::string_view text);

}  // namespace offhook
