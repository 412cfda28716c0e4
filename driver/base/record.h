// SPDX-License-Identifier: MIT
//
// Results, each value described once. A table has a row for each value of a struct: its key in JSON and CSV, its unit,
// its description, and its member. JSON output and input, CSV columns, rows on a terminal and the list of keys
// (`offhook help keys json`, `help keys csv`, docs/formats.md, docs/decode-json.md) are made from that row.
//
//     using R = record::Rows<Transfer>;
//     constexpr record::Row kRows[] = {
//         R::of<&Transfer::bytes>("bytes", "bytes", "delivered").label("bytes delivered"),
//         R::of<&Transfer::at_ns>("at_s", "s", "when it ended").scale(1e-9).absent_below_0(),
//         R::of("rate", "bit/s", "mean", [](const Transfer& t) { return 8 * t.bytes / t.seconds(); }),
//         R::part<&Transfer::link>("link", kLink),
//     };
//     constexpr record::Table kTransfer{kRows};
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace offhook::record {

/// A value that is nothing (absent), a scalar, or a list.
struct Value;
using Values = std::vector<Value>;
struct Value : std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Values> {
  using variant::variant;
};

struct Table;

/// Called with each item of a list, or the one struct.
using Visit = void (*)(void* to, const void* item);

struct Row {
  std::string_view key;   ///< a key with a dot is in an object, unless an earlier row of its first part is none
  std::string_view unit;  ///< empty: none, or a count
  std::string_view what;

  Value (*get)(const void* subject) = nullptr;
  bool (*set)(void* subject, const Value& value) = nullptr;  ///< false: the type differs; null: the value is derived

  /// The table of a row that is a struct, or a list of them.
  const Table* table = nullptr;
  void (*each)(const void* subject, Visit visit, void* to) = nullptr;
  void* (*add)(void* subject) = nullptr;  ///< a new last item; for a struct that is always present, the struct itself
  int list = 0;                           ///< of structs or of scalars; 2: a list of lists

  std::string_view type = {};     ///< of a scalar: "string", "boolean", "integer" or "number"
  std::string_view name = {};     ///< on a terminal; empty: it is not shown there
  bool optional = false;          ///< may be absent
  std::string_view absence = {};  ///< when it is absent, in words
  int rounded_to = -1;            ///< decimals; negative: exact
  int digits = 0;                 ///< significant ones on a terminal; 0: all
  double factor = 1;              ///< from the member's unit to the key's
  bool not_if_0 = false, not_if_negative = false;
  bool null_if_absent = false;
  bool spread = false;  ///< a list of names and values: each gets its own key, after `key`
  bool apart = false;   ///< describe() names the table of the part, which is described elsewhere

  /// This row with another value of one member.
  template <typename T>
  constexpr Row with(T Row::*member, std::type_identity_t<T> value) const {
    Row row = *this;
    row.*member = value;
    return row;
  }

  constexpr Row label(std::string_view text) const { return with(&Row::name, text); }
  constexpr Row decimals(int n) const { return with(&Row::rounded_to, n); }
  constexpr Row significant(int n) const { return with(&Row::digits, n); }
  constexpr Row scale(double to_unit_of_key) const { return with(&Row::factor, to_unit_of_key); }
  /// The meaning of a part.
  constexpr Row means(std::string_view text) const { return with(&Row::what, text); }
  /// A part whose keys are listed once for many results, under the name of its table.
  constexpr Row described_apart(std::string_view text) const { return means(text).with(&Row::apart, true); }
  /// May be absent. @param when  in words
  constexpr Row absent(std::string_view when) const { return with(&Row::optional, true).with(&Row::absence, when); }
  /// Left out when it is 0, false or empty.
  constexpr Row absent_if_0(std::string_view when = {}) const { return absent(when).with(&Row::not_if_0, true); }
  constexpr Row absent_below_0(std::string_view when = {}) const {
    return absent(when).with(&Row::not_if_negative, true);
  }
  /// Never absent, although the member is a pointer.
  constexpr Row always() const { return with(&Row::optional, false); }
  /// Skipped when JSON is read.
  constexpr Row written_only() const { return with(&Row::set, nullptr).with(&Row::add, nullptr); }
  /// JSON has null when it is absent.
  constexpr Row or_null() const { return with(&Row::optional, true).with(&Row::null_if_absent, true); }
  constexpr Row as_keys() const { return with(&Row::spread, true).with(&Row::optional, true); }
};

struct Table {
  std::span<const Row> rows;
  std::string_view name = {};  ///< type of a part in tables_of()
};

/// optional, shared_ptr and T*: values that may be absent.
template <typename T>
concept Pointing = requires(const T& x) {
  *x;
  static_cast<bool>(x);
}
&&!std::is_convertible_v<T, std::string_view>;
template <typename T>
concept Listing = requires(const T& x) {
  x.size();
  x[0];
}
&&!std::is_convertible_v<T, std::string_view>;

template <typename T>
constexpr int depth_of_lists() {
  if constexpr (Pointing<T>) {
    return depth_of_lists<std::decay_t<decltype(*std::declval<const T&>())>>();
  } else if constexpr (Listing<T>) {
    return 1 + depth_of_lists<std::decay_t<decltype(std::declval<const T&>()[0])>>();
  } else {
    return 0;
  }
}
/// Type in JSON; for a list, the type of its items.
template <typename T>
constexpr std::string_view type_of() {
  if constexpr (Pointing<T>) {
    return type_of<std::decay_t<decltype(*std::declval<const T&>())>>();
  } else if constexpr (Listing<T>) {
    return type_of<std::decay_t<decltype(std::declval<const T&>()[0])>>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return "boolean";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "number";
  } else {
    return std::is_integral_v<T> ? "integer" : "string";
  }
}

template <typename T>
Value value_of(const T& x) {
  if constexpr (Pointing<T>) {
    return x ? value_of(*x) : Value{};
  } else if constexpr (std::is_same_v<T, Value> || std::is_same_v<T, bool>) {
    return x;
  } else if constexpr (std::is_same_v<T, const char*>) {
    return x != nullptr ? Value(std::string(x)) : Value{};
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return std::string(std::string_view(x));
  } else if constexpr (requires {
                         x.first;
                         x.second;
                       }) {
    return Values{value_of(x.first), value_of(x.second)};
  } else if constexpr (Listing<T>) {
    Values all;
    for (const auto& item : x) all.push_back(value_of(item));
    return all;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(x);
  } else if constexpr (std::is_unsigned_v<T>) {
    return static_cast<std::uint64_t>(x);
  } else {
    return static_cast<std::int64_t>(x);
  }
}

/// @return false when the value is of another type, or too large
template <typename T>
bool assign(T& x, const Value& value) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    const T* given = std::get_if<T>(&value);
    if (given != nullptr) x = *given;
    return given != nullptr;
  } else if constexpr (Pointing<T>) {
    return assign(x.emplace(), value);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (const auto* real = std::get_if<double>(&value)) return x = static_cast<T>(*real), true;
    if (const auto* whole = std::get_if<std::uint64_t>(&value)) return x = static_cast<T>(*whole), true;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return x = static_cast<T>(*whole), true;
    return false;
  } else if constexpr (std::is_integral_v<T>) {
    const auto fits = [&x](auto whole) { return std::in_range<T>(whole) && (x = static_cast<T>(whole), true); };
    if (const auto* whole = std::get_if<std::uint64_t>(&value)) return fits(*whole);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return fits(*whole);
    return false;
  } else if constexpr (requires {
                         x.first;
                         x.second;
                       }) {
    const auto* both = std::get_if<Values>(&value);
    return both != nullptr && both->size() == 2 && assign(x.first, (*both)[0]) && assign(x.second, (*both)[1]);
  } else {  // a list
    const auto* list = std::get_if<Values>(&value);
    if (list == nullptr) return false;
    x.clear();
    for (const Value& item : *list) {
      auto&& one = x.emplace_back();
      if constexpr (std::is_floating_point_v<std::decay_t<decltype(one)>>) {  // JSON has null for non-numbers
        if (std::holds_alternative<std::monostate>(item)) {
          one = std::numeric_limits<std::decay_t<decltype(one)>>::quiet_NaN();
          continue;
        }
      }
      if (!assign(one, item)) return false;
    }
    return true;
  }
}

