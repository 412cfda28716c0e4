// SPDX-License-Identifier: MIT
#include "traces/document/document.h"

#include <fmt/format.h>

#include <stdexcept>

// toml++ 3.3.0 asserts on some texts that are no TOML, such as "[" and a control character (found by config_fuzz), and
// goes on regardless when NDEBUG is set. Its assertions throw here, in every build.
namespace {
[[noreturn]] void toml_assertion_failed() {
  throw std::domain_error("a key or a value is expected here and is not one");
}
}  // namespace
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) ((expression) ? void() : toml_assertion_failed())
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <algorithm>
#include <cmath>
#include <sstream>
#include <system_error>

#include "traces/file/file.h"

namespace offhook::config {

struct Document::Impl {
  std::string name;
  bool positions = true;  // false: the name says it all (--set)
  toml::table table;

  std::string at(const toml::source_region& where) const {
    if (!positions || !where.begin) return name;
    return fmt::format("{}:{}:{}", name, where.begin.line, where.begin.column);
  }
};

namespace {

std::string joined(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
}

/// The parser calls itself for each part of a dotted key and for each list in a list; no file of ours goes this deep.
class Depth {
 public:
  static constexpr int kMost = 32;
  /// A character outside of strings and comments. @return false: too deep
  bool goes_on(char c) {
    switch (c) {
      case '[':
      case '{':
        ++nested_;
        dots_ = 0;
        break;
      case ']':
      case '}':
        nested_ = std::max(nested_ - 1, 0);
        dots_ = 0;
        break;
      case '.':
        ++dots_;
        break;
      case '\n':
      case '=':
      case ',':
        dots_ = 0;
        break;
      default:
        break;
    }
    return nested_ <= kMost && dots_ < kMost;
  }

