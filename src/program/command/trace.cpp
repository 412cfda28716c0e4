// SPDX-License-Identifier: MIT
//
// `offhook trace`: the other work of a recorded host, also as a load file.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "driver/base/json.h"
#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "src/program/command/program.h"
#include "traces/import/import.h"
#include "traces/import/load_file.h"

namespace offhook::command {
namespace {

using hostsim::HostLoad;
using Json = nlohmann::ordered_json;

struct Options {
  std::string trace, out;
  std::vector<std::string> without;
  TextOutput json;
};

struct Share {
  std::uint64_t count = 0;
  hostsim::Ns cpu = 0, longest = 0;
};

int run(const Options& options) {
  const HostLoad load = traces::import_host_load(options.trace, options.without);
  if (!options.out.empty()) write_file(options.out, traces::write_load(load));
  const double duration = std::max<double>(static_cast<double>(load.duration), 1);
  Json json{{"trace", load.origin}, {"duration_s", duration * 1e-9}, {"cpus", Json::array()}};
  if (!options.json.alone()) say("{}: {:.3f} s, {} CPUs\n", load.origin, duration * 1e-9, load.cpus.size());
  for (const HostLoad::CpuLoad& cpu : load.cpus) {
    std::vector<Share> shares(load.sources.size());
    for (const HostLoad::Interval& i : cpu.intervals) {
      Share& s = shares[i.source];
      ++s.count;
      s.cpu += i.cpu;
      s.longest = std::max(s.longest, i.cpu);
    }
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < shares.size(); ++k) {
      if (shares[k].count > 0) order.push_back(k);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(-shares[a].cpu, a) < std::pair(-shares[b].cpu, b);
    });
    Json sources = Json::array();
    Table table;
    for (const char* title : {"who", "as"}) table.column(title, Table::Align::kLeft);
    for (const char* title : {"intervals", "% of CPU", "mean us", "longest us"}) table.column(title);
    constexpr std::size_t kShown = 15;
    for (std::size_t n = 0; n < order.size(); ++n) {
      const HostLoad::Source& source = load.sources[order[n]];
      const Share& s = shares[order[n]];
      const double cpu_ns = static_cast<double>(s.cpu), longest_us = static_cast<double>(s.longest) * 1e-3;
      const double mean_us = cpu_ns * 1e-3 / static_cast<double>(s.count);
      sources.push_back({{"name", source.name},
                         {"as", traces::as_text(source)},
                         {"intervals", s.count},
                         {"share", cpu_ns / duration},
                         {"mean_us", mean_us},
                         {"longest_us", longest_us}});
      if (n < kShown) {
        table.row({source.name, traces::as_text(source), fmt::format("{}", s.count),
                   fmt::format("{:.3f}", 100 * cpu_ns / duration), fmt::format("{:.1f}", mean_us),
                   fmt::format("{:.1f}", longest_us)});
      }
    }
    json["cpus"].push_back({{"cpu", cpu.number}, {"lost_events", cpu.lost}, {"sources", sources}});
    if (options.json.alone()) continue;
    say("\nCPU {}{}\n{}", cpu.number,
        cpu.lost > 0 ? fmt::format(" ({} events lost or without their counterpart)", cpu.lost) : "", table.lines());
    if (order.size() > kShown) say("and {} more\n", order.size() - kShown);
  }
  options.json.write(json_text(json, 1));
  return kOk;
}

}  // namespace

void add_trace(App& app, Action& action) {
  App* sub = app.add_subcommand("trace", "Convert a recording of a Linux host to a load for the simulator");
  auto options = std::make_shared<Options>();
  sub->add_option("trace", options->trace,
                  "Recording: trace-cmd's .dat; text of perf sched script, trace-cmd report or ftrace; or a load file "
                  "of offhook trace")
      ->required()
      ->type_name("TRACE");
  sub->add_option("-o,--out", options->out, "Write the load to FILE (about five bytes per interval)")
      ->type_name("FILE");
  sub->add_option("--without", options->without,
                  "Leave out these threads and interrupts, such as the driver under test and the recorder")
      ->type_name("NAME");
  add_text_output(*sub, kJsonOption, options->json, "Result as JSON");
  sub->footer(R"(Recording (as root; -B: in a separate tracefs instance):
  trace-cmd record -B offhook -C mono -e sched_switch -e irq -e irq_vectors -e hrtimer_expire_entry \
    -e hrtimer_expire_exit -o board.dat sleep 60
  perf sched record sleep 60 && perf sched script --ns > board.txt

Examples:
  offhook trace examples/board.load
  offhook trace examples/board.load --without offhook.n0 -o board.load
  offhook run examples/int.toml --set host.name=linux --set load.trace=board.load --context "THR 90"
)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
