// SPDX-License-Identifier: MIT
//
// The tree of commands in the few words that the man page and the completions need.
#pragma once

#include <string>
#include <vector>

#include "src/program/command/command_line.h"

namespace offhook::command {

struct OptionWords {
  std::vector<std::string> names;    ///< "-o", "--out"; empty for a positional argument
  std::string positional;            ///< "SCENARIO"
  std::string value;                 ///< "DIR"; empty for a flag
  std::vector<std::string> choices;  ///< if the value is one of a few
  std::string help;
  bool required = false;
  bool repeated = false;
};

struct CommandWords {
  std::vector<std::string> path;  ///< "offhook", "sweep", "plan"
  std::string help, footer;
  std::vector<OptionWords> options;  ///< in order, with --help first
  std::vector<std::string> subcommands;
  std::string joined() const;  ///< "offhook sweep plan"
};

/// The root first, then all subcommands, depth first.
std::vector<CommandWords> describe_tree(const App& app);

}  // namespace offhook::command
