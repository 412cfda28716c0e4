// SPDX-License-Identifier: MIT
#include "driver/base/printable.h"

#include <fmt/format.h>

#include <cstdint>

namespace offhook {

namespace {

/// @pre one whole character of UTF-8
std::uint32_t code_point(std::string_view c) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(c[i])); };
  if (c.size() == 1) return byte(0);
  std::uint32_t point = byte(0) & (0x7fu >> c.size());
  for (std::size_t i = 1; i < c.size(); ++i) point = point << 6 | (byte(i) & 0x3f);
  return point;
}

bool turns(std::uint32_t point) {
  return (point >= 0x202a && point <= 0x202e)     // embeddings and overrides of direction
         || (point >= 0x2066 && point <= 0x2069)  // isolates
         || point == 0x200e || point == 0x200f || point == 0x061c;
}

bool commands(std::uint32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0)  // C0, DEL, C1
         || turns(point) || point == 0x2028 || point == 0x2029;
}

/// Characters for which `is_bad` is true, and invalid UTF-8, as \xNN.
std::string escaped(std::string_view text, bool (*is_bad)(std::uint32_t)) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    const std::string_view c = text.substr(0, n == 0 ? 1 : n);
    if (n == 0 || is_bad(code_point(c))) {
      for (const char byte : c) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    } else {
      out += c;
    }
    text.remove_prefix(c.size());
  }
  return out;
}

}  // namespace

// The table of well-formed sequences: The Unicode Standard, 3.9, Table 3-7.
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return at(i) >= low && at(i) <= high;
  };
  if (text.empty()) return 0;
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool second = follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf);
    return second && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool second = follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

std::string printable(std::string_view text) {
  return escaped(text, commands);
}
std::string of_one_direction(std::string_view text) {
  return escaped(text, turns);
}

}  // namespace offhook
