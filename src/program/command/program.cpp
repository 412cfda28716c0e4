// SPDX-License-Identifier: MIT
#include "src/program/command/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>
#include <vector>

#include "driver/base/colour.h"
#include "driver/base/left_behind.h"
#include "driver/base/nearest.h"
#include "driver/base/prose.h"
#include "driver/base/terminal.h"
#include "offhook/program.h"
#include "src/measure/kernel_trace.h"
#include "src/page/provenance.h"
#include "src/program/command/fax.h"
#include "src/program/command/guide.h"
#include "src/program/command/option_words.h"
#include "src/program/command/plugin.h"
#include "src/program/command/pool.h"
#include "src/program/command/trunk_test.h"
#include "src/program/command/version.h"
#include "traces/scenario/key.h"

namespace offhook::command {
namespace {

/// Every --help lists the exit statuses.
void say_statuses(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    const std::string footer = command->get_footer();
    command->footer(footer.substr(0, footer.find_last_not_of('\n') + 1));
    if (command->get_footer().find("Exit status:") == std::string::npos) {
      const bool has_limit = command->get_option_no_throw("--on-threshold") != nullptr;
      command->footer(
          fmt::format("{}\n\nExit status: 0 done, 1 error (described on standard error), {}130 interrupted.",
                      command->get_footer(), has_limit ? "2 threshold exceeded, " : ""));
    }
    say_statuses(*command);
  }
}

/// Help lists the commands by task. A command that is not named here appears under "Subcommands".
void group_commands(CLI::App& app) {
  struct Group {
    const char* title;
    std::vector<const char*> commands;
  };
  static const Group groups[] = {
      {"Start here", {"demo", "help"}},
      {"Advise and simulate", {"advise", "run", "sweep", "schedule", "mttf", "hosts", "reproduce"}},
      {"Calls", {"decode", "modem", "fax", "pool", "trunk-test", "line"}},
      {"This machine", {"measure", "devices", "trace"}},
      {"Files", {"compare", "report", "new"}},
  };
  for (const Group& group : groups)
    for (const char* command : group.commands) app.get_subcommand(command)->group(group.title);
}

/// For CLI11: empty, or why the file cannot be written.
std::string not_writable(const std::string& name) {
  try {
    if (name != "-") expect_writable(name);
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

/// Including subcommands: a file that is written at the end is refused immediately.
void refuse_unwritable_files(CLI::App& app) {
  for (const char* name : {"--html", "--hgrm", "--memo", "--profile", "--receive", "--record", "--log"}) {
    CLI::Option* option = app.get_option_no_throw(name);
    if (option != nullptr && option->get_type_name().starts_with("FILE"))
      option->check(CLI::Validator([](const std::string& file) { return not_writable(file); }, ""));
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) refuse_unwritable_files(*command);
}

}  // namespace

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

namespace {
std::string letters(const std::string& word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

/// "advise law" for "law": the path to the first command of this name below `of`; "" if there is none
std::string path_below(const CLI::App& of, const std::string& word) {
  for (const CLI::App* command : of.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == word) return word;
    if (const std::string path = path_below(*command, word); !path.empty())
      return fmt::format("{} {}", command->get_name(), path);
  }
  return {};
}
}  // namespace

std::string not_known(const CLI::App& of, const std::string& word) {
  const std::string name = full_name(of);
  const bool option = word.starts_with('-');
  std::vector<std::string> names;
  if (option) {
    for (const CLI::Option* known : of.get_options()) {
      for (const std::string& one : known->get_lnames()) names.push_back(fmt::format("--{}", one));
      for (const std::string& one : known->get_snames()) names.push_back(fmt::format("-{}", one));
    }
  } else {
    for (const CLI::App* command : of.get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(command->get_name());
  }
  const char* const noun = option ? "option" : "command";
  const std::string bare = letters(word.substr(0, word.find('=')));
  for (const CLI::Option* argument : of.get_options()) {
    if (option && argument->get_positional() && argument->get_name(true) == bare)
      return fmt::format("'{}' is a positional argument of {}; write it without dashes: {} {}; {} --help", word, name,
                         name, value_words(*argument).text(), name);
  }
  // Dashes do not count as similar letters.
  std::vector<std::string> bare_names(names.size());
  std::ranges::transform(names, bare_names.begin(), letters);
  const std::vector<std::string_view> candidates(bare_names.begin(), bare_names.end());
  const std::string_view found = nearest(bare, candidates);
  const std::string path = option ? "" : path_below(of, word);
  const std::string near =
      !path.empty()   ? path
      : found.empty() ? ""
                      : names[static_cast<std::size_t>(std::ranges::find(candidates, found) - candidates.begin())];
  return fmt::format("'{}' is not {} {} of {}{}; {} --help lists them", word, option ? "an" : "a", noun, name,
                     near.empty() ? "" : fmt::format("; the nearest {} is '{}'", noun, near), name);
}

namespace {

void add_commands(App& app, Action& action) {
  add_demo(app, action);
  add_help(app, action);
  add_advise(app, action);
  add_run(app, action);
  add_sweep(app, action);
  add_schedule(app, action);
  add_mttf(app, action);
  add_hosts(app, action);
  add_reproduce(app, action);
  add_decode(app, action);
  add_modem(app, action);
  add_fax(app, action);
  add_pool(app, action);
  add_trunk_test(app, action);
  add_line(app, action);
  add_measure(app, action);
  add_devices(app, action);
  add_trace(app, action);
  add_compare(app, action);
  add_report(app, action);
  add_new(app, action);
}

}  // namespace

std::unique_ptr<App> make_app(Action& action) {
  auto app = std::make_unique<App>(
      "Run soft modems on simulated and real hosts, find sufficient execution contexts, and decode recorded calls.",
      "offhook");
  CLI::App& cli = app->native();
  cli.set_version_flag("--version", version_text);
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->label("Positionals", "Arguments");
  cli.formatter(formatter);
  cli.option_defaults()->always_capture_default();
  app->require_subcommand(1);
  cli.add_option("--plugin", "Load a plug-in with pumps, policies or contexts; before the command; may be repeated")
      ->type_name("FILE.so");
  app->footer(R"(Examples:
  offhook demo
  offhook run examples/res-2-8.toml --out out/res-2-8
  offhook advise rt-audio nt2000-p2-450
  offhook modem null --seconds 3 --best-effort
  offhook decode examples/call.wav --html call.html
  offhook reproduce jones.table3
  offhook help run

Exit status:
  0    success
  1    error; one line on standard error describes it
  2    the command ran and the answer is no: a context is not sufficient, or a limit was exceeded
  130  interrupted; the data recorded so far are kept

Environment:
  OFFHOOK_DATA_DIR  folder that contains hosts/, profiles/ and published/ (default: that of the installation or source tree))");
  add_commands(*app, action);
  group_commands(cli);
  say_statuses(cli);
  refuse_empty_values(cli);
  refuse_unwritable_files(cli);
  return app;
}

void add_live_options(App& app, int& interrupt_priority, bool& best_effort) {
  app.add_option("--interrupt-priority", interrupt_priority,
                 "SCHED_FIFO priority of each interrupt thread (0: a normal thread)")
      ->type_name("N")
      ->check(in_range(0, 98));
  app.add_flag("--best-effort", best_effort, "Continue without missing privileges");
}

void add_text_output(App& app, const TextOption& option, TextOutput& to, const std::string& what) {
  app.add_option(std::string(option.name), to.path, what + " (without a file: to standard output, instead of the text)")
      ->type_name(fmt::format("[FILE{}]", option.ending))
      ->expected(0, 1)
      ->default_str("-")
      ->check(not_writable);
}

}  // namespace offhook::command

namespace offhook {

namespace {
Coloured error_head() {
  return {stderr, Tone::kBad, "offhook: error:"};
}

/// Parses the command line and runs its command.
int run_command(int argc, const char* const* argv) {
  const std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
  const CommandOfPages command_of_pages(shell_line("offhook", given));
  std::vector<std::string> words = with_text_outputs(given);
  command::load_plugins(words);  // before a word names what they add
  command::Action action;
  const auto app = command::make_app(action);
  CLI::App& cli = app->native();
  if (words.empty()) {
    say("{}", help_lines(cli.help()));
    return command::kOk;
  }
  try {
    std::reverse(words.begin(), words.end());  // in the order that CLI11 expects
    cli.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    say("{}", help_lines(cli.help()));
    return command::kOk;
  } catch (const CLI::CallForVersion& e) {
    say("{}\n", Lines(e.what()));
    return command::kOk;
  } catch (const CLI::ParseError& e) {
    say(stderr, "{} {}\n", error_head(), command::explain(cli, e));
    return command::kError;
  }
  return action();
}

/// The input of a command: the first word that is a file, otherwise a folder. "" if there is none
std::string input_of(int argc, const char* const* argv) {
  std::string folder;
  std::error_code ignored;
  for (int k = 2; k < argc; ++k) {
    if (std::filesystem::is_regular_file(argv[k], ignored)) return argv[k];
    if (folder.empty() && std::filesystem::is_directory(argv[k], ignored)) folder = argv[k];
  }
  return folder;
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  hold_standard_descriptors();
  const SignalHandlers handlers;
  catch_file_size_limit();
  remove_left_behind();
  measure::remove_stale_instances();
  try {
    const int status = run_command(argc, argv);
    expect_output_complete();
    return status;
  } catch (const std::system_error& e) {
    // The reader of a pipe has left: the status is the same with and without a handler for SIGPIPE.
    if (e.code() == std::errc::broken_pipe) return 128 + SIGPIPE;
    say(stderr, "{} {}\n", error_head(), e.what());
  } catch (const std::bad_alloc&) {
    const std::string input = input_of(argc, argv);
    say(stderr, "{} {}{}not enough memory\n", error_head(), input, input.empty() ? "" : ": ");
  } catch (const std::exception& e) {
    say(stderr, "{} {}\n", error_head(), e.what());
  }
  return command::kError;
}

}  // namespace offhook
