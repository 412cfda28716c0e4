// SPDX-License-Identifier: MIT
#include "driver/base/json.h"

#include <fmt/format.h>

namespace offhook {

std::string escape_in_json(std::string text) {
  // Both occur in strings only, where the dump leaves them as they are: DEL, and C1 as C2 80 to C2 9F.
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
