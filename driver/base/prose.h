// SPDX-License-Identifier: MIT
//
// Sentences on a terminal, broken at blanks at its width. Output to a file or a pipe has whole lines.
#pragma once

#include <string>
#include <string_view>

#include "driver/base/terminal.h"

namespace offhook {

/// A line of its own behind `indent` blanks.
Lines prose(std::string_view text, std::size_t indent = 0);

/// The text of --help. Commands of its examples are not broken, so that they can be copied.
Lines help_lines(std::string_view text);

}  // namespace offhook