 private:
  int nested_ = 0, dots_ = 0;
};

/// Refuse what would be too deep for the parser; and what TOML 1.0 allows in comments and strings only, anything but
/// ASCII: toml++ 3.3.0 is undefined for some characters elsewhere (found by config_fuzz). @throws Error with the
/// position
void check_text(std::string_view text, std::string_view name) {
  std::size_t line = 1, line_begin = 0;
  Depth depth;
  std::string_view closing;  // of the string that we are in
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (closing.empty() && !depth.goes_on(c)) {
      throw Error(fmt::format("{}:{}:{}: is nested too deep; expected at most {} levels of keys, lists and tables",
                              name, line, i - line_begin + 1, Depth::kMost));
    }
    if (c == '\n') {
      ++line;
      line_begin = i + 1;
      if (closing.size() == 1) closing = {};  // not closed on its line: the parser will say so
    } else if (!closing.empty()) {
      if (c == '\\' && closing[0] == '"' && i + 1 < text.size() && text[i + 1] != '\n') {
        ++i;
      } else if (text.substr(i).starts_with(closing)) {
        i += closing.size() - 1;
        closing = {};
      }
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '"' || c == '\'') {
      const std::string_view triple = c == '"' ? "\"\"\"" : "\'\'\'";
      closing = text.substr(i).starts_with(triple) ? triple : triple.substr(0, 1);
      i += closing.size() - 1;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      throw Error(fmt::format("{}:{}:{}: keys and values are ASCII; expected other characters in quotes only", name,
                              line, i - line_begin + 1));
    }
  }
}

/// The table that holds the last part of a path, and that part.
std::pair<toml::table*, std::string_view> holder(toml::table& root, std::string_view path) {
  toml::table* table = &root;
  for (std::size_t dot; (dot = path.find('.')) != std::string_view::npos; path.remove_prefix(dot + 1)) {
    toml::node* next = table->get(path.substr(0, dot));
    if (next == nullptr || !next->is_table()) return {nullptr, path};
    table = next->as_table();
  }
  return {table, path};
}

std::string type_name(const toml::node& node) {
  static constexpr const char* kNames[] = {"nothing",        "a table",  "a list",       "a string",
                                           "a whole number", "a number", "true or false"};  // as toml::node_type
  const auto type = static_cast<std::size_t>(node.type());
  return type < std::size(kNames) ? kNames[type] : "a date or time";
}

/// The value for people: short ones in full.
std::string shown(const toml::node& node) {
  if (const auto* v = node.as_integer()) return fmt::format("{}", v->get());
  if (const auto* v = node.as_floating_point()) return fmt::format("{}", v->get());
  if (const auto* v = node.as_boolean()) return v->get() ? "true" : "false";
  if (const auto* v = node.as_string(); v && v->get().size() <= 40) return fmt::format("\"{}\"", v->get());
  if (const auto* v = node.as_array(); v && v->size() <= 6) {
    std::vector<std::string> items;
    for (const toml::node& item : *v) items.push_back(item.is_array() ? type_name(item) : shown(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  return type_name(node);
}

/// One value into one field of whatever type; false when type or range is wrong.
struct Assign {
  const toml::node& node;
  double min, max;

  /// A number in range; a whole one where T is.
  template <typename T>
  bool number(const toml::node& from, T& to) const {
    const auto take = [&](const auto* v) {
      if (v == nullptr) return false;
      const auto as_double = static_cast<double>(v->get());
      if (!std::isfinite(as_double) || as_double < min || as_double > max) return false;
      to = static_cast<T>(v->get());
      return true;
    };
    return take(from.as_integer()) || (std::is_floating_point_v<T> && take(from.as_floating_point()));
  }
  /// Where a name stands in a list of names; past its end for what is none.
  static std::size_t place(const toml::node& from, std::span<const std::string_view> names) {
    const auto* v = from.as_string();
    return static_cast<std::size_t>((v ? std::find(names.begin(), names.end(), v->get()) : names.end()) -
                                    names.begin());
  }
  /// Each item of a list that is not empty. @param take  false: it is none of ours
  template <typename Take>
  bool items(Take take) const {
    const auto* list = node.as_array();
    return list && !list->empty() && std::all_of(list->begin(), list->end(), take);
  }

  bool operator()(bool* to) const {
    const auto* v = node.as_boolean();
    if (v) *to = v->get();
    return v != nullptr;
  }
  bool operator()(std::string* to) const {
    const auto* v = node.as_string();
    if (v) *to = v->get();
    return v != nullptr;
  }
  bool operator()(const Choice& to) const {
    const std::size_t k = place(node, to.names);
    if (k < to.names.size()) to.set(static_cast<int>(k));
    return k < to.names.size();
  }
  bool operator()(const NameSet& to) const {
    std::uint32_t bits = 0;
    const bool good = items([&](const toml::node& item) {
      const std::size_t k = place(item, to.names);
      if (k < to.names.size()) bits |= to.masks[k];
      return k < to.names.size();
    });
    if (good) *to.bits = bits;
    return good;
  }
  bool operator()(const Duration& to) const {
    double v;
    const bool good = number(node, v);
    if (good) *to.ns = std::llround(v * to.unit_ns);
    return good;
  }
  template <typename T>
  bool operator()(std::vector<T>* to) const {
    std::vector<T> out;
    const bool good = items([&](const toml::node& item) { return number(item, out.emplace_back()); });
    if (good) *to = std::move(out);
    return good;
  }
  template <typename T>
  bool operator()(T* to) const {
    return number(node, *to);
  }
};

std::string as_toml(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& n) {
    if constexpr (toml::is_value<decltype(n)>) {
      out << toml::toml_formatter{toml::table{{"v", n}}, toml::format_flags::none};
    } else if constexpr (toml::is_array<decltype(n)>) {
      out << toml::toml_formatter{toml::table{{"v", n}}, toml::format_flags::none};
    }
  });
  std::string text = out.str();
  return text.substr(std::min(text.size(), std::string_view("v = ").size()));
}

}  // namespace

Document::Document(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

Document Document::read_file(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    throw Error(fmt::format("{}: is a folder; expected a TOML file", file.string()));
  }
  std::string text;
  try {
    text = offhook::read_file(file, kMostTextBytes);
  } catch (const std::runtime_error& e) {
    throw Error(e.what());
  }
  return parse(text, file.string());
}

Document Document::parse(std::string_view text, std::string_view name) {
  auto impl = std::make_unique<Impl>();
  impl->name = name;
  check_text(text, name);
  try {
    impl->table = toml::parse(text, name);
  } catch (const toml::parse_error& e) {
    throw Error(fmt::format("{}: {}", impl->at(e.source()), e.description()));
  } catch (const std::domain_error& e) {
    throw Error(fmt::format("{}: is no TOML: {}", name, e.what()));
  }
  return Document(std::move(impl));
}

Document Document::setting(std::string_view path, std::string_view value, std::string_view name) {
  const auto parsed = [&](std::string_view as) -> std::optional<Document> {
    try {
      Document document = parse(fmt::format("{} = {}\n", path, as), name);
      document.impl_->positions = false;
      return document;
    } catch (const Error&) {
      return std::nullopt;
    }
  };
  if (auto document = parsed(value)) return std::move(*document);
  auto document = parsed("0");
  if (!document) throw Error(fmt::format("{}: \"{}\" is not a key", name, path));
  auto [table, last] = holder(document->impl_->table, path);
  if (table != nullptr) table->insert_or_assign(last, value);
  return std::move(*document);
}

Document Document::assignment(std::string_view text) {
  const std::string name = fmt::format("--set {}", text);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) throw Error(fmt::format("{}: expected KEY=VALUE", name));
  return setting(text.substr(0, equals), text.substr(equals + 1), name);
}

