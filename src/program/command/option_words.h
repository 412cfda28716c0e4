// SPDX-License-Identifier: MIT
//
// The arguments of options in words: for --help, and for errors in a command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "src/program/command/command_line.h"

namespace offhook::command {

/// "offhook measure latency"
std::string full_name(const CLI::App& app);

/// Suggests the correct name for a misspelt command or option. @param of the command in which it was expected
/// @return "'advis' is not a command of offhook; the nearest command is 'advise'; all of them: offhook --help"
std::string not_known(const CLI::App& of, const std::string& word);

/// Makes every option and argument, also of subcommands, refuse an empty value, for example an unset variable of a
/// script.
void refuse_empty_values(CLI::App& app);

/// Description of an option's value.
struct ValueWords {
  std::string value;                 ///< "DIR"; empty for a flag
  std::vector<std::string> choices;  ///< if the value is one of a few
  std::string range;                 ///< "1 to 64", or empty
  /// "N (1 to 64)", "call|answer"
  std::string text() const;
};
ValueWords value_words(const CLI::Option& option);

/// "(default: 60)", from the variable that the option sets. Empty if there is no variable, if its value is 0 or empty
/// ("no value"), or if the description contains it.
std::string default_words(const CLI::Option& option);

/// Text of --help.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override;
};

/// The error in the command line.
std::string explain(const CLI::App& root, const CLI::ParseError& error);

}  // namespace offhook::command
