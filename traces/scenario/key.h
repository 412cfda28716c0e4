// SPDX-License-Identifier: MIT
//
// One table of keys defines a configuration file: path, range, help and the field it fills. Reading,
// validation, the list of keys in --help and the man page, and writing the effective configuration all walk this table.
// The names of the keys have their units (noise_dbm0, time_limit_s).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace offhook::config {

/// A user's error: `what()` is one line, with file:line:column if known, and the expected value.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A field of nanoseconds with another unit in the file.
struct Duration {
  std::int64_t* ns;
  double unit_ns;
};

/// An enumeration whose values 0, 1, 2 ... have these names.
struct Choice {
  std::span<const std::string_view> names;
  std::function<int()> get;
  std::function<void(int)> set;
};
template <typename Enum>
Choice choice(Enum& field, std::span<const std::string_view> names) {
  return {names, [&field] { return static_cast<int>(field); }, [&field](int v) { field = static_cast<Enum>(v); }};
}

/// A set of names; each means the bit at its place in `masks`. In a file it is a list of at least one.
struct NameSet {
  std::span<const std::string_view> names;
  std::span<const std::uint32_t> masks;
  std::uint32_t* bits;
};

using Field = std::variant<bool*, std::int32_t*, std::uint32_t*, std::uint64_t*, double*, Duration, Choice, NameSet,
                           std::string*, std::vector<std::uint32_t>*, std::vector<double>*>;

struct Key {
  std::string path;         ///< "context.x_ticks"
  double min = 0, max = 0;  ///< of a number, inclusive; for a list: of its items
  std::string_view help;
  std::function<Field(void*)> field;  ///< the field in a subject
  bool unless_0 = false;              ///< a number that is written only if it is not 0
};

inline constexpr double kAnyMax = 9007199254740992.0;  // 2^53: whole numbers are exact up to here

/// @param access Field(Subject&), or the member itself: &Subject::rate_hz
template <typename Subject, typename Access>
Key key(std::string_view path, double min, double max, std::string_view help, Access access) {
  return {std::string(path), min, max, help, [access](void* s) -> Field {
            if constexpr (std::is_member_object_pointer_v<Access>) {
              return &(static_cast<Subject*>(s)->*access);
            } else {
              return access(*static_cast<Subject*>(s));
            }
          }};
}
template <typename Subject, typename Access>
Key key(std::string_view path, std::string_view help, Access access) {
  return key<Subject>(path, 0, 0, help, access);
}
/// A key of nanoseconds with the unit `unit_ns` in the file. @param access std::int64_t&(Subject&), or the member
template <typename Subject, typename Access>
Key key_of_time(std::string_view path, double min, double max, std::string_view help, double unit_ns, Access access) {
  return key<Subject>(path, min, max, help, [access, unit_ns](Subject& s) -> Field {
    return Duration{&std::invoke(access, s), unit_ns};
  });
}
inline constexpr double kUs = 1e3, kMs = 1e6, kSecond = 1e9;  // ns

inline Key optional(Key key) {
  key.unless_0 = true;
  return key;
}

using KeyTable = std::vector<Key>;

/// The same keys in a larger table: "rate_hz" as "block.rate_hz".
/// @param access of the keys' own subject: Part&(Subject&)
template <typename Subject, typename Access>
KeyTable keys_under(std::string_view table, KeyTable keys, Access access) {
  for (Key& key : keys) {
    key.path = std::string(table) + "." + key.path;
    key.field = [access, field = key.field](void* s) { return field(&access(*static_cast<Subject*>(s))); };
  }
  return keys;
}

/// The subject as TOML, every key of the table with its current value. Reading it gives the same subject.
std::string write(const KeyTable& keys, const void* subject);
/// One key's value as TOML ("8", "\"dpc\"").
std::string write_value(const Key& key, const void* subject);
/// The accepted values of the key, for people: "whole number, 1 to 1024", "\"dpc\" or \"thread\"".
std::string expectation(const Key& key, const void* subject);
/// Whether write() writes it: always, unless it is optional and 0, empty or the first of a choice.
bool is_written(const Key& key, const void* subject);
/// The list of keys for --help and the man page, one line per key: path, default, accepted values, help.
std::string describe(const KeyTable& keys, const void* defaults);

}  // namespace offhook::config
