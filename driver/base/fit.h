// SPDX-License-Identifier: MIT
//
// A terminal has so many columns: a table that is wider is told in several, each with the first column; a line of
// progress is cut, and prose is broken at blanks. What goes to a file or a pipe is as long as it is.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace offhook {

/// Characters, not bytes, of UTF-8.
std::size_t characters(const std::string& text);

/// Columns of the terminal that `stream` writes to; 0: it is none, or does not say.
std::size_t columns_of(std::FILE* stream);

/// Columns 1 and on, cut into groups that each fit beside column 0, two characters between columns. A column that does
/// not even fit alone is a group of its own. @param widths of each column  @param columns of the terminal; 0: no limit
std::vector<std::vector<std::size_t>> column_groups(const std::vector<std::size_t>& widths, std::size_t columns);

/// The first so many characters, the last of them "…" where something was cut. @param most 0: no limit
std::string cut(const std::string& text, std::size_t most);

/// Lines that are longer are broken at blanks. What goes on stands under the text that it goes on from: where a line
/// that begins with two blanks has a second column, such as an option's description, under that, else under its first
/// word. A word is never broken. @param columns 0: no limit
std::string broken(std::string_view text, std::size_t columns);

}  // namespace offhook
