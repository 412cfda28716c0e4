// SPDX-License-Identifier: MIT
#include "src/program/command/option_words.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "driver/base/nearest.h"
#include "driver/base/text_output.h"
#include "src/program/command/guide.h"
#include "traces/scenario/key.h"

namespace offhook::command {
namespace {

std::vector<std::string> split(std::string_view list, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(at, begin), list.size());
    parts.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Whether a word without dashes is the name of a subcommand of this command, not an argument.
bool takes_commands_only(const CLI::App& app) {
  return !app.get_subcommands([](const CLI::App*) { return true; }).empty() &&
         app.get_options([](const CLI::Option* option) { return option->get_positional(); }).empty();
}

std::string commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The missing part: the first absent required argument, the argument that a command itself requires ("GRID.toml is
/// required"), or a command.
std::string what_is_missing(const CLI::App& app, const std::string& message) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_required() && option->count() == 0)
      return fmt::format("{} needs {}; {} --help", full_name(app), value_words(*option).text(), full_name(app));
  }
  if (message.find("subcommand") != std::string::npos)
    return fmt::format("{} needs a command: {}", full_name(app), commands_of(app));
  return fmt::format("{} needs {}; {} --help", full_name(app), message.substr(0, message.find(" is required")),
                     full_name(app));
}

/// A message of CLI11 that begins with an option's name, and the words after it.
struct AboutOption {
  const CLI::Option* option = nullptr;
  std::string name, rest;
};
AboutOption about_option(const CLI::App& app, const std::string& message) {
  const std::size_t colon = message.find(": ");
  if (colon == std::string::npos) return {};
  AboutOption about{app.get_option_no_throw(message.substr(0, colon)), message.substr(0, colon),
                    message.substr(colon + 2)};
  return about;
}

std::string mismatch(const CLI::App& app, const std::string& message) {
  const AboutOption about = about_option(app, message);
  if (about.option == nullptr) return message;
  if (about.rest.starts_with("At Most"))
    return fmt::format("{}: expected at most {}; {} --help", about.name, about.option->get_items_expected_max(),
                       full_name(app));
  return fmt::format("{} needs {}", about.name, value_words(*about.option).text());
}

/// "Could not convert: --seed = abc": CLI11 could not read a number.
std::string not_converted(const std::string& message) {
  const std::size_t colon = message.find(": "), equals = message.find(" = ");
  if (colon == std::string::npos || equals == std::string::npos || equals < colon) return message;
  return fmt::format("{}: \"{}\"; expected a number", message.substr(colon + 2, equals - colon - 2),
                     message.substr(equals + 3));
}

// After `--json d` the user may have meant a file.
std::string ending_of_a_file(const CLI::App& app) {
  for (const TextOption& option : {kJsonOption, kCsvOption, kPerfettoOption}) {
    const CLI::Option* given = app.get_option_no_throw(std::string(option.name));
    if (given != nullptr && given->results() == std::vector<std::string>{"-"})
      return fmt::format(" (the name of a file for {} must end in {})", option.name, option.ending);
  }
  return "";
}
}  // namespace

Check one_of(std::vector<std::string> names) {
  const std::string all = fmt::format("{}", fmt::join(names, ","));
  return {[names = std::move(names)](const std::string& word) -> std::string {
            if (std::ranges::find(names, word) != names.end()) return {};
            const std::vector<std::string_view> candidates(names.begin(), names.end());
            return fmt::format("\"{}\"{}; expected one of {}", word, the_nearest(word, candidates),
                               fmt::join(names, ", "));
          },
          fmt::format("{{{}}}", all)};
}

Check seed() {
  return {[](const std::string& word) -> std::string {
            std::int64_t value = 0;
            if (parse_number(word, value) && value >= 0) return {};
            return fmt::format("\"{}\"; expected a whole number, 0 or more", word);
          },
          ""};
}

void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](CLI::Option* o) { return o->get_type_size_max() > 0; })) {
    option->check(CLI::Validator(
        [option](const std::string& word) {
          return word.empty() ? fmt::format("\"\"; expected {}", value_words(*option).text()) : std::string();
        },
        ""));
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) refuse_empty_values(*command);
}

std::string ValueWords::text() const {
  if (!choices.empty()) return fmt::format("{}", fmt::join(choices, "|"));
  return range.empty() ? value : fmt::format("{} ({})", value, range);
}

// CLI11 prints a validator as TYPE:{a,b} or as TYPE:1 to 64.
ValueWords value_words(const CLI::Option& option) {
  if (option.get_type_size_max() == 0) return {};
  const std::string type = option.get_type_name();
  // A type name may contain a colon (unix:PATH); a check that is named like its value adds nothing.
  const std::size_t colon = type.find(':');
  const std::string limit = colon == std::string::npos ? "" : type.substr(colon + 1);
  const std::string name = type.substr(0, colon);
  const bool is_limit = limit.starts_with('{') || limit.find(" to ") != std::string::npos;
  if (!is_limit) return {limit == name ? name : type, {}, {}};
  ValueWords words{name, {}, {}};
  if (limit.starts_with('{') && limit.ends_with('}')) {
    words.choices = split(std::string_view(limit).substr(1, limit.size() - 2), ',');
  } else {
    words.range = limit;
  }
  return words;
}

std::string default_words(const CLI::Option& option) {
  std::string by_default = option.get_default_str();
  std::erase_if(by_default, [](char c) { return c == '[' || c == ']'; });
  // For an optional value, "-" means standard output.
  const bool said = option.get_description().find("(default: ") != std::string::npos;
  if (by_default.empty() || by_default == "-" || by_default == "0" || said) return "";
  return fmt::format("(default: {})", by_default);
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  std::string out;
  const std::string value = value_words(*option).text();
  if (!value.empty()) {
    out += fmt::format(" {}", value);
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) out += " ...";
    if (const std::string by_default = default_words(*option); !by_default.empty()) out += " " + by_default;
    if (option->get_required()) out += " (required)";
  }
  if (!option->get_needs().empty()) out += fmt::format(" (with {})", names_of(option->get_needs()));
  if (!option->get_excludes().empty()) out += fmt::format(" (not with {})", names_of(option->get_excludes()));
  return out;
}

// CLI11 reports "A subcommand is required" also for a misspelt one, and a misspelt option only as unexpected.
std::string explain(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  const std::vector<std::string> remaining = app->remaining();
  for (const std::string& word : remaining) {
    const bool option = word.starts_with('-') && word.size() > 1;
    if (option || takes_commands_only(*app)) return not_known(*app, word);
  }
  if (!remaining.empty())
    return fmt::format("\"{}\" is one argument too many{}; {} --help", remaining.front(), ending_of_a_file(*app),
                       full_name(*app));
  std::string message = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return what_is_missing(*app, message);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) return mismatch(*app, message);
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) return not_converted(message);
  if (const std::size_t at = message.find(" excludes ");
      at != std::string::npos && dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return fmt::format("{} and {} cannot be combined", message.substr(0, at), message.substr(at + 10));
  return message;
}

}  // namespace offhook::command
