// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace offhook {

/// Takes the lines of a text, one after the other.
struct LineReader {
  std::string_view rest;   ///< lines that were not taken
  std::size_t number = 0;  ///< of the line that was taken last, from 1
  /// @return the next line without its end (LF or CR LF); nothing after the last one
  std::optional<std::string_view> next() {
    if (rest.empty()) return std::nullopt;
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    number++;
    return line;
  }
};

}  // namespace offhook
