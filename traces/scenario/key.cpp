// SPDX-License-Identifier: MIT
#include "traces/scenario/key.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace offhook::config {
namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

Field field_of(const Key& key, const void* subject) {
  return key.field(const_cast<void*>(subject));  // only read through this pointer
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string quoted_list(const NameSet& v) {
  std::vector<std::string> chosen;
  for (std::size_t i = 0; i < v.names.size(); ++i) {
    if ((*v.bits & v.masks[i]) != 0) chosen.push_back(quoted(v.names[i]));
  }
  return fmt::format("[{}]", fmt::join(chosen, ", "));
}

}  // namespace

std::string write_value(const Key& key, const void* subject) {
  return std::visit(Overloaded{
                        [](const bool* v) { return std::string(*v ? "true" : "false"); },
                        [](const std::string* v) { return quoted(*v); },
                        [](const Duration& v) { return fmt::format("{}", static_cast<double>(*v.ns) / v.unit_ns); },
                        [](const Choice& v) { return quoted(v.names[static_cast<std::size_t>(v.get())]); },
                        [](const NameSet& v) { return quoted_list(v); },
                        [](const std::vector<std::uint32_t>* v) { return fmt::format("[{}]", fmt::join(*v, ", ")); },
                        [](const std::vector<double>* v) { return fmt::format("[{}]", fmt::join(*v, ", ")); },
                        [](const auto* v) { return fmt::format("{}", *v); },
                    },
                    field_of(key, subject));
}

bool is_written(const Key& key, const void* subject) {
  if (!key.unless_0) return true;
  const Field field = field_of(key, subject);
  if (const auto* choice = std::get_if<Choice>(&field)) return choice->get() != 0;
  const std::string value = write_value(key, subject);
  return value != "0" && value != "\"\"";
}

std::string write(const KeyTable& keys, const void* subject) {
  std::string out, table;
  for (const bool in_tables : {false, true}) {  // TOML requires the keys outside of tables first
    for (const Key& key : keys) {
      const std::string_view path = key.path;
      const std::size_t dot = path.rfind('.');
      if ((dot != std::string_view::npos) != in_tables) continue;
      if (!is_written(key, subject)) continue;
      const std::string_view of = in_tables ? path.substr(0, dot) : std::string_view{};
      if (of != table) {
        out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", of);
        table = of;
      }
      out += fmt::format("{} = {}\n", in_tables ? path.substr(dot + 1) : path, write_value(key, subject));
    }
  }
  return out;
}

std::string expectation(const Key& key, const void* subject) {
  const auto range = [&] {
    if (key.max >= kAnyMax) return fmt::format("{} or more", key.min);
    return fmt::format("{} to {}", key.min, key.max);
  };
  return std::visit(Overloaded{
                        [](const bool*) { return std::string("true or false"); },
                        [](const std::string*) { return std::string("a string"); },
                        [](const Choice& v) { return fmt::format("\"{}\"", fmt::join(v.names, "\" or \"")); },
                        [](const NameSet& v) { return fmt::format("a list of \"{}\"", fmt::join(v.names, "\", \"")); },
                        [&](const double*) { return "a number, " + range(); },
                        [&](const Duration&) { return "a number, " + range(); },
                        [&](const std::vector<std::uint32_t>*) { return "a list of whole numbers, each " + range(); },
                        [&](const std::vector<double>*) { return "a list of numbers, each " + range(); },
                        [&](const auto*) { return "a whole number, " + range(); },
                    },
                    field_of(key, subject));
}

std::string describe(const KeyTable& keys, const void* defaults) {
  std::string out;
  for (const Key& key : keys) {
    out += fmt::format("  {} = {}\n      {} ({})\n", key.path, write_value(key, defaults), key.help,
                       expectation(key, defaults));
  }
  return out;
}

}  // namespace offhook::config
