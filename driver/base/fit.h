// SPDX-License-Identifier: MIT
//
// Fits text to the columns of a terminal: a wider table is split into several, each with the first column; a line of
// progress is cut, and prose is broken at blanks. Output to a file or a pipe is not shortened.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace offhook {

/// Characters, not bytes, of UTF-8.
std::size_t characters(const std::string& text);

/// Columns of the terminal that `stream` writes to; 0: it is none, or the number is unknown.
std::size_t columns_of(std::FILE* stream);

/// Columns 1 and on, cut into groups that each fit next to column 0, two characters between columns. A column that is
/// wider than the rest of a line is a group of its own. @param widths of each column  @param columns of the terminal;
/// 0: no limit
std::vector<std::vector<std::size_t>> column_groups(const std::vector<std::size_t>& widths, std::size_t columns);

/// The first `most` characters, the last of them "…" if the text was cut. @param most 0: no limit
std::string cut(const std::string& text, std::size_t most);

/// Breaks longer lines at blanks. A continuation line is indented to the first word of its text. If a line that begins
/// with two blanks has a second column, such as an option's description, it is indented to that column.
/// A word is never broken. @param columns 0: no limit
std::string broken(std::string_view text, std::size_t columns);

}  // namespace offhook
