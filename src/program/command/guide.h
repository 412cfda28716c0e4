// SPDX-License-Identifier: MIT
//
// Commands that explain the others.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/program/command/program.h"

namespace offhook::command {

/// The full name of the command that the words name: {"measure", "latency"}; without words, the app itself.
/// @throws std::runtime_error with the nearest command
std::string named_command(const App& app, const std::vector<std::string>& words);

/// A kind of file that people write, for `new` and `help keys`.
struct FileKind {
  const char* name;  ///< "device"
  const char* used;  ///< "host file, for advise"
  std::string (*text)();
};
/// The kinds of files, tables and documents that `offhook help keys` describes.
std::span<const FileKind> described_kinds();
/// The argument KIND of a command: required, one of these.
void add_kind(App& command, std::string& kind, std::span<const FileKind> kinds);
/// @pre kind is one of them, as checked by add_kind()
std::string text_of(std::span<const FileKind> kinds, const std::string& kind);

void add_hosts(App& app, Action& action);
void add_new(App& app, Action& action);
void add_help(App& app, Action& action);
void add_keys(App& help, Action& action);

}  // namespace offhook::command
