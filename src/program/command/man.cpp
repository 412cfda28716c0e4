// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>

#include "src/program/command/program.h"
#include "src/program/command/tree.h"
#include "src/program/output/terminal.h"

namespace offhook::command {
namespace {

std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (i == 0 || text[i - 1] == '\n')) {
      out += "\\&";
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string synopsis(const CommandWords& command) {
  std::string out = fmt::format(".B {}\n", roff(command.joined()));
  for (const OptionWords& option : command.options) {
    if (!option.names.empty()) continue;
    out += option.required ? fmt::format("\\fI{}\\fR\n", roff(option.value))
                           : fmt::format("[\\fI{}\\fR]\n", roff(option.value));
  }
  if (!command.subcommands.empty()) out += "\\fICOMMAND\\fR\n";
  return out + "[\\fIOPTION\\fR ...]\n";
}

std::string option_list(const CommandWords& command) {
  std::string out;
  for (const OptionWords& option : command.options) {
    std::string head;
    for (const std::string& name : option.names) {
      head += fmt::format("{}\\fB{}\\fR", head.empty() ? "" : ", ", roff(name));
    }
    if (!option.value.empty()) head += fmt::format("{}\\fI{}\\fR", head.empty() ? "" : " ", roff(option.value));
    out += fmt::format(".TP\n{}\n{}{}\n", head, roff(option.help), option.repeated ? " (may be repeated)" : "");
  }
  return out;
}

std::string literal(std::string_view text) {
  return text.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", roff(text));
}

}  // namespace

std::string man_page(const CLI::App& app) {
  const std::vector<CommandWords> tree = describe_tree(app);
  const CommandWords& root = tree.front();
  std::string out = fmt::format(".TH OFFHOOK 1 \"\" \"offhook {}\" \"User Commands\"\n", OFFHOOK_VERSION);
  out += fmt::format(".SH NAME\noffhook \\- {}\n", roff(root.help));
  out += ".SH SYNOPSIS\n" + synopsis(root);
  out += ".SH OPTIONS\n" + option_list(root);
  out += ".SH COMMANDS\n";
  for (std::size_t i = 1; i < tree.size(); ++i) {
    out += fmt::format(".SS {}\n", roff(tree[i].joined()));
    out += synopsis(tree[i]) + fmt::format(".PP\n{}\n", roff(tree[i].help)) + option_list(tree[i]) +
           literal(tree[i].footer);
  }
  return out + ".SH NOTES\n" + literal(root.footer);
}

void add_man(CLI::App& app, Action& action) {
  CLI::App* man = app.add_subcommand("man", "Print the man page in roff");
  man->footer("Examples:\n  offhook man | man -l -");
  man->final_callback([&app, &action] {
    action = [&app] {
      say("{}", Lines(man_page(app)));
      return kOk;
    };
  });
}

}  // namespace offhook::command
