// SPDX-License-Identifier: MIT
#include "driver/base/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "driver/base/csv.h"
#include "driver/base/json.h"

namespace offhook::record {

using Json = nlohmann::ordered_json;

Value value_of_json(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return json.get<bool>();
    case Json::value_t::number_unsigned:
      return json.get<std::uint64_t>();
    case Json::value_t::number_integer:
      return json.get<std::int64_t>();
    case Json::value_t::number_float:
      return json.get<double>();
    case Json::value_t::string:
      return json.get<std::string>();
    case Json::value_t::array: {
      Values all;
      for (const Json& one : json) all.push_back(value_of_json(one));
      return all;
    }
    default:
      return {};
  }
}

namespace {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;  // Clang 14 needs it

Json json_of(const Value& value) {
  return std::visit(Overloaded{[](std::monostate) { return Json(); },
                               [](const Values& all) {
                                 Json list = Json::array();
                                 for (const Value& one : all) list.push_back(json_of(one));
                                 return list;
                               },
                               [](const auto& scalar) { return Json(scalar); }},
                    value);
}

std::optional<double> number_in(const Value& value) {
  double number = 0;
  return !std::holds_alternative<bool>(value) && assign(number, value) ? std::optional(number) : std::nullopt;
}

bool is_0(const Value& value) {
  return std::visit(
      Overloaded{[](std::monostate) { return true; }, [](const std::string& text) { return text.empty(); },
                 [](const Values& all) { return all.empty(); },
                 [](auto scalar) { return scalar == decltype(scalar){}; }},
      value);
}

/// In the unit of the key, rounded. Nothing if the value is absent.
Value shown(const Row& row, const void* subject) {
  Value value = row.get(subject);
  if (row.not_if_0 && is_0(value)) return {};
  const auto in_unit = [&row](double number) {
    const double in_key = row.factor == 1 ? number : number * row.factor;
    const double steps = std::pow(10.0, row.rounded_to);
    return row.rounded_to < 0 ? in_key : std::round(in_key * steps) / steps;
  };
  const bool changes = row.factor != 1 || row.rounded_to >= 0;
  if (auto* all = std::get_if<Values>(&value); all != nullptr && changes) {
    for (Value& one : *all)
      if (const auto number = number_in(one)) one = in_unit(*number);
    return value;
  }
  const std::optional<double> number = number_in(value);
  if (number && row.not_if_negative && *number < 0) return {};
  return number && changes ? Value(in_unit(*number)) : value;
}

/// The place of a key with dots; "p99.9" after the number "p99" is a key of its own.
Json& place(Json& json, std::string_view key) {
  const std::size_t dot = key.find('.');
  const std::string first(key.substr(0, dot));
  if (dot == key.npos) return json[first];
  const auto there = json.find(first);
  if (there != json.end() && !there->is_object()) return json[std::string(key)];
  return place(json[first], key.substr(dot + 1));
}

[[noreturn]] void refuse(std::string_view key, const char* why) {
  throw nlohmann::json::other_error::create(501, fmt::format("key '{}' {}", key, why), nullptr);
}

/// Names and values of the keys that begin with the row's key.
Value gathered(const Row& row, const Json& json) {
  Values all;
  for (const auto& [key, value] : json.items())
    if (key.starts_with(row.key)) all.emplace_back(Values{key.substr(row.key.size()), value_of_json(value)});
  return all;
}

void read_value(const Row& row, const Json* json, void* subject) {
  if (json == nullptr || json->is_null()) {
    if (!row.optional) refuse(row.key, "not found");
    return;
  }
  Value value = value_of_json(*json);
  if (row.factor != 1) {
    const std::optional<double> number = number_in(value);
    if (!number) refuse(row.key, "is no number");
    value = *number / row.factor;
    if (row.set(subject, value)) return;
    value = static_cast<std::int64_t>(std::llround(*number / row.factor));
  }
  if (!row.set(subject, value)) refuse(row.key, "is of another type");
}

void read_part(const Row& row, const Json* json, void* subject) {
  if (json == nullptr || json->is_null()) {
    if (!row.optional) refuse(row.key, "not found");
    return;
  }
  if (row.list > 0 ? !json->is_array() : !json->is_object()) refuse(row.key, "is of another type");
  if (row.list == 0) return from_json(*row.table, *json, row.add(subject));
  for (const Json& one : *json) from_json(*row.table, one, row.add(subject));
}

std::string leaf_line(const std::string& path, const Row& row, bool optional) {
  std::string key(row.key.substr(0, row.key.find(' ')));  // of the names after it
  if (row.spread) key += '*';
  if (!row.spread)
    for (int k = 0; k < row.list; ++k) key += "[]";
  if (optional) key += '?';
  return fmt::format("  {}{}{}: {}\n", path, key, row.unit.empty() ? "" : fmt::format(" ({})", row.unit), row.what);
}

/// "{down,up}": the parts of a table that have the same rows.
std::string names_of_parts(const Table& table, const Row& first) {
  std::vector<std::string> names;
  for (const Row& row : table.rows)
    if (row.table == first.table)
      names.push_back(fmt::format("{}{}{}", row.key, row.list > 0 ? "[]" : "", row.optional ? "?" : ""));
  return names.size() == 1 ? names[0] : fmt::format("{{{}}}", fmt::join(names, ","));
}

std::string describe(const Table& table, const std::string& path, std::string_view joint, bool optional) {
  std::string out;
  for (const Row& row : table.rows) {
    const auto same = [&row](const Row& other) { return other.table == row.table; };
    if (row.table == nullptr) {
      out += leaf_line(path, row, optional || row.optional);
    } else if (row.apart) {
      out += fmt::format("  {}{}{}{}{}**: {}", path, row.key, row.list > 0 ? "[]" : "", row.optional ? "?" : "", joint,
                         row.what);
      out += row.table->name.empty() ? "\n" : fmt::format(" (keys: {})\n", row.table->name);
    } else if (row.key.empty()) {
      out += describe(*row.table, path, joint, row.optional);
    } else if (row.table == &table) {
      out += fmt::format("  {}{}{}**: {}\n", path, names_of_parts(table, row), joint, row.what);
    } else if (&*std::find_if(table.rows.begin(), table.rows.end(), same) == &row) {
      out += describe(*row.table, fmt::format("{}{}{}", path, names_of_parts(table, row), joint), joint, optional);
    }
  }
  return out;
}

/// Each row of a table, including the rows of parts without a key. @param absence  of such a part
template <typename Use>
void for_each_row(const Table& table, const Use& use, const Row* whole = nullptr) {
  for (const Row& row : table.rows) {
    if (row.table != nullptr && row.key.empty()) {
      for_each_row(*row.table, use, row.optional ? &row : whole);
    } else {
      use(whole != nullptr && !row.optional ? row.absent(whole->absence) : row);
    }
  }
}

std::string type_text(const Row& row) {
  std::string text;
  for (int k = 0; k < row.list; ++k) text += "list of ";
  if (row.table != nullptr) return text.append(row.table->name);
  return text.append(row.factor != 1 || row.rounded_to >= 0 ? "number" : row.type);
}

void add_section(const Table& table, std::vector<const Table*>& done, std::string& out) {
  if (std::find(done.begin(), done.end(), &table) != done.end()) return;
  done.push_back(&table);
  const auto cell = [](std::string_view text) { return text.empty() ? " " : fmt::format(" {} ", text); };
  out += fmt::format("{}## {}\n\n", out.empty() ? "" : "\n", table.name);
  out += "| key | type | unit | absent | meaning |\n| --- | --- | --- | --- | --- |\n";
  for_each_row(table, [&](const Row& row) {
    out += fmt::format("| `{}` |{}|{}|{}|{}|\n", row.key, cell(type_text(row)), cell(row.unit),
                       cell(row.optional ? row.absence : "never"), cell(row.what));
  });
  for_each_row(table, [&](const Row& row) {
    if (row.table != nullptr) add_section(*row.table, done, out);
  });
}

}  // namespace

