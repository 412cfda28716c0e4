// SPDX-License-Identifier: MIT
#include "src/program/command/tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace offhook::command {
namespace {

OptionWords describe_option(const CLI::Option& option) {
  OptionWords words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  if (words.names.empty()) words.positional = option.get_name(true);
  words.help = option.get_description();
  words.required = option.get_required();
  words.repeated = option.get_items_expected_max() > 1;
  if (option.get_type_size_max() == 0) return words;  // a flag
  // CLI11 writes a validator as TYPE:{a,b}; that is where a value's choices stand.
  std::string type = option.get_type_name();
  if (const std::size_t open = type.find('{'), close = type.rfind('}');
      open != std::string::npos && close != std::string::npos && open < close) {
    const std::string list = type.substr(open + 1, close - open - 1);
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t comma = std::min(list.find(',', begin), list.size());
      words.choices.push_back(list.substr(begin, comma - begin));
      begin = comma + 1;
    }
  }
  words.value =
      words.choices.empty() ? type.substr(0, type.find(':')) : fmt::format("{}", fmt::join(words.choices, "|"));
  return words;
}

void describe(const CLI::App& app, std::vector<std::string> path, std::vector<CommandWords>& out) {
  path.push_back(app.get_name());
  CommandWords words{path, app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) words.options.push_back(describe_option(*option));
  const auto subcommands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* sub : subcommands) words.subcommands.push_back(sub->get_name());
  out.push_back(std::move(words));
  for (const CLI::App* sub : subcommands) describe(*sub, path, out);
}

}  // namespace

std::string CommandWords::joined() const {
  return fmt::format("{}", fmt::join(path, " "));
}

std::vector<CommandWords> describe_tree(const CLI::App& app) {
  std::vector<CommandWords> out;
  describe(app, {}, out);
  return out;
}

}  // namespace offhook::command
