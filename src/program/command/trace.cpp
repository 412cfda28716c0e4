// SPDX-License-Identifier: MIT
//
// `offhook trace`: the other work of a recorded host, also as a load file.
#include <fmt/format.h>

#include <algorithm>

#include "driver/base/output.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "src/program/command/program.h"
#include "src/program/command/results.h"
#include "traces/import/import.h"
#include "traces/import/load_file.h"

namespace offhook::command {
namespace {

using hostsim::HostLoad;

struct TraceOptions {
  std::string trace, out;
  std::vector<std::string> without;
  TextOutput json;
};

/// A thread or interrupt that ran.
struct Source {
  std::string name, as;
  std::uint64_t intervals = 0;
  hostsim::Ns cpu = 0, longest = 0;
  double share = 0;  ///< of the time

  double mean_us() const { return static_cast<double>(cpu) * 1e-3 / static_cast<double>(intervals); }
  double longest_us() const { return static_cast<double>(longest) * 1e-3; }
};
struct Cpu {
  int number = 0;
  std::uint64_t lost = 0;
  std::vector<Source> sources;  ///< in descending order of CPU time
};
struct Recorded {
  std::string origin;
  double seconds = 0;
  std::vector<Cpu> cpus{};
};

using SourceKeys = record::Written<Source>;
constexpr record::Row kSourceRows[] = {
    SourceKeys::of<&Source::name>("name", "", "name of a thread or interrupt that ran"),
    SourceKeys::of<&Source::as>("as", "", "kind of the source"),
    SourceKeys::of<&Source::intervals>("intervals", "", "number of intervals"),
    SourceKeys::of<&Source::share>("share", "", "share of the time, 0 to 1"),
    SourceKeys::of<&Source::mean_us>("mean_us", "us", "mean interval"),
    SourceKeys::of<&Source::longest_us>("longest_us", "us", "longest interval"),
};
constexpr record::Table kSource{kSourceRows};
using CpuKeys = record::Written<Cpu>;
constexpr record::Row kCpuRows[] = {
    CpuKeys::of<&Cpu::number>("cpu", "", "number of the CPU"),
    CpuKeys::of<&Cpu::lost>("lost_events", "", "events lost, or without their counterpart"),
    CpuKeys::part<&Cpu::sources>("sources", kSource),
};
constexpr record::Table kCpu{kCpuRows};
using RecordedKeys = record::Written<Recorded>;
constexpr record::Row kRecordedRows[] = {
    RecordedKeys::of<&Recorded::origin>("trace", "", "file that was read"),
    RecordedKeys::of<&Recorded::seconds>("duration_s", "s", "duration of the trace"),
    RecordedKeys::part<&Recorded::cpus>("cpus", kCpu),
};

Cpu cpu_of(const HostLoad& load, const HostLoad::CpuLoad& recorded, double duration_ns) {
  std::vector<Source> all;
  for (const HostLoad::Source& source : load.sources)
    all.push_back({.name = source.name, .as = traces::as_text(source)});
  for (const HostLoad::Interval& i : recorded.intervals) {
    Source& s = all[i.source];
    ++s.intervals;
    s.cpu += i.cpu;
    s.longest = std::max(s.longest, i.cpu);
  }
  std::erase_if(all, [](const Source& s) { return s.intervals == 0; });
  std::stable_sort(all.begin(), all.end(), [](const Source& a, const Source& b) { return a.cpu > b.cpu; });
  for (Source& s : all) s.share = static_cast<double>(s.cpu) / duration_ns;
  return {recorded.number, recorded.lost, std::move(all)};
}

void print(const Cpu& cpu) {
  constexpr std::size_t kShown = 15;
  Table table;
  for (const char* title : {"who", "as"}) table.column(title, Table::Align::kLeft);
  for (const char* title : {"intervals", "% of CPU", "mean us", "longest us"}) table.column(title);
  for (std::size_t n = 0; n < std::min(kShown, cpu.sources.size()); ++n) {
    const Source& s = cpu.sources[n];
    table.row({s.name, s.as, fmt::format("{}", s.intervals), fmt::format("{:.3f}", 100 * s.share),
               fmt::format("{:.1f}", s.mean_us()), fmt::format("{:.1f}", s.longest_us())});
  }
  say("\nCPU {}{}\n{}", cpu.number,
      cpu.lost > 0 ? fmt::format(" ({} events lost or without their counterpart)", cpu.lost) : "", table.lines());
  if (cpu.sources.size() > kShown) say("and {} more\n", cpu.sources.size() - kShown);
}

int run(const TraceOptions& options) {
  const HostLoad load = traces::import_host_load(options.trace, options.without);
  if (!options.out.empty()) write_file(options.out, traces::write_load(load));
  const double duration = std::max<double>(static_cast<double>(load.duration), 1);
  Recorded recorded{.origin = load.origin, .seconds = duration * 1e-9};
  for (const HostLoad::CpuLoad& cpu : load.cpus) recorded.cpus.push_back(cpu_of(load, cpu, duration));
  if (!options.json.alone()) {
    say("{}: {:.3f} s, {} CPUs\n", recorded.origin, recorded.seconds, recorded.cpus.size());
    for (const Cpu& cpu : recorded.cpus) print(cpu);
  }
  options.json.write(record::json_text(kTrace, &recorded, 1));
  return kOk;
}

}  // namespace

constexpr record::Table kTrace{kRecordedRows};

void add_trace(App& app, Action& action) {
  App* sub = app.add_subcommand("trace", "Convert a recording of a Linux host to a load for the simulator");
  auto options = std::make_shared<TraceOptions>();
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
