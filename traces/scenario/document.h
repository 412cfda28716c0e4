// SPDX-License-Identifier: MIT
//
// A TOML file (or one --set option) with the position of each of its values, so that every error message can have
// file:line:column. The parser, toml++, is used in document.cpp only.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/scenario/key.h"

namespace offhook::config {

/// The origin of each key of the effective configuration: path -> "file:line:column" or "--set KEY=VALUE".
using Origins = std::map<std::string, std::string, std::less<>>;

class Document {
 public:
  /// @throws Error when the file is not readable or not TOML
  static Document read_file(const std::filesystem::path& file);
  static Document parse(std::string_view text, std::string_view name);
  /// "key=value" as on the command line. A value that is not TOML is taken as a string: --set context.kind=dpc.
  static Document assignment(std::string_view text);
  /// One key with a value in TOML (or a bare string); messages begin with `name`.
  static Document setting(std::string_view path, std::string_view value, std::string_view name);
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();

  const std::string& name() const;
  bool has(std::string_view path) const;
  /// @return "file:line:column" of the key; only the name if it is absent
  std::string position(std::string_view path) const;

  /// Takes a value out, so that apply() does not see it. @throws Error for another type
  std::optional<std::string> take_string(std::string_view path);
  /// Takes a string out; other values stay.
  std::optional<std::string> take_if_string(std::string_view path);
  std::optional<Document> take_table(std::string_view path);
  /// Takes out the tables of a list [[path]]; empty if absent. @throws Error for another type
  std::vector<Document> take_rows(std::string_view path);
  /// A key with its successive values.
  struct Axis {
    std::string path;
    std::string position;
    std::vector<std::string> values;  ///< as TOML; not yet checked against a table of keys
  };
  /// Every entry, a list or a range {from, to, step}, as an axis, in the order of the file.
  /// @throws Error for other entries
  std::vector<Axis> axes() const;

  /// All values that have not been taken out, as JSON: for data whose keys are not known in advance.
  std::string json() const;

  /// Stores every value in its field. @throws Error for an unknown key, a wrong type or range
  /// @param origins gets the position of each key; can be null
  void apply(const KeyTable& keys, void* subject, Origins* origins = nullptr) const;

 private:
  struct Impl;
  explicit Document(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace offhook::config
