// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "driver/base/terminal.h"
#include "src/program/command/program.h"
#include "src/program/command/tree.h"
#include "traces/scenario/data.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

bool takes_path(const OptionWords& option) {
  constexpr std::string_view kPaths[] = {"FILE", ".toml", ".json", "DIR", "RECORDING", "TRACE", "PATH"};
  return std::ranges::any_of(kPaths,
                             [&](std::string_view part) { return option.value.find(part) != std::string::npos; });
}

bool may_lack_value(const OptionWords& option) {
  return option.value.starts_with('[');
}

bool is_assignment(const OptionWords& option) {
  return option.value.ends_with("KEY=VALUE");
}

/// Keys of a scenario, such as "line.loss_db=". @param lines  only those of line, trunk and loop
std::vector<std::string> assignments(bool lines) {
  std::vector<std::string> keys;
  for (const config::Key& key : config::scenario_keys()) {
    const bool of_line =
        key.path.starts_with("line.") || key.path.starts_with("trunk.") || key.path.starts_with("loop.");
    if (of_line || !lines) keys.push_back(fmt::format("{}=", key.path));
  }
  return keys;
}

/// Values that an option or a positional argument accepts: its choices, names of shipped devices and hosts, contexts,
/// or the keys of a scenario.
std::vector<std::string> value_words(const OptionWords& option) {
  if (is_assignment(option)) return assignments(option.value != "KEY=VALUE");
  if (option.value.starts_with("CONTEXT"))
    return {"INT",     "DPC",   "SOFTIRQ", "THREADED", "WORKER",     "THR 24",
            "FIFO 50", "RR 10", "OTHER",   "RES 2/8",  "RES 2ms/8ms"};
  if (option.value == "HOST" && option.help.starts_with("kernel")) return {"kernel"};
  const bool output = std::ranges::find(option.names, "--out") != option.names.end();
  try {
    if (option.value.starts_with("HOST") && !output) return config::data_names("hosts");
    if (option.value.starts_with("DEVICE")) return config::data_names("devices");
  } catch (const config::Error&) {  // completion must work even if the data do not
  }
  return option.choices;
}

/// One word of a list for a shell, with escaped blanks.
std::string list_of(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    std::string one;
    for (const char c : word) one += c == ' ' ? "\\ " : std::string(1, c);
    out.push_back(one);
  }
  return fmt::format("{}", fmt::join(out, " "));
}

/// Patterns of every subcommand's path: "offhook run"|"offhook sweep"|...
std::string paths(const std::vector<CommandWords>& tree) {
  std::vector<std::string> out;
  for (std::size_t i = 1; i < tree.size(); ++i) out.push_back(fmt::format("\"{}\"", tree[i].joined()));
  return fmt::format("{}", fmt::join(out, "|"));
}

std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

/// Within single quotes of zsh: the quote ends them, is escaped, and begins them again.
std::string zsh_escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : escaped(text, special)) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

std::string bash(const std::vector<CommandWords>& tree) {
  std::string after, words;
  for (const CommandWords& command : tree) {
    std::vector<std::string> all = command.subcommands;
    bool files = false;
    for (const OptionWords& option : command.options) {
      all.insert(all.end(), option.names.begin(), option.names.end());
      const std::vector<std::string> values = value_words(option);
      if (option.names.empty()) {
        all.insert(all.end(), values.begin(), values.end());
        files = files || takes_path(option);
      } else if (!option.value.empty()) {
        std::vector<std::string> patterns;
        for (const std::string& name : option.names)
          patterns.push_back(fmt::format("\"{} {}\"", command.joined(), name));
        const char* what = takes_path(option) ? "-f" : "";
        after += fmt::format("    {}) {}mapfile -t COMPREPLY < <(compgen {} -W '{}' -- \"$cur\"); return ;;\n",
                             fmt::join(patterns, "|"), is_assignment(option) ? "compopt -o nospace; " : "", what,
                             list_of(values));
      }
    }
    words += fmt::format("    \"{}\") mapfile -t COMPREPLY < <(compgen {} -W '{}' -- \"$cur\") ;;\n", command.joined(),
                         files ? "-f" : "", list_of(all));
  }
  return fmt::format(R"sh(# bash completion for offhook: eval "$(offhook help completion bash)"
_offhook() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} at=offhook i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at ${{COMP_WORDS[i]}}" in {}) at="$at ${{COMP_WORDS[i]}}" ;; esac
  done
  case "$at $prev" in
{}  esac
  case "$at" in
{}  esac
}}
complete -o filenames -F _offhook offhook
)sh",
                     paths(tree), after, words);
}

