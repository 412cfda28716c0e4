// SPDX-License-Identifier: MIT
#include "src/program/output/fit.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace offhook {
namespace {

bool begins_character(char c) {
  return (c & 0xc0) != 0x80;
}

}  // namespace

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::size_t columns_of(std::FILE* stream) {
  winsize size{};
  const int descriptor = fileno(stream);
  if (isatty(descriptor) != 1 || ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::vector<std::vector<std::size_t>> column_groups(const std::vector<std::size_t>& widths, std::size_t columns) {
  std::vector<std::vector<std::size_t>> groups(1);
  if (widths.empty()) return groups;
  std::size_t used = widths[0];
  groups.back().push_back(0);
  for (std::size_t c = 1; c < widths.size(); ++c) {
    if (columns > 0 && groups.back().size() > 1 && used + 2 + widths[c] > columns) {
      groups.push_back({0});
      used = widths[0];
    }
    groups.back().push_back(c);
    used += 2 + widths[c];
  }
  return groups;
}

std::string cut(const std::string& text, std::size_t most) {
  if (most == 0 || characters(text) <= most) return text;
  std::size_t kept = 0, at = 0;
  for (; at < text.size(); ++at) {
    if (begins_character(text[at]) && ++kept == most) break;
  }
  return text.substr(0, at) + "…";
}

}  // namespace offhook
