// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "driver/base/prose.h"
#include "driver/base/terminal.h"
#include "src/program/command/guide.h"
#include "src/program/command/option_words.h"

namespace offhook::command {

void add_kind(App& command, std::string& kind, std::span<const FileKind> kinds) {
  std::vector<std::string> names;
  std::string description;
  for (const FileKind& one : kinds) {
    names.emplace_back(one.name);
    description += fmt::format("{}{} ({})", description.empty() ? "" : ", ", one.name, one.used);
  }
  command.add_option("kind", kind, description)->required()->type_name("KIND")->check(one_of(names));
}

std::string text_of(std::span<const FileKind> kinds, const std::string& kind) {
  return std::ranges::find(kinds, kind, &FileKind::name)->text();
}

namespace {
const CLI::App& command_of(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* of = &app;
  for (const std::string& word : words) {
    const auto known = of->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
    if (known.empty()) throw std::runtime_error(not_known(*of, word));
    of = known.front();
  }
  return *of;
}
}  // namespace

std::string named_command(const App& app, const std::vector<std::string>& words) {
  return full_name(command_of(app.native(), words));
}

void add_help(App& app, Action& action) {
  App* help = app.add_subcommand("help", "Print the help of a command, keys of files, man pages or completions");
  auto words = std::make_shared<std::vector<std::string>>();
  help->add_option("command", *words, "Command, such as run or measure latency")->type_name("COMMAND");
  help->footer(
      "Examples:\n  offhook help\n  offhook help run\n  offhook help measure latency\n"
      "  offhook help keys scenario context.");
  help->require_subcommand(0, 1);
  add_keys(*help, action);
  add_man(app, *help, action);
  add_completion(app, *help, action);
  help->final_callback([&app, &action, words] {
    action = [&app, words] {
      const CLI::App* const of = &command_of(app.native(), *words);
      // CLI::App::help() would print the help of the command that was parsed, which is `help`.
      say("{}", help_lines(of->get_formatter()->make_help(of, full_name(*of), CLI::AppFormatMode::Normal)));
      return kOk;
    };
  });
}

}  // namespace offhook::command
