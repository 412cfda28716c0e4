// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace offhook::config {

/// The lines of a text, one after the other.
struct Lines {
  std::string_view rest;
  std::size_t number = 0;  ///< of the last line, from 1
  /// Without its end (LF or CR LF); nothing after the last line.
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

}  // namespace offhook::config