/// The member of a member, and so on.
template <auto Member, auto... Rest, typename T>
Value read(const T& subject) {
  if constexpr (Pointing<T>) {
    return subject ? read<Member, Rest...>(*subject) : Value{};
  } else if constexpr (sizeof...(Rest) == 0) {
    return value_of<std::decay_t<decltype(std::invoke(Member, subject))>>(std::invoke(Member, subject));
  } else {
    return read<Rest...>(std::invoke(Member, subject));
  }
}
template <auto Member, auto... Rest, typename T>
bool write(T& subject, const Value& value) {
  if constexpr (Pointing<T>) {
    if (!subject) subject.emplace();
    return write<Member, Rest...>(*subject, value);
  } else if constexpr (sizeof...(Rest) == 0) {
    return assign(subject.*Member, value);
  } else {
    return write<Rest...>(subject.*Member, value);
  }
}
/// The type of the member of the last member.
template <auto Member, auto... Rest, typename T>
constexpr auto last(std::type_identity<T>) {
  if constexpr (Pointing<T>) {
    return last<Member, Rest...>(std::type_identity<std::decay_t<decltype(*std::declval<const T&>())>>{});
  } else {
    using Next = std::decay_t<std::invoke_result_t<decltype(Member), const T&>>;
    if constexpr (sizeof...(Rest) == 0) return std::type_identity<Next>{};
    if constexpr (sizeof...(Rest) != 0) return last<Rest...>(std::type_identity<Next>{});
  }
}
template <auto Member, auto... Rest, typename T>
constexpr bool may_be_absent(std::type_identity<T>) {
  if constexpr (Pointing<T>) {
    return true;
  } else {
    using Next = std::decay_t<std::invoke_result_t<decltype(Member), const T&>>;
    if constexpr (sizeof...(Rest) == 0) return Pointing<Next>;
    if constexpr (sizeof...(Rest) != 0) return may_be_absent<Rest...>(std::type_identity<Next>{});
  }
}

