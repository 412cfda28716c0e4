// SPDX-License-Identifier: MIT
//
// What options take, in words: for --help, and for what is wrong with a command line.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace offhook::command {

/// What takes one of `names`; another word is refused with the nearest of them.
CLI::Validator one_of(std::vector<std::string> names);

/// A number, `least` and `most` among them; a whole one if they are.
template <typename Number>
CLI::Validator in_range(Number least, Number most) {
  std::string range = fmt::format("{} to {}", least, most);
  return {[=](const std::string& word) -> std::string {
            Number value{};
            if (CLI::detail::lexical_cast(word, value) && least <= value && value <= most) return {};
            return fmt::format("\"{}\"; expected a {}number from {} to {}", word,
                               std::is_integral_v<Number> ? "whole " : "", least, most);
          },
          std::move(range)};
}

/// A whole number, 0 to the greatest that a file can have.
CLI::Validator seed();

/// Makes every option and argument, also of the commands below, refuse an empty value: a script's variable that is not
/// set.
void refuse_empty_values(CLI::App& app);

/// Of an option's value.
struct ValueWords {
  std::string value;                 ///< "DIR"; empty for a flag
  std::vector<std::string> choices;  ///< when it is one of a few
  std::string range;                 ///< "1 to 64", or empty
  /// "N (1 to 64)", "call|answer"
  std::string text() const;
};
ValueWords value_words(const CLI::Option& option);

/// "(default: 60)", of the variable that the option sets; empty where there is none, where it is 0 or empty, which is
/// "not asked for", or where the description says it in words.
std::string default_words(const CLI::Option& option);

/// Of --help.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override;
};

/// What was wrong with the command line.
std::string explain(const CLI::App& root, const CLI::ParseError& error);

}  // namespace offhook::command
