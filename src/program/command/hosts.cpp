// SPDX-License-Identifier: MIT
//
// `offhook hosts`: the hosts of traces/data/hosts, with the source of their numbers.
#include <fmt/format.h>

#include <algorithm>

#include "driver/base/fit.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "src/program/command/guide.h"
#include "src/program/command/results.h"
#include "traces/scenario/data.h"
#include "traces/scenario/host_source.h"
#include "traces/scenario/latency.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

struct HostsOptions {
  std::string host;
  TextOutput json, csv;
};

constexpr std::size_t kSourceColumns = 32;

using hostsim::LatencyDistribution;

struct Latencies {
  std::optional<LatencyDistribution> interrupt, dpc, thread, high_thread;
};
struct Host {
  std::string name;
  hostsim::HostScenario host;
  config::HostSource source;
  Latencies latencies{};
};

using LatencyDistributionKeys = record::Written<LatencyDistribution>;
constexpr record::Row kHostLatencyRows[] = {
    LatencyDistributionKeys::of<&LatencyDistribution::mean_ms>("mean_ms", "ms", "mean latency"),
    LatencyDistributionKeys::of<&LatencyDistribution::worst_ms>("worst_ms", "ms", "worst latency"),
    LatencyDistributionKeys::of("worst_once_in", "", "number of waits in which the worst occurs once",
                                [](const LatencyDistribution& d) { return 1 / d.rarest(); }),
};
constexpr record::Table kLatency{kHostLatencyRows};
using Ls = Latencies;
using LsKeys = record::Written<Ls>;
constexpr record::Row kLatenciesRows[] = {
    LsKeys::part<&Ls::interrupt>("interrupt", kLatency),
    LsKeys::part<&Ls::dpc>("dpc", kLatency),
    LsKeys::part<&Ls::thread>("thread", kLatency),
    LsKeys::part<&Ls::high_thread>("high_thread", kLatency),
};
constexpr record::Table kLatencies{kLatenciesRows};
using HostKeys = record::Written<Host>;
using config::HostSource;
using Sc = hostsim::HostScenario;
constexpr record::Row kListedHostRows[] = {
    HostKeys::of<&Host::name>("host", "", "name of the host"),
    HostKeys::of<&Host::host, &Sc::scheduler>("scheduler", "", "scheduler of the host"),
    HostKeys::of<&Host::host, &Sc::reservations>("reservations", "", "reservations of the host"),
    HostKeys::of<&Host::host, &Sc::charge_stolen_time>("charge_stolen_time", "",
                                                       "whether interrupt time is charged to the interrupted thread"),
    HostKeys::of<&Host::host, &Sc::tick_hz>("tick_hz", "Hz", "rate of its clock interrupts"),
    HostKeys::part<&Host::latencies>("latencies", kLatencies),
    HostKeys::of("grade", "", "measured, published or assumed",
                 [](const Host& h) { return config::to_string(h.source.grade); }),
    HostKeys::of<&Host::source, &HostSource::what>("what", "", "description of its numbers"),
    HostKeys::of<&Host::source, &HostSource::where>("where", "", "source of its numbers"),
    HostKeys::of<&Host::source, &HostSource::assumed>("assumed", "", "assumed keys"),
};

Host read_host(const std::string& name) {
  Host h{.name = name, .host = config::load_host(name), .source = config::load_host_source(name)};
  if (h.host.latencies.empty()) return h;
  const hostsim::HostLatencies l = config::load_latencies(h.host.latencies);
  h.latencies = {l.interrupt, l.dpc, l.thread, l.high_thread};
  return h;
}

int run(const HostsOptions& options) {
  expect_one_alone({&options.json, &options.csv});
  const std::vector<std::string> names =
      options.host.empty() ? config::data_names("hosts") : std::vector<std::string>{options.host};
  std::vector<Host> hosts;
  for (const std::string& name : names) hosts.push_back(read_host(name));
  options.json.write(record::json_text(kHost, record::subjects(hosts), 1));
  options.csv.write(record::csv_table(kHost, record::subjects(hosts)));
  if (options.json.alone() || options.csv.alone()) return kOk;
  if (!options.host.empty()) {
    say("{}: {}\n", options.host, config::in_words(hosts.front().source));
  }
  // On a terminal, a long source is truncated so that each host has one row; `offhook hosts HOST` shows all of it.
  const std::size_t source = options.host.empty() && columns_of(stdout) > 0 ? kSourceColumns : 0;
  Table table;
  table.column("host");
  for (const char* title : {"grade", "scheduler"}) table.column(title, Table::Align::kLeft);
  for (const char* title : {"DPC, ms", "thread, ms", "once in"}) table.column(title);
  table.column("source", Table::Align::kLeft);
  for (const Host& host : hosts) {
    const Latencies& latencies = host.latencies;
    const auto worst = [](const std::optional<LatencyDistribution>& of) {
      return of ? fmt::format("{:.3g}", of->worst_ms()) : "";
    };
    table.row({host.name, std::string(config::to_string(host.source.grade)), host.host.scheduler, worst(latencies.dpc),
               worst(latencies.thread), latencies.thread ? fmt::format("{:.0f}", 1 / latencies.thread->rarest()) : "",
               cut(host.source.what, source)});
  }
  say("{}", table.lines());
  if (options.host.empty())
    say("\nDPC and thread: worst measured latency; once in: waits per worst case. offhook hosts HOST shows one "
        "host.\n");
  return kOk;
}

}  // namespace

constexpr record::Table kHost{kListedHostRows};

void add_hosts(App& app, Action& action) {
  App* sub = app.add_subcommand("hosts", "List the hosts that advise, mttf and scenarios accept, with their sources");
  auto options = std::make_shared<HostsOptions>();
  sub->add_option("host", options->host, "Show only this host, or a host file")->type_name("HOST");
  add_text_output(*sub, kJsonOption, options->json, "Hosts as JSON");
  add_text_output(*sub, kCsvOption, options->csv, "Hosts as CSV");
  sub->footer(R"(Examples:
  offhook hosts
  offhook hosts linux-6.12-rt-am64x
  offhook hosts --json | jq -r '.[] | select(.grade == "published") | .host'

The grade of a host is the grade of the weakest number that decides a verdict: measured (by `offhook measure
host-profile` on the machine), published (by others, with their method) or assumed. A host without latencies in the table
is described by its scheduler's rules only; its competing load is simulated.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