Json to_json(const Table& table, const void* subject) {
  Json json = Json::object();
  for (const Row& row : table.rows) {
    if (row.table == nullptr) {
      const Value value = shown(row, subject);
      if (row.spread) {
        for (const Value& one : std::get<Values>(value)) {
          const auto& named = std::get<Values>(one);
          json[std::string(row.key) + std::get<std::string>(named.at(0))] = json_of(named.at(1));
        }
      } else if (row.null_if_absent || !std::holds_alternative<std::monostate>(value)) {
        place(json, row.key) = json_of(value);
      }
    } else {
      if (row.list > 0 && !row.not_if_0) place(json, row.key) = Json::array();
      auto add = [&](const void* item) {
        if (row.key.empty()) return json.update(to_json(*row.table, item));
        Json& here = place(json, row.key);
        (row.list > 0 ? here.emplace_back() : here) = to_json(*row.table, item);
      };
      row.each(
          subject, [](void* to, const void* item) { (*static_cast<decltype(add)*>(to))(item); }, &add);
    }
  }
  return json;
}

namespace {

Json list_of(const Table& table, std::span<const void* const> subjects) {
  Json list = Json::array();
  for (const void* subject : subjects) list.push_back(to_json(table, subject));
  return list;
}

}  // namespace

std::string json_text(const Table& table, const void* subject, int indent) {
  return offhook::json_text(to_json(table, subject), indent);
}

