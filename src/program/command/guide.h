// SPDX-License-Identifier: MIT
//
// Commands that say how the others are used.
#pragma once

#include "src/program/command/program.h"

namespace offhook::command {

/// What a misspelt command or option should have been. @param of the command that was to know it
/// @return "'advis' is not a command of offhook; the nearest command is 'advise'; all of them: offhook --help"
std::string not_known(const CLI::App& of, const std::string& word);

void add_new(CLI::App& app, Action& action);
void add_keys(CLI::App& app, Action& action);
void add_help(CLI::App& app, Action& action);

}  // namespace offhook::command
