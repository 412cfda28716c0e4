// SPDX-License-Identifier: MIT
//
// The command line of `offhook` as one CLI11 tree. Help, the man page and the shell completions are all made from it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "driver/base/text_output.h"
#include "src/program/command/option_words.h"

namespace offhook::command {

/// 0: the transfer succeeded; 1: error; 2: the call ran but the context did not suffice; 130: interrupted.
enum Exit { kOk = 0, kError = 1, kInsufficient = 2, kInterrupted = 130 };

/// What the selected subcommand does; set while the command line is parsed.
using Action = std::function<int()>;

/// A root app with every subcommand. @param action is set by parsing; must outlive the app
std::unique_ptr<CLI::App> make_app(Action& action);

/// @param shell "bash", "zsh" or "fish"
std::string completion(const CLI::App& app, const std::string& shell);

/// `--json [FILE.json]` and its kin: to standard output without a name. @param what  is written
void add_text_output(CLI::App& app, const TextOption& option, TextOutput& to, const std::string& what);

// One function a subcommand, each in a file of its own.
void add_run(CLI::App& app, Action& action);
void add_sweep(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_schedule(CLI::App& app, Action& action);
void add_reproduce(CLI::App& app, Action& action);
void add_advise(CLI::App& app, Action& action);
void add_admit(CLI::App& app, Action& action);
void add_law(CLI::App& app, Action& action);
void add_mttf(CLI::App& app, Action& action);
void add_demo(CLI::App& app, Action& action);
void add_modem(CLI::App& app, Action& action);
void add_devices(CLI::App& app, Action& action);
void add_measure(CLI::App& app, Action& action);
void add_trace(CLI::App& app, Action& action);
void add_line(CLI::App& app, Action& action);
void add_card(CLI::App& app, Action& action);
void add_kernel(CLI::App& app, Action& action);
void add_decode(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_man(CLI::App& app, Action& action);

}  // namespace offhook::command