const std::string& Document::name() const {
  return impl_->name;
}

bool Document::has(std::string_view path) const {
  const auto [table, last] = holder(impl_->table, path);
  return table != nullptr && table->contains(last);
}

std::string Document::position(std::string_view path) const {
  const auto [table, last] = holder(impl_->table, path);
  if (table == nullptr) return impl_->name;
  const auto found = table->find(last);
  return found == table->end() ? impl_->name : impl_->at(found->first.source());
}

std::optional<std::string> Document::take_string(std::string_view path) {
  const auto [table, last] = holder(impl_->table, path);
  if (table == nullptr || !table->contains(last)) return std::nullopt;
  const toml::node& node = *table->get(last);
  if (!node.is_string()) {
    throw Error(fmt::format("{}: {} is {}; expected a string", impl_->at(node.source()), path, shown(node)));
  }
  return take_if_string(path);
}

std::optional<std::string> Document::take_if_string(std::string_view path) {
  const auto [table, last] = holder(impl_->table, path);
  if (table == nullptr) return std::nullopt;
  const toml::node* node = table->get(last);
  if (node == nullptr || !node->is_string()) return std::nullopt;
  std::string value = node->as_string()->get();
  table->erase(last);
  return value;
}

std::optional<Document> Document::take_table(std::string_view path) {
  const auto [table, last] = holder(impl_->table, path);
  if (table == nullptr || !table->contains(last)) return std::nullopt;
  toml::node& node = *table->get(last);
  if (!node.is_table()) {
    throw Error(fmt::format("{}: {} is {}; expected a table", impl_->at(node.source()), path, shown(node)));
  }
  auto impl = std::make_unique<Impl>();
  impl->name = impl_->name;
  impl->positions = impl_->positions;
  impl->table = std::move(*node.as_table());
  table->erase(last);
  return Document(std::move(impl));
}

std::vector<Document> Document::take_rows(std::string_view path) {
  std::vector<Document> rows;
  const auto [table, last] = holder(impl_->table, path);
  if (table == nullptr || !table->contains(last)) return rows;
  toml::node& node = *table->get(last);
  toml::array* list = node.as_array();
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    toml::table* row = list->get(i)->as_table();
    if (row == nullptr) {
      list = nullptr;
      break;
    }
    auto impl = std::make_unique<Impl>();
    impl->name = impl_->name;
    impl->positions = impl_->positions;
    impl->table = std::move(*row);
    rows.push_back(Document(std::move(impl)));
  }
  if (list == nullptr) {
    throw Error(fmt::format("{}: {} is {}; expected tables [[{}]]", impl_->at(node.source()), path, shown(node), path));
  }
  table->erase(last);
  return rows;
}

