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

/// Columns of the terminal that `stream` writes to; 0: not a terminal, or the number is unknown.
std::size_t columns_of(std::FILE* stream);

/// Splits the columns from 1 on into groups. Each group fits next to column 0, with two characters between columns. A
/// column that is wider than the rest of a line is a separate group. @param widths of each column  @param columns of
/// the terminal; 0: no limit
std::vector<std::vector<std::size_t>> column_groups(const std::vector<std::size_t>& widths, std::size_t columns);

/// At most the first `most` characters; the last one is "…" if the text was cut. @param most 0: no limit
std::string cut(const std::string& text, std::size_t most);

/// Breaks longer lines at blanks. A continuation line is indented to the first word of its text. If a line begins with
/// two blanks and has a second column, such as an option's description, continuation lines are indented to that column.
/// A word is never broken. @param columns 0: no limit
std::string broken(std::string_view text, std::size_t columns);

}  // namespace offhook