/// Makes the rows of a struct. @tparam kReadBack  whether from_json() fills the struct
template <typename Subject, bool kReadBack = true>
struct Rows {
  static const Subject& at(const void* subject) { return *static_cast<const Subject*>(subject); }
  static Subject& at(void* subject) { return *static_cast<Subject*>(subject); }

  /// A member, or a member of a member. The result of a function is derived: it is not read back.
  template <auto... Members>
  static constexpr Row of(std::string_view key, std::string_view unit, std::string_view what) {
    Row row{key, unit, what};
    row.get = [](const void* s) -> Value { return read<Members...>(at(s)); };
    if constexpr (kReadBack && (std::is_member_object_pointer_v<decltype(Members)> && ...))
      row.set = [](void* s, const Value& v) { return write<Members...>(at(s), v); };
    using Result = typename decltype(last<Members...>(std::type_identity<Subject>{}))::type;
    row.optional = may_be_absent<Members...>(std::type_identity<Subject>{});
    row.list = depth_of_lists<Result>();
    row.type = type_of<Result>();
    return row;
  }
  /// Derived. @param value  a lambda without captures: of const Subject&
  template <typename Function>
  static constexpr Row of(std::string_view key, std::string_view unit, std::string_view what, Function) {
    static_assert(std::is_empty_v<Function>);
    using Result = std::decay_t<std::invoke_result_t<Function, const Subject&>>;
    Row row{key, unit, what};
    row.get = [](const void* s) -> Value { return value_of<Result>(Function{}(at(s))); };
    row.optional = Pointing<Result>;
    row.list = depth_of_lists<Result>();
    row.type = type_of<Result>();
    return row;
  }
  /// A struct with a table of its own, a pointer to one, or a list of them; or the result of a function.
  template <auto Member>
  static constexpr Row part(std::string_view key, const Table& table) {
    Row row = part(key, table, [](const Subject& s) -> decltype(auto) { return std::invoke(Member, s); });
    using Part = std::decay_t<std::invoke_result_t<decltype(Member), const Subject&>>;
    if constexpr (!kReadBack || !std::is_member_object_pointer_v<decltype(Member)>) {
    } else if constexpr (requires(Part & part) { part.emplace_back(); }) {
      row.add = [](void* s) -> void* { return &(at(s).*Member).emplace_back(); };
    } else if constexpr (requires(Part & part) { part.emplace(); }) {
      row.add = [](void* s) -> void* { return &(at(s).*Member).emplace(); };
    } else if constexpr (requires { typename Part::element_type; } && Pointing<Part>) {
      row.add = [](void* s) -> void* {
        const auto made = std::make_shared<std::remove_const_t<typename Part::element_type>>();
        at(s).*Member = made;
        return made.get();
      };
    } else if constexpr (!Listing<Part> && !Pointing<Part>) {
      row.add = [](void* s) -> void* { return &(at(s).*Member); };
    }
    return row;
  }
  /// The same for a derived value. Without a key, its rows are among those of the whole.
  /// @param value  a lambda without captures: of const Subject&
  template <typename Function>
  static constexpr Row part(std::string_view key, const Table& table, Function) {
    static_assert(std::is_empty_v<Function>);
    using Part = std::decay_t<std::invoke_result_t<Function, const Subject&>>;
    Row row{key, {}, {}};
    row.table = &table;
    row.list = Listing<Part>;
    row.optional = Pointing<Part>;
    if constexpr (std::is_same_v<Part, Subject>) row.add = [](void* s) { return s; };
    row.each = [](const void* s, Visit visit, void* to) {
      const auto& part = Function{}(at(s));
      if constexpr (Listing<Part>) {
        for (const auto& item : part) visit(to, &item);
      } else if constexpr (Pointing<Part>) {
        if (part) visit(to, &*part);
      } else {
        visit(to, &part);
      }
    };
    return row;
  }
};