std::string zsh(const std::vector<CommandWords>& tree) {
  std::string cases;
  for (const CommandWords& command : tree) {
    std::vector<std::string> specs;
    bool takes_first = true;
    for (const OptionWords& option : command.options) {
      const std::vector<std::string> values = value_words(option);
      const std::string complete = !values.empty()      ? fmt::format("({})", list_of(values))
                                   : takes_path(option) ? std::string("_files")
                                                        : std::string();
      const std::string help = zsh_escaped(option.help, "[]:\\");
      if (option.names.empty()) {
        // The first word after a command with subcommands is one of these, or the argument.
        if (takes_first && !command.subcommands.empty())
          specs.push_back(fmt::format("'1:{}:{{_alternative \"commands:command:({})\" \"arguments:argument:{}\"}}'",
                                      escaped(option.value, ":"), fmt::join(command.subcommands, " "),
                                      complete.empty() ? " " : complete));
        if (!takes_first || command.subcommands.empty() || option.repeated)
          specs.push_back(fmt::format("'{}:{}:{}'", option.repeated ? "*" : "", escaped(option.value, ":"), complete));
        takes_first = false;
      }
      for (const std::string& name : option.names) {
        specs.push_back(option.value.empty()
                            ? fmt::format("'{}[{}]'", name, help)
                            : fmt::format("'{}{}[{}]{}:{}:{}'", option.repeated ? "*" : "", name, help,
                                          may_lack_value(option) ? ":" : "", escaped(option.value, ":"), complete));
      }
    }
    if (!command.subcommands.empty() && takes_first)
      specs.push_back(fmt::format("'1:command:({})'", fmt::join(command.subcommands, " ")));
    cases += fmt::format("    (\"{}\") _arguments -s {} ;;\n", command.joined(), fmt::join(specs, " "));
  }
  return fmt::format(R"sh(#compdef offhook
# zsh completion for offhook: put it into a folder of $fpath as _offhook
_offhook() {{
  local at=offhook
  local -i i depth=1
  for ((i = 2; i < CURRENT; i++)); do
    case "$at $words[i]" in ({}) at="$at $words[i]"; depth=i ;; esac
  done
  (( CURRENT -= depth - 1 ))
  shift $((depth - 1)) words
  case "$at" in
{}  esac
}}
if [ "$funcstack[1]" = "_offhook" ]; then _offhook "$@"; else compdef _offhook offhook; fi
)sh",
                     paths(tree), cases);
}

std::string fish(const std::vector<CommandWords>& tree) {
  std::string out = R"sh(# fish completion for offhook: offhook help completion fish | source
function __offhook_at
    set -l at offhook
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
            case )sh";
  std::vector<std::string> all;
  for (std::size_t i = 1; i < tree.size(); ++i) all.push_back(fmt::format("'{}'", tree[i].joined()));
  out +=
      fmt::format("{}\n                set at \"$at $word\"\n        end\n    end\n    test \"$at\" = \"$argv\"\nend\n",
                  fmt::join(all, " "));
  out += "complete -c offhook -f\n";
  for (const CommandWords& command : tree) {
    const std::string when = fmt::format("complete -c offhook -n '__offhook_at {}'", command.joined());
    for (const std::string& sub : command.subcommands) {
      for (const CommandWords& other : tree) {
        if (other.joined() == command.joined() + " " + sub) {
          out += fmt::format("{} -a {} -d '{}'\n", when, sub, escaped(other.help, "'\\"));
        }
      }
    }
    for (const OptionWords& option : command.options) {
      std::string line = when;
      for (const std::string& name : option.names) {
        line += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
      }
      if (takes_path(option)) line += " -F";
      if (!option.names.empty() && !option.value.empty() && !may_lack_value(option)) line += " -r";
      const std::vector<std::string> values = value_words(option);
      if (!values.empty()) line += fmt::format(" -a '{}'", list_of(values));
      out += fmt::format("{} -d '{}'\n", line, escaped(option.help, "'\\"));
    }
  }
  return out;
}

}  // namespace

std::string completion(const App& app, const std::string& shell) {
  const std::vector<CommandWords> tree = describe_tree(app);
  if (shell == "bash") return bash(tree);
  if (shell == "zsh") return zsh(tree);
  return fish(tree);
}

void add_completion(App& app, App& help, Action& action) {
  App* sub = help.add_subcommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  sub->add_option("shell", *shell, "The shell")->required()->check(one_of({"bash", "zsh", "fish"}));
  sub->footer("Examples:\n  eval \"$(offhook help completion bash)\"\n  offhook help completion fish | source");
  sub->final_callback([&app, &action, shell] {
    action = [&app, shell] {
      say("{}", Lines(completion(app, *shell)));
      return kOk;
    };
  });
}

}  // namespace offhook::command
