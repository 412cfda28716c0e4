// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "src/program/command/guide.h"
#include "traces/scenario/device.h"
#include "traces/scenario/scenario.h"
#include "traces/scenario/template.h"

namespace offhook::command {
namespace {

constexpr std::string_view kComments =
    "# A line \"# ...\" explains the key below it. A line \"#key = value\" shows a key with its default value.\n";

std::string scenario_template() {
  hostsim::Scenario defaults;
  try {
    defaults.host = config::load_host(defaults.host.name);
  } catch (const config::Error&) {  // because a template is also for users without hosts
  }
  return fmt::format(
      "# A call: offhook run FILE. Unchanged, it runs the V.22bis pump in the hard interrupt.\n{}\n{}\n# Competing "
      "devices are tables; offhook help keys load lists their keys.\n#[[load.device]]\n#kind = \"network\"\n",
      kComments, config::write_template(config::scenario_keys(), &defaults, config::Keys::kCommentedOut));
}

std::string device_template() {
  hostsim::SoftDevice device;
  device.name = "my device";
  return fmt::format("# A device: offhook advise law FILE, offhook advise FILE HOST. Replace all figures.\n{}\n{}",
                     kComments, config::write_template(config::device_keys(), &device, config::Keys::kSet));
}

std::string host_template() {
  hostsim::HostScenario host;
  try {
    host = config::load_host("linux-hz250");
  } catch (const config::Error&) {
  }
  config::KeyTable keys = config::host_keys();
  std::erase_if(keys, [](const config::Key& key) { return key.path == "name"; });  // the file has the host's name
  return fmt::format("# A host: offhook advise DEVICE FILE. The values describe linux-hz250; change them.\n{}\n{}",
                     kComments, config::write_template(keys, &host, config::Keys::kSet));
}

constexpr std::string_view kSystem = R"({
  "horizon_ns": 1000000000,
  "entities": [
    {"name": "card", "kind": "interrupt", "level": 10, "period_ns": 10000000, "cost_ns": 10000, "dpc": "card's work"},
    {"name": "card's work", "kind": "dpc", "cost_ns": 500000},
    {"name": "control", "kind": "fp", "priority": 24, "period_ns": 20000000, "deadline_ns": 20000000, "cost_ns": 3000000},
    {"name": "display", "kind": "fp", "priority": 8, "period_ns": 33000000, "deadline_ns": 33000000, "cost_ns": 9000000}
  ]
}
)";

constexpr FileKind kKinds[] = {{"scenario", "scenario file, for run", scenario_template},
                               {"device", "device file, for advise and advise law", device_template},
                               {"host", "host file, for advise", host_template},
                               {"system", "JSON file, for schedule", [] { return std::string(kSystem); }}};

}  // namespace

void add_new(App& app, Action& action) {
  App* sub = app.add_subcommand("new", "Write a template file: a scenario, a device, a host or a system");
  struct Options {
    std::string kind, file;
  };
  auto options = std::make_shared<Options>();
  add_kind(*sub, options->kind, kKinds);
  sub->add_option("file", options->file, "File to write, which must not exist (default: standard output)")
      ->type_name("FILE");
  sub->footer(R"(Examples:
  offhook new scenario my-call.toml && offhook run my-call.toml
  offhook new device my-device.toml && offhook advise law my-device.toml
  offhook new host my-host.toml && offhook advise rt-audio my-host.toml
  offhook new system my-system.json && offhook schedule my-system.json --csv my-system.csv

A comment explains each key; offhook help keys KIND lists only the keys.)");
  sub->final_callback([&action, options] {
    action = [options] {
      const std::string text = text_of(kKinds, options->kind);
      if (options->file.empty() || options->file == "-") {
        say("{}", Lines(text));
        return kOk;
      }
      if (std::filesystem::exists(options->file))
        throw std::runtime_error(options->file + ": exists; expected an unused name");
      write_file(options->file, text);
      return kOk;
    };
  });
}

}  // namespace offhook::command
