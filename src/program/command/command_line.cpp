// SPDX-License-Identifier: MIT
#include "src/program/command/command_line.h"

#include "src/program/command/option_words.h"

namespace offhook::command {
namespace {

template <typename Number>
bool parsed(const std::string& word, Number& value) {
  return CLI::detail::lexical_cast(word, value);
}

}  // namespace

bool parse_number(const std::string& word, int& value) {
  return parsed(word, value);
}
bool parse_number(const std::string& word, unsigned& value) {
  return parsed(word, value);
}
bool parse_number(const std::string& word, std::int64_t& value) {
  return parsed(word, value);
}
bool parse_number(const std::string& word, std::uint64_t& value) {
  return parsed(word, value);
}
bool parse_number(const std::string& word, double& value) {
  return parsed(word, value);
}

Check existing_folder() {
  return {[](const std::string& word) { return CLI::ExistingDirectory(word); },
          CLI::ExistingDirectory.get_description()};
}

Option* Option::type_name(const std::string& name) {
  native_->type_name(name);
  return this;
}
Option* Option::required() {
  native_->required();
  return this;
}
Option* Option::expected(int least, int most) {
  native_->expected(least, most);
  return this;
}
Option* Option::delimiter(char between) {
  native_->delimiter(between);
  return this;
}
Option* Option::allow_extra_args(bool allowed) {
  native_->allow_extra_args(allowed);
  return this;
}
Option* Option::default_str(const std::string& words) {
  native_->default_str(words);
  return this;
}
Option* Option::check(const Check& check) {
  native_->check(
      CLI::Validator([function = check.function](std::string& word) { return function(word); }, check.words));
  return this;
}
Option* Option::needs(Option* other) {
  native_->needs(other->native_);
  return this;
}
Option* Option::excludes(Option* other) {
  native_->excludes(other->native_);
  return this;
}
Option* Option::excludes(const std::string& other) {
  native_->excludes(other);
  return this;
}

App::App(const std::string& description, const std::string& name)
    : root_(std::make_unique<CLI::App>(description, name)), native_(root_.get()) {}
App::App(CLI::App* command) : native_(command) {}
App::~App() = default;

App* App::add_subcommand(const std::string& name, const std::string& description) {
  return commands_.emplace_back(std::make_unique<App>(native_->add_subcommand(name, description))).get();
}

Option* App::keep(CLI::Option* option) {
  return options_.emplace_back(std::make_unique<Option>(option)).get();
}

template <OptionValue T>
Option* App::add_option(const std::string& name, T& value, const std::string& description) {
  return keep(native_->add_option(name, value, description));
}
template Option* App::add_option(const std::string&, std::string&, const std::string&);
template Option* App::add_option(const std::string&, int&, const std::string&);
template Option* App::add_option(const std::string&, unsigned&, const std::string&);
template Option* App::add_option(const std::string&, std::int64_t&, const std::string&);
template Option* App::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option* App::add_option(const std::string&, double&, const std::string&);
template Option* App::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option* App::add_option(const std::string&, std::vector<double>&, const std::string&);
template Option* App::add_option(const std::string&, std::vector<int>&, const std::string&);
template Option* App::add_option(const std::string&, std::optional<int>&, const std::string&);
template Option* App::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option* App::add_option(const std::string&, std::optional<std::uint64_t>&, const std::string&);
template Option* App::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&);

Option* App::add_flag(const std::string& name, bool& value, const std::string& description) {
  return keep(native_->add_flag(name, value, description));
}

Option* App::get_option(const std::string& name) {
  return keep(native_->get_option(name));
}

void App::footer(const std::string& text) {
  native_->footer(text);
}

void App::require_subcommand(int least_and_most) {
  native_->require_subcommand(least_and_most);
}

void App::require_subcommand(int least, int most) {
  native_->require_subcommand(static_cast<std::size_t>(least), static_cast<std::size_t>(most));
  if (least > 0) return;
  // CLI11 takes the first word as a required argument, never as a subcommand.
  for (CLI::Option* option : native_->get_options()) {
    if (!option->get_positional() || !option->get_required()) continue;
    option->required(false)->description(option->get_description() + " (required)");
    needed_.push_back(option);
  }
}

void App::final_callback(std::function<void()> f) {
  native_->final_callback([this, f = std::move(f)] {
    if (!native_->get_subcommands().empty()) return;
    for (const CLI::Option* option : needed_)
      if (option->count() == 0) missing(value_words(*option).text());
    f();
  });
}

void missing(const std::string& argument) {
  throw CLI::RequiredError(argument);
}

}  // namespace offhook::command
