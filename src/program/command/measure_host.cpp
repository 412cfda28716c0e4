// SPDX-License-Identifier: MIT
//
// `offhook measure host`: Chen et al.'s microbenchmarks and applications.
#include <fmt/format.h>

#include <algorithm>

#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "src/lab/reproduce/published.h"
#include "src/measure/host.h"
#include "src/page/page.h"
#include "src/program/command/figures.h"
#include "src/program/command/measure.h"
#include "src/program/command/results.h"
#include "src/report/host_report.h"
#include "src/report/report.h"

namespace offhook::command {
namespace {

struct MeasureHostOptions {
  std::shared_ptr<MeasureOptions> common;
  measure::HostConfig config;
  std::string folder = ".", html, figures;
};

/// Columns of the claim chen.table6.
constexpr const char* kSystems[] = {"netbsd_s", "windows_nt_s", "windows_s"};

using Times = std::vector<std::pair<std::string, double>>;  ///< of the systems

/// One benchmark, next to its published times.
struct Benchmark {
  const measure::HostRow* row;
  std::optional<Times> then{};  ///< s; of an application

  std::optional<Times> faster() const {
    if (!then || !(row->median() > 0)) return std::nullopt;
    Times times = *then;
    for (auto& [os, time] : times) time /= row->median();
    return times;
  }
};
struct HostMeasurement {
  Measured measured{"host"};
  int repetitions = 0;
  measure::HostResult result;
  std::vector<Benchmark> rows;
};

using TimesKeys = record::Written<Times>;
constexpr record::Row kThenRows[] = {
    TimesKeys::of("", "s", "times of the paper's 90 MHz Pentium", [](const Times& t) { return t; }).as_keys(),
};
constexpr record::Row kFasterRows[] = {
    TimesKeys::of("", "", "speed-up of this machine", [](const Times& t) { return t; }).as_keys(),
};
constexpr record::Row kCounterRows[] = {
    TimesKeys::of("", "", "mean of each counter per repetition", [](const Times& t) { return t; }).as_keys(),
};
constexpr record::Table kThen{kThenRows}, kFaster{kFasterRows}, kCounters{kCounterRows};
using BenchmarkKeys = record::Written<Benchmark>;
constexpr record::Row kBenchmarkRows[] = {
    BenchmarkKeys::of("name", "", "operation", [](const Benchmark& b) { return b.row->name; }),
    BenchmarkKeys::of("what", "", "description of the benchmark", [](const Benchmark& b) { return b.row->what; }),
    BenchmarkKeys::of("unit", "", "unit of the times or rates of this row",
                      [](const Benchmark& b) { return b.row->unit; }),
    BenchmarkKeys::of("repetitions", "", "repetitions that were run",
                      [](const Benchmark& b) { return b.row->values.size(); }),
    BenchmarkKeys::of("median", "", "median in the row's unit; 0: skipped",
                      [](const Benchmark& b) { return b.row->median(); }),
    BenchmarkKeys::of("min", "", "least value", [](const Benchmark& b) { return b.row->quantile(0); }),
    BenchmarkKeys::of("p10", "", "10th percentile", [](const Benchmark& b) { return b.row->quantile(0.1); }),
    BenchmarkKeys::of("p90", "", "90th percentile", [](const Benchmark& b) { return b.row->quantile(0.9); }),
    BenchmarkKeys::of("max", "", "greatest value", [](const Benchmark& b) { return b.row->quantile(1); }),
    BenchmarkKeys::part("counters", kCounters, [](const Benchmark& b) { return &b.row->counters; }).always(),
    BenchmarkKeys::of("skipped", "", "why the row was skipped; empty: it was run",
                      [](const Benchmark& b) { return b.row->skipped; }),
    BenchmarkKeys::of("remark", "", "observation during the run", [](const Benchmark& b) { return b.row->remark; }),
    BenchmarkKeys::of("application", "", "whether the row is an application of the paper's Table 6",
                      [](const Benchmark& b) { return b.then.has_value(); }),
    BenchmarkKeys::part<&Benchmark::then>("published", kThen),
    BenchmarkKeys::part("faster", kFaster, [](const Benchmark& b) { return b.faster(); }),
};
using MemoryCurveKeys = record::Written<measure::MemoryCurve>;
using measure::MemoryCurve;
constexpr record::Row kCurveRows[] = {
    MemoryCurveKeys::of<&MemoryCurve::stride>("stride", "bytes", "distance between references; 0: random"),
    MemoryCurveKeys::of<&MemoryCurve::bytes>("bytes", "bytes", "sizes of the array"),
    MemoryCurveKeys::of<&MemoryCurve::median_ns>("median_ns", "ns", "time of a reference, for each size"),
    MemoryCurveKeys::of<&MemoryCurve::low_ns>("min_ns", "ns", "the shortest"),
    MemoryCurveKeys::of<&MemoryCurve::high_ns>("max_ns", "ns", "the longest"),
};
constexpr record::Table kBenchmark{kBenchmarkRows}, kCurve{kCurveRows};
using HostMeasurementKeys = record::Written<HostMeasurement>;
using measure::HostResult;
constexpr record::Row kHostRows[] = {
    HostMeasurementKeys::part<&HostMeasurement::measured>("", kMeasured),
    HostMeasurementKeys::of<&HostMeasurement::repetitions>("repetitions", "",
                                                           "requested repetitions of a microbenchmark"),
    HostMeasurementKeys::of<&HostMeasurement::result, &HostResult::file_system>("file_system", "",
                                                                                "file system of the folder under test"),
    HostMeasurementKeys::of<&HostMeasurement::result, &HostResult::counters>(
        "counters", "", "why hardware counters are missing; empty: all were read"),
    HostMeasurementKeys::part<&HostMeasurement::rows>("rows", kBenchmark),
    HostMeasurementKeys::part(
        "memory", kCurve, [](const HostMeasurement& m) -> const auto& { return m.result.memory; }),
};

std::string number(double value) {
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

void print(const HostMeasurement& m) {
  const measure::HostResult& result = m.result;
  Table table, memory, work;
  table.column("benchmark");
  for (const char* title : {"median", "10 %", "90 %"}) table.column(title);
  table.column("", Table::Align::kLeft);
  table.column("of", Table::Align::kLeft);
  work.column("application, s");
  for (const char* title : {"median", "least", "most", "NetBSD", "Windows NT", "Windows"}) work.column(title);
  std::string skipped;
  for (const Benchmark& b : m.rows) {
    const measure::HostRow& row = *b.row;
    if (!row.skipped.empty()) {
      skipped += fmt::format("{} skipped: {}\n", row.name, row.skipped);
      continue;
    }
    if (b.then) {
      std::vector<std::string> cells{row.name, fmt::format("{:.3f}", row.median()),
                                     fmt::format("{:.3f}", row.quantile(0)), fmt::format("{:.3f}", row.quantile(1))};
      for (const auto& [os, then] : *b.then)
        cells.push_back(fmt::format("{:.2f} ({:.0f} x)", then, then / row.median()));
      work.row(std::move(cells));
    } else {
      table.row({row.name, number(row.median()), number(row.quantile(0.1)), number(row.quantile(0.9)), row.unit,
                 row.remark.empty() ? row.what : row.what + " (" + row.remark + ")"});
    }
  }
  say("{}\n", table.lines());
  if (!result.memory.empty()) {
    memory.column("memory, ns per reference");
    std::vector<std::size_t> sizes;
    for (const measure::MemoryCurve& curve : result.memory) {
      memory.column(curve.stride == 0 ? "random" : fmt::format("stride {}", curve.stride));
      if (curve.bytes.size() > sizes.size()) sizes = curve.bytes;
    }
    for (const std::size_t bytes : sizes) {
      std::vector<std::string> cells{bytes < 1024        ? fmt::format("{} B", bytes)
                                     : bytes < (1 << 20) ? fmt::format("{} KiB", bytes >> 10)
                                                         : fmt::format("{} MiB", bytes >> 20)};
      for (const measure::MemoryCurve& curve : result.memory) {
        const auto at = std::find(curve.bytes.begin(), curve.bytes.end(), bytes);
        cells.push_back(
            at == curve.bytes.end() ? "" : number(curve.median_ns[static_cast<std::size_t>(at - curve.bytes.begin())]));
      }
      memory.row(std::move(cells));
    }
    say("{}\n", memory.lines());
  }
  say("{}", work.lines());
  say("published: Chen et al., Table 6, a 90 MHz Pentium of 1995, and the speed-up of this host. Their microbenchmarks "
      "appear only as figures.\n");
  say("files on {}; {}\n{}", result.file_system,
      result.counters.empty() ? "hardware counters: see the JSON output" : result.counters, Lines(skipped));
}

int run(const MeasureHostOptions& options) {
  measure::HostConfig config = options.config;
  config.folder = options.folder;
  catch_interrupts();
  HostMeasurement m;
  m.repetitions = config.repetitions;
  {
    Progress progress("host", options.common->json.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    m.result = measure::measure_host(config, [&](double share, const std::string& what) {
      progress.update(share, what);
      return !interrupted();
    });
  }
  const auto published = reproduce::load_published("chen.table6").rows("rows");
  for (const measure::HostRow& row : m.result.rows) {
    Benchmark& b = m.rows.emplace_back(Benchmark{&row});
    for (const reproduce::Published& p : published) {
      if (p.text("name") != row.name) continue;
      b.then.emplace();
      for (const char* os : kSystems) b.then->emplace_back(os, p.number(os));
    }
  }
  if (!options.html.empty() || !options.figures.empty())
    write_page(host_page(kMeasureHost, &m), options.html, options.figures);
  if (!options.common->json.alone()) print(m);
  return finish_measure(*options.common, kMeasureHost, &m);
}

}  // namespace

constexpr record::Table kMeasureHost{kHostRows};

void add_measure_host(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& common) {
  App* host = measure.add_subcommand(
      "host", "Measure system calls, exec, memory, files, graphics, network and three applications (Chen et al.)");
  auto options = std::make_shared<MeasureHostOptions>();
  options->common = common;
  host->add_option("--repeats", options->config.repetitions, "Repetitions of each microbenchmark")
      ->type_name("N")
      ->check(in_range(3, 100'000));
  host->add_option("--applications", options->config.workload_repetitions, "Rounds of each application (0: skip)")
      ->type_name("N")
      ->check(in_range(0, 200));
  host->add_option("--folder", options->folder,
                   "Folder in which test files are written; selects the file system under test")
      ->type_name("DIR")
      ->check(existing_folder());
  host->add_option("--html", options->html, "Write a page with the tables and a plot of memory access times")
      ->type_name("FILE");
  add_figures(*host, options->figures);
  add_common(host, *common);
  host->footer(R"(Examples:
  offhook measure host --html host.html --json host.json
  offhook measure host --applications 0 --repeats 200
  offhook measure host --folder /mnt/disk

Benchmarks whose program or hardware counter is missing are skipped with the reason. The applications are also loads:
offhook measure latency --load help)");
  host->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