/// Makes the rows of a struct that is written only.
template <typename Subject>
using Written = Rows<Subject, false>;

/// @return nothing for an object
Value value_of_json(const nlohmann::ordered_json& json);

/// The rows in their order, without absent ones.
nlohmann::ordered_json to_json(const Table& table, const void* subject);

/// The same as JSON text. @param indent  spaces of each level; negative: one line
std::string json_text(const Table& table, const void* subject, int indent = -1);
/// An array of subjects of one table.
std::string json_text(const Table& table, std::span<const void* const> subjects, int indent = -1);

/// A table as csv_table() makes it, with one row for each subject.
std::string csv_table(const Table& table, std::span<const void* const> subjects);
/// A table of the subject's list of structs with that key.
std::string csv_table(const Table& table, const void* subject, std::string_view list);

/// The items of a vector, as the functions above take them.
template <typename T>
std::vector<const void*> subjects(const std::vector<T>& all) {
  std::vector<const void*> out;
  for (const T& one : all) out.push_back(&one);
  return out;
}

/// Read the values that are not derived. Keys without a row are skipped.
/// @throws nlohmann::json::other_error naming the key that is missing or of another type
void from_json(const Table& table, const nlohmann::ordered_json& json, void* subject);
/// The same from JSON text. @throws std::invalid_argument  why the text is not JSON or not of this table
void from_json_text(const Table& table, std::string_view text, void* subject);

/// For a terminal: each row that has a label, with the values of all subjects separated by ", ".
std::vector<std::pair<std::string, std::string>> labelled(const Table& table,
                                                          std::initializer_list<const void*> subjects);

/// The list of keys, one line for each: "  PATH? (UNIT): what". "?" follows values that may be absent, [] a list; parts
/// of the same table are {a,b}; .** means the keys of a part that has the same table as the whole.
/// @param path  before each key: "dmt?."  @param joint  "_" for columns of CSV
std::string describe(const Table& table, const std::string& path = "", std::string_view joint = ".");

/// For a page in Markdown: a section for the table and for that of each part, with key, type, unit, absence, meaning.
std::string tables_of(const Table& table);

}  // namespace offhook::record
