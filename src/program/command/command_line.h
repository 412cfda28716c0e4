// SPDX-License-Identifier: MIT
//
// A command line, as the commands of `offhook` describe theirs. CLI11 parses it, and only the files that include
// option_words.h see CLI11: its header costs the compiler 4 s in each file.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace offhook::command {

/// The check of an option's value.
struct Check {
  /// @return empty, or the error in the value
  using Function = std::function<std::string(const std::string& value)>;
  Function function;
  std::string words;  ///< allowed values as --help shows them: "{a,b}", "1 to 64"; may be empty

  template <std::convertible_to<Function> F>
  Check(F f, std::string shown = {}) : function(std::move(f)), words(std::move(shown)) {}
};

/// @return whether the whole word is a number of this type, which is then in `value`
bool parse_number(const std::string& word, int& value);
bool parse_number(const std::string& word, unsigned& value);
bool parse_number(const std::string& word, std::int64_t& value);
bool parse_number(const std::string& word, std::uint64_t& value);
bool parse_number(const std::string& word, double& value);

/// Permits the words in `names`. The error for another word names the nearest one.
Check one_of(std::vector<std::string> names);

/// Permits the numbers from `least` to `most`; only integers if these are.
template <typename Number>
Check in_range(Number least, Number most) {
  return {[=](const std::string& word) -> std::string {
            Number value{};
            if (parse_number(word, value) && least <= value && value <= most) return {};
            return fmt::format("\"{}\"; expected a {}number from {} to {}", word,
                               std::is_integral_v<Number> ? "whole " : "", least, most);
          },
          fmt::format("{} to {}", least, most)};
}

/// Permits integers from 0 to the largest that a file can have.
Check seed();

/// Permits existing folders.
Check existing_folder();

/// An option or an argument of a command. All functions return this option, so that calls can be chained.
class Option {
 public:
  explicit Option(CLI::Option* native) : native_(native) {}
  Option* type_name(const std::string& name);  ///< "FILE"; empty: none
  Option* required();
  Option* expected(int least, int most);  ///< numbers of values
  Option* delimiter(char between);        ///< separator of several values in one word
  Option* allow_extra_args(bool allowed);
  Option* default_str(const std::string& words);
  Option* check(const Check& check);
  Option* needs(Option* other);
  Option* excludes(Option* other);
  Option* excludes(const std::string& other);

 private:
  CLI::Option* native_;
};

/// A type that an option can set.
template <typename T>
concept OptionValue = std::same_as<T, std::string> || std::same_as<T, int> || std::same_as<T, unsigned> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t> || std::same_as<T, double> ||
    std::same_as<T, std::vector<std::string>> || std::same_as<T, std::vector<double>> ||
    std::same_as<T, std::vector<int>> || std::same_as<T, std::optional<int>> ||
    std::same_as<T, std::optional<double>> || std::same_as<T, std::optional<std::uint64_t>> ||
    std::same_as<T, std::optional<std::int64_t>>;

/// A command with its options and subcommands, all of which it owns.
class App {
 public:
  /// The root.
  App(const std::string& description, const std::string& name);
  explicit App(CLI::App* command);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  App* add_subcommand(const std::string& name, const std::string& description);
  /// @param name  "-o,--out", or "file" for an argument without dashes
  /// @param value  is set by parsing, and its current value is the default. It must outlive the parsing
  template <OptionValue T>
  Option* add_option(const std::string& name, T& value, const std::string& description);
  Option* add_flag(const std::string& name, bool& value, const std::string& description);
  Option* get_option(const std::string& name);
  void footer(const std::string& text);
  void require_subcommand(int least_and_most);
  /// If `least` is 0, the arguments that were added before are not required with a subcommand.
  void require_subcommand(int least, int most);
  /// Called when this command was parsed with all its options and without a subcommand. It may call missing().
  void final_callback(std::function<void()> f);

  CLI::App& native() const { return *native_; }

 private:
  Option* keep(CLI::Option* option);

  std::unique_ptr<CLI::App> root_;  ///< null for a subcommand
  CLI::App* native_;
  std::vector<std::unique_ptr<App>> commands_;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<CLI::Option*> needed_;  ///< required without a subcommand
};

/// Ends the parsing with an error: this argument is required.
[[noreturn]] void missing(const std::string& argument);

}  // namespace offhook::command