std::vector<Document::Axis> Document::axes() const {
  constexpr std::size_t kMostValues = 1'000'000;
  std::vector<Axis> out;
  // In the order of the file: the first axis varies slowest. A TOML table has no order of its own.
  struct Entry {
    std::string path;
    const toml::node* node;
    toml::source_position at;
  };
  std::vector<Entry> entries;
  const auto collect = [&](const auto& self, const toml::table& table, const std::string& prefix) -> void {
    for (const auto& [key, node] : table) {
      const std::string path = joined(prefix, key.str());
      const toml::table* sub = node.as_table();
      if (sub != nullptr && !sub->contains("from") && !sub->contains("to")) {
        self(self, *sub, path);
      } else {
        entries.push_back({path, &node, key.source().begin});
      }
    }
  };
  collect(collect, impl_->table, "");
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
  });
  for (const Entry& entry : entries) {
    Axis axis{entry.path, impl_->at({entry.at, entry.at, nullptr}), {}};
    if (const toml::array* list = entry.node->as_array(); list != nullptr && !list->empty()) {
      for (const toml::node& item : *list) axis.values.push_back(as_toml(item));
    } else if (const toml::table* range = entry.node->as_table()) {
      for (const auto& [key, node] : *range) {
        if (key != "from" && key != "to" && key != "step") {
          throw Error(fmt::format("{}: unknown key \"{}\" in a range; expected from, to, step", impl_->at(key.source()),
                                  key.str()));
        }
        if (!node.is_number()) {
          throw Error(fmt::format("{}: {} is {}; expected a number", impl_->at(node.source()), key.str(), shown(node)));
        }
      }
      const bool whole = range->get("from") && range->get("to") && range->get("from")->is_integer() &&
                         range->get("to")->is_integer() && (!range->get("step") || range->get("step")->is_integer());
      const double from = (*range)["from"].value_or(std::nan("")), to = (*range)["to"].value_or(std::nan(""));
      const double step = (*range)["step"].value_or(1.0);
      if (!(std::isfinite(from) && std::isfinite(to) && std::isfinite(step) && step > 0 && from <= to) ||
          (to - from) / step >= static_cast<double>(kMostValues)) {
        throw Error(fmt::format(
            "{}: {}: expected a range {{ from = A, to = B, step = S }} with A <= B and S > 0 (at most {} values)",
            axis.position, entry.path, kMostValues));
      }
      // from + i * step: no error adds up; half a millionth of a step lets 0.1 + 0.1 + 0.1 reach 0.3.
      const auto count = static_cast<std::size_t>(std::floor((to - from) / step + 5e-7)) + 1;
      for (std::size_t i = 0; i < count; ++i) {
        const double value = from + static_cast<double>(i) * step;
        axis.values.push_back(whole ? fmt::format("{}", static_cast<std::int64_t>(value)) : fmt::format("{}", value));
      }
    } else {
      throw Error(fmt::format("{}: axis {} is {}; expected a list of values or {{ from = A, to = B, step = S }}",
                              axis.position, entry.path, shown(*entry.node)));
    }
    out.push_back(std::move(axis));
  }
  return out;
}

std::string Document::json() const {
  std::ostringstream out;
  out << toml::json_formatter{impl_->table};
  return out.str();
}

void Document::apply(const KeyTable& keys, void* subject, Origins* origins) const {
  const auto unknown = [&](const std::string& path, const toml::key& key, std::string_view kind) {
    std::vector<std::string_view> known;
    for (const Key& k : keys) {
      known.push_back(k.path);
      if (const auto dot = k.path.rfind('.'); dot != std::string_view::npos)
        known.push_back(std::string_view(k.path).substr(0, dot));
    }
    throw Error(fmt::format("{}: unknown {} \"{}\"{}", impl_->at(key.source()), kind, path,
                            the_nearest(path, known, "known key")));
  };
  const auto walk = [&](const auto& self, const toml::table& table, const std::string& prefix) -> void {
    for (const auto& [key, node] : table) {
      const std::string path = joined(prefix, key.str());
      const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.path == path; });
      if (found != keys.end()) {
        if (!std::visit(Assign{node, found->min, found->max}, found->field(subject))) {
          throw Error(fmt::format("{}: {} is {}; expected {}", impl_->at(node.source()), path, shown(node),
                                  expectation(*found, subject)));
        }
        if (origins) (*origins)[path] = impl_->at(key.source());
        continue;
      }
      const std::string inside = path + ".";
      const bool is_table_of_keys =
          std::any_of(keys.begin(), keys.end(), [&](const Key& k) { return k.path.starts_with(inside); });
      if (!is_table_of_keys) unknown(path, key, node.is_table() ? "table" : "key");
      if (!node.is_table()) {
        throw Error(fmt::format("{}: {} is {}; expected a table", impl_->at(node.source()), path, shown(node)));
      }
      self(self, *node.as_table(), path);
    }
  };
  walk(walk, impl_->table, "");
}

}  // namespace offhook::config
