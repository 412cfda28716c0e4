// SPDX-License-Identifier: MIT
#include "src/program/command/tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/program/command/option_words.h"

namespace offhook::command {
namespace {

OptionWords describe_option(const CLI::Option& option) {
  OptionWords words;
  for (const std::string& name : option.get_snames()) words.names.push_back(fmt::format("-{}", name));
  for (const std::string& name : option.get_lnames()) words.names.push_back(fmt::format("--{}", name));
  if (words.names.empty()) words.positional = option.get_name(true);
  words.help = option.get_description();
  words.required = option.get_required();
  words.repeated = option.get_items_expected_max() > 1;
  const ValueWords value = value_words(option);
  words.choices = value.choices;
  words.value = value.choices.empty() ? value.value : value.text();
  if (!value.range.empty()) words.help += fmt::format(" ({})", value.range);
  if (const std::string by_default = default_words(option); !by_default.empty()) words.help += " " + by_default;
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

std::vector<CommandWords> describe_tree(const App& app) {
  std::vector<CommandWords> out;
  describe(app.native(), {}, out);
  return out;
}

}  // namespace offhook::command
