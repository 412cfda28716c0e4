// SPDX-License-Identifier: MIT
//
// `offhook hosts`: the hosts of traces/data/hosts, with the source of their numbers.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "driver/base/csv.h"
#include "driver/base/fit.h"
#include "driver/base/json.h"
#include "driver/base/terminal.h"
#include "src/program/command/guide.h"
#include "traces/scenario/data.h"
#include "traces/scenario/host_source.h"
#include "traces/scenario/latency.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string host;
  TextOutput json, csv;
};

constexpr std::size_t kSourceColumns = 32;

ordered_json latency_json(const hostsim::LatencyDistribution& d) {
  return {{"mean_ms", d.mean_ms()}, {"worst_ms", d.worst_ms()}, {"worst_once_in", 1 / d.rarest()}};
}

ordered_json host_json(const std::string& name) {
  const hostsim::HostScenario host = config::load_host(name);
  const config::HostSource source = config::load_host_source(name);
  ordered_json json{{"host", name},
                    {"scheduler", host.scheduler},
                    {"reservations", host.reservations},
                    {"charge_stolen_time", host.charge_stolen_time},
                    {"tick_hz", host.tick_hz},
                    {"latencies", ordered_json::object()},
                    {"grade", config::to_string(source.grade)},
                    {"what", source.what},
                    {"where", source.where},
                    {"assumed", source.assumed}};
  if (!host.latencies.empty()) {
    const hostsim::HostLatencies latencies = config::load_latencies(host.latencies);
    json["latencies"]["interrupt"] = latency_json(latencies.interrupt);
    if (latencies.dpc) json["latencies"]["dpc"] = latency_json(*latencies.dpc);
    json["latencies"]["thread"] = latency_json(latencies.thread);
    json["latencies"]["high_thread"] = latency_json(latencies.high_thread);
  }
  return json;
}

int run(const Options& options) {
  expect_one_alone({&options.json, &options.csv});
  const std::vector<std::string> names =
      options.host.empty() ? config::data_names("hosts") : std::vector<std::string>{options.host};
  ordered_json all = ordered_json::array();
  for (const std::string& name : names) all.push_back(host_json(name));
  options.json.write(json_text(all, 1));
  options.csv.write(csv_table(all));
  if (options.json.alone() || options.csv.alone()) return kOk;
  if (!options.host.empty()) {
    say("{}: {}\n", options.host, config::in_words(config::load_host_source(options.host)));
  }
  // On a terminal a long source is cut, so that each host has one row; `offhook hosts HOST` shows it whole.
  const std::size_t source = options.host.empty() && columns_of(stdout) > 0 ? kSourceColumns : 0;
  Table table;
  table.column("host");
  for (const char* title : {"grade", "scheduler"}) table.column(title, Table::Align::kLeft);
  for (const char* title : {"DPC, ms", "thread, ms", "once in"}) table.column(title);
  table.column("source", Table::Align::kLeft);
  for (const ordered_json& host : all) {
    const ordered_json& latencies = host["latencies"];
    const auto worst = [&](const char* of) {
      return latencies.contains(of) ? fmt::format("{:.3g}", latencies[of]["worst_ms"].get<double>()) : "";
    };
    table.row(
        {host["host"], host["grade"], host["scheduler"], worst("dpc"), worst("thread"),
         latencies.contains("thread") ? fmt::format("{:.0f}", latencies["thread"]["worst_once_in"].get<double>()) : "",
         cut(host["what"], source)});
  }
  say("{}", table.lines());
  if (options.host.empty())
    say("\nDPC and thread: worst measured latency; once in: waits per worst case. offhook hosts HOST shows one "
        "host.\n");
  return kOk;
}

}  // namespace

void add_hosts(App& app, Action& action) {
  App* sub = app.add_subcommand("hosts", "List the hosts that advise, mttf and scenarios accept, with their sources");
  auto options = std::make_shared<Options>();
  sub->add_option("host", options->host, "Show only this host, or a host file")->type_name("HOST");
  add_text_output(*sub, kJsonOption, options->json, "Hosts as JSON");
  add_text_output(*sub, kCsvOption, options->csv, "Hosts as CSV");
  sub->footer(R"(Examples:
  offhook hosts
  offhook hosts linux-6.12-rt-am64x
  offhook hosts --json | jq -r '.[] | select(.grade == "published") | .host'

The grade is that of the weakest number that decides a verdict: measured (by `offhook measure host-profile` on the
machine), published (by others, with their method) or assumed. A host without latencies in the table is described by its
scheduler's rules only; its competing load is simulated.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
