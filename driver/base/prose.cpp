// SPDX-License-Identifier: MIT
#include "driver/base/prose.h"

#include <algorithm>

#include "driver/base/fit.h"

namespace offhook {

Lines prose(std::string_view text, std::size_t indent) {
  return Lines::as_they_are(broken(std::string(indent, ' ') + printable(text), columns_of(stdout)) + "\n");
}

Lines help_lines(std::string_view text) {
  const std::size_t columns = columns_of(stdout);
  std::string out;
  bool examples = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (!line.starts_with(' '))
      examples = line.starts_with("Examples:") || line.starts_with("Recording (") || line.starts_with("A grid file:");
    out += examples ? std::string(line) : broken(line, columns);
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return Lines(out);
}

}  // namespace offhook
