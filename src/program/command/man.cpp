// SPDX-License-Identifier: MIT
//
// Man pages: offhook(1) with the list of commands, one page per command, offhook-run(1), as in git, and one page per
// kind of file, offhook-scenario(5).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "src/program/command/guide.h"
#include "src/program/command/program.h"
#include "src/program/command/tree.h"

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

/// "offhook-measure-latency"
std::string page_name(const CommandWords& command) {
  return fmt::format("{}", fmt::join(command.path, "-"));
}

std::string reference(const std::string& page) {
  return fmt::format("\\fB{}\\fR(1)", roff(page));
}

std::string head(const CommandWords& command) {
  std::string title = page_name(command);
  std::ranges::transform(title, title.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return fmt::format(".TH {} 1 \"\" \"offhook {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", roff(title),
                     OFFHOOK_VERSION, roff(page_name(command)), roff(command.help));
}

std::string synopsis(const CommandWords& command) {
  std::string out = fmt::format(".SH SYNOPSIS\n.B {}\n", roff(command.joined()));
  for (const OptionWords& option : command.options) {
    if (!option.names.empty()) continue;
    out += option.required ? fmt::format("\\fI{}\\fR\n", roff(option.value))
                           : fmt::format("[\\fI{}\\fR]\n", roff(option.value));
  }
  const bool has_arguments = std::ranges::any_of(command.options, [](const auto& one) { return one.names.empty(); });
  if (!command.subcommands.empty()) out += has_arguments ? "[\\fICOMMAND\\fR]\n" : "\\fICOMMAND\\fR\n";
  return out + "[\\fIOPTION\\fR ...]\n";
}

std::string option_list(const CommandWords& command) {
  std::string out = ".SH OPTIONS\n";
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

/// Every subcommand, with its line and the name of its page.
std::string command_list(const std::vector<CommandWords>& tree, const CommandWords& above) {
  std::string out;
  for (const CommandWords& command : tree) {
    const bool below = command.path.size() > above.path.size() &&
                       std::equal(above.path.begin(), above.path.end(), command.path.begin());
    if (!below) continue;
    out += fmt::format(".TP\n{}\n{}\n", reference(page_name(command)), roff(command.help));
  }
  return out.empty() ? "" : ".SH COMMANDS\n" + out;
}

std::vector<std::string_view> paragraphs(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    if (end > 0) out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return out;
}

/// Prose is filled to the reader's width, but indented lines are kept.
std::string paragraph(std::string_view text) {
  const bool keeps_lines = text.starts_with(' ') || text.find("\n ") != std::string_view::npos;
  return keeps_lines ? fmt::format(".PP\n.nf\n{}\n.fi\n", roff(text)) : fmt::format(".PP\n{}\n", roff(text));
}

/// The text below the options in --help, as sections of a page.
std::string footer(std::string_view text) {
  constexpr std::pair<std::string_view, const char*> kSections[] = {
      {"Examples:", "EXAMPLES"}, {"Exit status:", "EXIT STATUS"}, {"Environment:", "ENVIRONMENT"}};
  std::string out, notes;
  for (std::string_view part : paragraphs(text)) {
    const auto* section = std::ranges::find_if(kSections, [&](const auto& one) { return part.starts_with(one.first); });
    if (section == std::end(kSections)) {
      notes += paragraph(part);
      continue;
    }
    part.remove_prefix(section->first.size());
    part.remove_prefix(std::min(part.find_first_not_of(part.starts_with('\n') ? "\n" : " "), part.size()));
    out += fmt::format(".SH {}\n{}", section->second, paragraph(part));
  }
  return out + (notes.empty() ? "" : ".SH NOTES\n" + notes);
}

std::string see_also(const std::vector<CommandWords>& tree, const CommandWords& command) {
  if (command.path.size() == 1) return "";
  std::vector<std::string> pages;
  for (const CommandWords& other : tree) {
    const bool above = other.path.size() < command.path.size() &&
                       std::equal(other.path.begin(), other.path.end(), command.path.begin());
    if (above) pages.push_back(reference(page_name(other)));
  }
  return fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

std::string man_page(const std::vector<CommandWords>& tree, const CommandWords& command) {
  return head(command) + synopsis(command) + option_list(command) + command_list(tree, command) +
         footer(command.footer) + see_also(tree, command);
}

/// offhook-scenario(5) and similar pages: the keys of one kind of file.
std::string file_page_name(const FileKind& kind) {
  return fmt::format("offhook-{}", kind.name);
}

std::string file_page(const FileKind& kind) {
  std::string title = file_page_name(kind);
  std::ranges::transform(title, title.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return fmt::format(
      ".TH {} 5 \"\" \"offhook {}\" \"File Formats\"\n.SH NAME\n{} \\- {}\n.SH DESCRIPTION\n"
      "\\fBoffhook help keys {}\\fR prints this list.\n.PP\n.nf\n{}.fi\n.SH SEE ALSO\n{},\n{}\n",
      roff(title), OFFHOOK_VERSION, roff(file_page_name(kind)), roff(kind.used), roff(kind.name), roff(kind.text()),
      reference("offhook"), reference("offhook-help-keys"));
}

/// @throws std::runtime_error with the nearest kind
const CommandWords& find(const App& app, const std::vector<CommandWords>& tree, const std::vector<std::string>& words) {
  const std::string name = named_command(app, words);
  return *std::ranges::find_if(tree, [&](const CommandWords& one) { return one.joined() == name; });
}

}  // namespace

void add_man(App& app, App& help, Action& action) {
  struct Options {
    std::vector<std::string> words;
    std::string out;
  };
  App* man = help.add_subcommand("man", "Print a man page in roff, for offhook or for one command");
  auto options = std::make_shared<Options>();
  Option* of =
      man->add_option("command", options->words, "Command, such as run or measure latency")->type_name("COMMAND");
  man->add_option("-o,--out", options->out,
                  "Write all pages into this folder: offhook.1, offhook-run.1, offhook-scenario.5 and so on")
      ->type_name("DIR")
      ->excludes(of);
  man->footer(
      "Examples:\n  offhook help man | man -l -\n  offhook help man measure latency | man -l -\n"
      "  offhook help man --out out/man");
  man->final_callback([&app, &action, options] {
    action = [&app, options] {
      const std::vector<CommandWords> tree = describe_tree(app);
      if (options->out.empty()) {
        say("{}", Lines(man_page(tree, find(app, tree, options->words))));
        return kOk;
      }
      const OutputFolder folder(options->out);
      for (const CommandWords& command : tree) folder.write(page_name(command) + ".1", man_page(tree, command));
      for (const FileKind& kind : described_kinds()) folder.write(file_page_name(kind) + ".5", file_page(kind));
      return kOk;
    };
  });
}

}  // namespace offhook::command
