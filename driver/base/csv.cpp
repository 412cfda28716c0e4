// SPDX-License-Identifier: MIT
#include "driver/base/csv.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "driver/base/json.h"
#include "driver/base/printable.h"

namespace offhook {

namespace {

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::pair<std::string, std::string>>;  // column, text

std::string cell_text(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return json_text(value);
  std::string out;
  for (const Json& item : value) {
    if (!out.empty()) out += "; ";
    out += cell_text(item);
  }
  return out;
}

void add_cells(const Json& object, const std::string& before, Cells& to) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      add_cells(value, before + key + "_", to);
    } else {
      to.emplace_back(before + key, cell_text(value));
    }
  }
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

std::string csv_table(const Json& rows) {
  std::vector<Cells> all;
  std::vector<std::string> columns;
  for (const Json& row : rows) {
    add_cells(row, "", all.emplace_back());
    for (const auto& [column, text] : all.back()) {
      if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
    }
  }
  std::string out;
  const auto line = [&](const auto& cell_of) {
    for (std::size_t i = 0; i < columns.size(); ++i) out += (i > 0 ? "," : "") + csv_field(cell_of(columns[i]));
    out += '\n';
  };
  if (!columns.empty()) line([](const std::string& column) { return column; });
  for (const Cells& cells : all) {
    line([&](const std::string& column) {
      const auto found = std::find_if(cells.begin(), cells.end(), [&](const auto& c) { return c.first == column; });
      return found == cells.end() ? std::string() : found->second;
    });
  }
  return out;
}

}  // namespace offhook
