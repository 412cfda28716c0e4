// SPDX-License-Identifier: MIT
//
// Commands that say how the others are used.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/program/command/program.h"

namespace offhook::command {

/// "offhook measure latency"
std::string full_name(const CLI::App& app);

/// What a misspelt command or option should have been. @param of the command that was to know it
/// @return "'advis' is not a command of offhook; the nearest command is 'advise'; all of them: offhook --help"
std::string not_known(const CLI::App& of, const std::string& word);

/// The command that words name: {"measure", "latency"}; none: the app itself. @throws std::runtime_error of not_known()
const CLI::App& command_of(const CLI::App& app, const std::vector<std::string>& words);

/// A kind of file that people write, for `new` and `keys`.
struct FileKind {
  const char* name;  ///< "device"
  const char* used;  ///< "file of law and advise"
  std::string (*text)();
};
/// The argument KIND of a command: required, one of these.
void add_kind(CLI::App& command, std::string& kind, std::span<const FileKind> kinds);
/// @pre kind is one of them, as add_kind() has checked
std::string text_of(std::span<const FileKind> kinds, const std::string& kind);

void add_hosts(CLI::App& app, Action& action);
void add_new(CLI::App& app, Action& action);
void add_keys(CLI::App& app, Action& action);
void add_help(CLI::App& app, Action& action);

}  // namespace offhook::command
