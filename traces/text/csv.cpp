// SPDX-License-Identifier: MIT
#include "traces/text/csv.h"

#include <charconv>

#include "traces/text/printable.h"

namespace offhook {

namespace {

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string csv_field(std::string_view text) {
  std::string shown = printable(text);
  if (!shown.empty() && std::string_view("=+-@").find(shown[0]) != std::string_view::npos && !is_number(shown))
    shown.insert(0, 1, '\'');
  if (shown.find_first_of(",\"") == std::string::npos) return shown;
  std::string out = "\"";
  for (const char c : shown) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace offhook
