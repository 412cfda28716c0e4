// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <stdexcept>

#include "driver/base/terminal.h"
#include "src/lab/advice/computations.h"
#include "src/lab/schedule/system.h"
#include "src/program/command/guide.h"
#include "src/program/command/text_keys.h"
#include "traces/scenario/device.h"
#include "traces/scenario/key.h"
#include "traces/scenario/load_device.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

std::string scenario_text() {
  const hostsim::Scenario defaults;
  return config::describe(config::scenario_keys(), &defaults);
}

std::string device_text() {
  const hostsim::SoftDevice defaults;
  return config::describe(config::device_keys(), &defaults);
}

std::string host_text() {
  const hostsim::Scenario defaults;
  return config::describe(config::host_keys(), &defaults.host);
}

constexpr FileKind kKeyFiles[] = {
    {"scenario", "scenario file, for run and sweep", scenario_text},
    {"device", "device file, for advise and advise law", device_text},
    {"host", "host file, for advise", host_text},
    {"load", "[[load.device]] and similar tables", [] { return config::describe_load_devices(); }},
    {"computation", "task file, for mttf --tasks", [] { return config::describe_computations(); }},
    {"system", "JSON file, for schedule", [] { return schedule::describe_system(); }},
    {"csv", "columns of the tables that commands write", csv_keys_text},
    {"json", "keys of the output of --json", json_keys_text}};

/// Kinds that Offhook writes, with one document per command.
bool is_written(const std::string& kind) {
  return kind == "csv" || kind == "json";
}

/// From a text with a line for each key and indented lines that explain it: the keys whose name contains `part`.
std::string with(const std::string& text, const std::string& part) {
  std::string out;
  bool in = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const bool explains = line.starts_with("      ");
    if (!explains) in = line.starts_with("  ") && line.substr(0, line.find(" = ")).find(part) != std::string::npos;
    if (in) out += line + "\n";
  }
  return out;
}

}  // namespace

std::span<const FileKind> described_kinds() {
  return kKeyFiles;
}

void add_keys(App& help, Action& action) {
  App* keys = help.add_subcommand("keys", "List the keys of input files and the fields of CSV and JSON output");
  struct Options {
    std::string kind, part;
  };
  auto options = std::make_shared<Options>();
  add_kind(*keys, options->kind, kKeyFiles);
  keys->add_option("part", options->part, "Only keys whose names contain this text (csv, json: documents)")
      ->type_name("PART");
  keys->footer(R"(Examples:
  offhook help keys device
  offhook help keys scenario context.
  offhook help keys system
  offhook help keys csv sweep
  offhook help keys json run

For a template file, run: offhook new KIND)");
  keys->final_callback([&action, options] {
    action = [options] {
      const std::string all = text_of(kKeyFiles, options->kind), some = options->part.empty() ? all
                                                                        : is_written(options->kind)
                                                                            ? documents_with(all, options->part)
                                                                            : with(all, options->part);
      if (some.empty())
        throw std::runtime_error(fmt::format("no {} has '{}' in its name; offhook help keys {} lists all",
                                             (is_written(options->kind) ? "document of " : "key of a ") + options->kind,
                                             options->part, options->kind));
      say("{}", Lines(some));
      return kOk;
    };
  });
}

}  // namespace offhook::command