std::string json_text(const Table& table, std::span<const void* const> subjects, int indent) {
  return offhook::json_text(list_of(table, subjects), indent);
}

std::string csv_table(const Table& table, std::span<const void* const> subjects) {
  return offhook::csv_table(list_of(table, subjects));
}

std::string csv_table(const Table& table, const void* subject, std::string_view list) {
  return offhook::csv_table(to_json(table, subject).at(std::string(list)));
}

void from_json(const Table& table, const Json& json, void* subject) {
  if (!json.is_object()) throw nlohmann::json::other_error::create(501, "expected an object", nullptr);
  for (const Row& row : table.rows) {
    const auto found = json.find(std::string(row.key));
    const Json* const value = found == json.end() ? nullptr : &*found;
    if (row.spread) {
      if (!row.set(subject, gathered(row, json))) refuse(row.key, "is of another type");
    } else if (row.table != nullptr) {
      if (row.add != nullptr) read_part(row, row.key.empty() ? &json : value, subject);
    } else if (row.set != nullptr) {
      read_value(row, value, subject);
    }
  }
}

void from_json_text(const Table& table, std::string_view text, void* subject) {
  try {
    from_json(table, parse_json<Json>(text), subject);
  } catch (const Json::exception& e) {
    throw std::invalid_argument(std::string(in_words(e)));
  }
}

std::vector<std::pair<std::string, std::string>> labelled(const Table& table,
                                                          std::initializer_list<const void*> subjects) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Row& row : table.rows) {
    if (row.name.empty()) continue;
    std::string text;
    for (const void* subject : subjects) {
      const Value value = shown(row, subject);
      if (std::holds_alternative<std::monostate>(value)) continue;
      const auto* number = std::get_if<double>(&value);
      text += (text.empty() ? "" : ", ") + (row.digits > 0 && number != nullptr
                                                ? fmt::format("{:.{}g}", *number, row.digits)
                                                : offhook::json_text(json_of(value)));
    }
    if (!text.empty()) out.emplace_back(row.name, text);
  }
  return out;
}

std::string describe(const Table& table, const std::string& path, std::string_view joint) {
  return describe(table, path, joint, false);
}

std::string tables_of(const Table& table) {
  std::vector<const Table*> done;
  std::string out;
  add_section(table, done, out);
  return out;
}

}  // namespace offhook::record
