// SPDX-License-Identifier: MIT
#include "driver/base/fit.h"

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

namespace {

/// The column at which a continuation line begins.
std::size_t hanging(std::string_view line, std::size_t columns) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first != 2) return std::min(first, columns / 2);
  const std::size_t gap = line.find("  ", first);
  const std::size_t second = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  return second != std::string_view::npos && second <= columns / 2 ? second : first;
}

/// Counts bytes as characters: a line with characters other than ASCII ends a little early.
void break_line(std::string& out, std::string_view line, std::size_t columns) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string_view::npos) return;
  const std::size_t hang = hanging(line, columns);
  std::size_t indent = first;
  out.append(indent, ' ');
  line.remove_prefix(first);
  while (indent + line.size() > columns) {
    const std::size_t room = columns > indent ? columns - indent : 0;
    std::size_t cut = line.rfind(' ', room);
    // Do not break within the first column, or behind a word that is itself too long.
    const std::size_t least = std::max<std::size_t>(hang > indent ? hang - indent : 0, 1);
    if (cut == std::string_view::npos || cut < least) cut = line.find(' ', std::max(room, least));
    if (cut == std::string_view::npos) break;
    out.append(line.substr(0, line.find_last_not_of(' ', cut) + 1));
    line.remove_prefix(std::min(line.find_first_not_of(' ', cut), line.size()));
    if (line.empty()) return;
    indent = hang;
    (out += '\n').append(indent, ' ');
  }
  out.append(line);
}

}  // namespace

std::string broken(std::string_view text, std::size_t columns) {
  if (columns == 0) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    break_line(out, text.substr(0, end), columns);
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace offhook
