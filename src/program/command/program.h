// SPDX-License-Identifier: MIT
//
// The command line of `offhook` as one tree. Help, the man page and the shell completions are all made from it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "driver/base/text_output.h"
#include "src/program/command/command_line.h"

namespace offhook::command {

/// 0: the transfer succeeded; 1: error; 2: the call ran but the context was not sufficient; 130: interrupted.
enum Exit { kOk = 0, kError = 1, kInsufficient = 2, kInterrupted = 130 };

/// The action of the selected subcommand, set while the command line is parsed.
using Action = std::function<int()>;

/// A root app with all subcommands. @param action is set by parsing, and must outlive the app
std::unique_ptr<App> make_app(Action& action);

/// @param shell "bash", "zsh" or "fish"
std::string completion(const App& app, const std::string& shell);

/// `--json [FILE.json]` and similar options: without a name, to standard output. @param what  describes the content
void add_text_output(App& app, const TextOption& option, TextOutput& to, const std::string& what);

/// `--interrupt-priority N` and `--best-effort` of a command that runs live cards.
void add_live_options(App& app, int& interrupt_priority, bool& best_effort);

// One function per command, each in a separate file.
void add_run(App& app, Action& action);
void add_sweep(App& app, Action& action);
void add_report(App& app, Action& action);
void add_compare(App& app, Action& action);
void add_schedule(App& app, Action& action);
void add_reproduce(App& app, Action& action);
void add_advise(App& app, Action& action);
void add_mttf(App& app, Action& action);
void add_demo(App& app, Action& action);
void add_modem(App& app, Action& action);
void add_devices(App& app, Action& action);
void add_measure(App& app, Action& action);
void add_trace(App& app, Action& action);
void add_line(App& app, Action& action);
void add_decode(App& app, Action& action);

// Subcommands in separate files. @param app  the tree that the subcommand describes
void add_law(App& advise, Action& action);
void add_admit(App& advise, Action& action);
void add_export(App& report, Action& action);
void add_card(App& line, Action& action);
void add_kernel(App& modem, Action& action);
void add_man(App& app, App& help, Action& action);
void add_completion(App& app, App& help, Action& action);

}  // namespace offhook::command
