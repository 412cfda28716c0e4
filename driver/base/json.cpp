// SPDX-License-Identifier: MIT
#include "driver/base/json.h"

#include <fmt/format.h>

#include <array>

namespace offhook {

namespace {

[[noreturn]] void refuse_json(const std::string& why) {
  throw nlohmann::json::other_error::create(501, why, nullptr);
}

}  // namespace

void check_json(std::string_view text) {
  std::array<std::size_t, kDeepestJson + 1> members{};  // by depth: keys of the object or array that is open there
  std::size_t depth = 0, values = 1;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson)
        refuse_json(fmt::format("nested deeper than {} levels, the limit of every Offhook file", kDeepestJson));
      members[depth] = 0;
      ++values;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    } else if (c == ',') {
      ++values;
    } else if (c == ':' && ++members[depth] > kMostJsonMembers) {
      refuse_json(
          fmt::format("an object with more than {} members, the limit of every Offhook file", kMostJsonMembers));
    }
    if (values > kMostJsonValues)
      refuse_json(fmt::format("more than {} values, the limit of every Offhook file", kMostJsonValues));
  }
  ::operator delete(::operator new(values* kJsonValueBytes + 2 * text.size()));
}

std::string escape_in_json(std::string text) {
  // Both occur only in strings, and the dump does not change them: DEL, and C1 as C2 80 to C2 9F.
  if (text.find_first_of("\x7f\xc2") == std::string::npos) return text;
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
    if (c == 0x7f) {
      out += "\\u007f";
    } else if (c == 0xc2 && next >= 0x80 && next <= 0x9f) {
      out += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string_view in_words(const nlohmann::json::exception& e) {
  const std::string_view text = e.what();
  const std::size_t end = text.find("] ");  // "[json.exception.type_error.302] type must be ..."
  return text.starts_with("[json.") && end != text.npos ? text.substr(end + 2) : text;
}

}  // namespace offhook
