// SPDX-License-Identifier: MIT
//
// `offhook measure host`: Chen et al.'s microbenchmarks and applications.
#include <fmt/format.h>

#include <algorithm>

#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "src/lab/reproduce/published.h"
#include "src/measure/host.h"
#include "src/measure/host_description.h"
#include "src/page/page.h"
#include "src/program/command/figures.h"
#include "src/program/command/measure.h"
#include "src/report/host_report.h"
#include "src/report/report.h"

namespace offhook::command {
namespace {

struct Options {
  std::shared_ptr<MeasureOptions> common;
  measure::HostConfig config;
  std::string folder = ".", html, figures;
};

/// Columns of the claim chen.table6.
constexpr const char* kSystems[] = {"netbsd_s", "windows_nt_s", "windows_s"};

Json to_json(const measure::HostRow& row, const std::vector<reproduce::Published>& published) {
  Json json{{"name", row.name},         {"what", row.what},
            {"unit", row.unit},         {"repetitions", row.values.size()},
            {"median", row.median()},   {"min", row.quantile(0)},
            {"p10", row.quantile(0.1)}, {"p90", row.quantile(0.9)},
            {"max", row.quantile(1)},   {"counters", Json::object()},
            {"skipped", row.skipped},   {"remark", row.remark}};
  for (const auto& [name, value] : row.counters) json["counters"][name] = value;
  json["application"] = false;
  for (const reproduce::Published& p : published) {
    if (p.text("name") != row.name) continue;
    json["application"] = true;
    for (const char* os : kSystems) {
      json["published"][os] = p.number(os);
      if (row.median() > 0) json["faster"][os] = p.number(os) / row.median();
    }
  }
  return json;
}

Json to_json(const measure::MemoryCurve& curve) {
  return {{"stride", curve.stride},
          {"bytes", curve.bytes},
          {"median_ns", curve.median_ns},
          {"min_ns", curve.low_ns},
          {"max_ns", curve.high_ns}};
}

std::string number(double value) {
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

void print(const measure::HostResult& result, const std::vector<reproduce::Published>& published) {
  Table table, memory, work;
  table.column("benchmark");
  for (const char* title : {"median", "10 %", "90 %"}) table.column(title);
  table.column("", Table::Align::kLeft);
  table.column("of", Table::Align::kLeft);
  work.column("application, s");
  for (const char* title : {"median", "least", "most", "NetBSD", "Windows NT", "Windows"}) work.column(title);
  std::string skipped;
  for (const measure::HostRow& row : result.rows) {
    if (!row.skipped.empty()) {
      skipped += fmt::format("{} skipped: {}\n", row.name, row.skipped);
      continue;
    }
    const auto beside =
        std::find_if(published.begin(), published.end(), [&](const auto& p) { return p.text("name") == row.name; });
    if (beside != published.end()) {
      std::vector<std::string> cells{row.name, fmt::format("{:.3f}", row.median()),
                                     fmt::format("{:.3f}", row.quantile(0)), fmt::format("{:.3f}", row.quantile(1))};
      for (const char* os : kSystems) {
        const double then = beside->number(os);
        cells.push_back(fmt::format("{:.2f} ({:.0f} x)", then, then / row.median()));
      }
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

int run(const Options& options) {
  measure::HostConfig config = options.config;
  config.folder = options.folder;
  catch_interrupts();
  measure::HostResult result;
  {
    Progress progress("host", options.common->json.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    result = measure::measure_host(config, [&](double share, const std::string& what) {
      progress.update(share, what);
      return !interrupted();
    });
  }
  const auto published = reproduce::load_published("chen.table6").rows("rows");
  Json json{{"measure", "host"},
            {"host", measure::host_description()},
            {"repetitions", config.repetitions},
            {"file_system", result.file_system},
            {"counters", result.counters},
            {"rows", Json::array()},
            {"memory", Json::array()}};
  for (const measure::HostRow& row : result.rows) json["rows"].push_back(to_json(row, published));
  for (const measure::MemoryCurve& curve : result.memory) json["memory"].push_back(to_json(curve));
  write_page(host_page(json), options.html, options.figures);
  if (!options.common->json.alone()) print(result, published);
  return finish_measure(*options.common, json);
}

}  // namespace

void add_measure_host(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& common) {
  App* host = measure.add_subcommand(
      "host", "Measure system calls, exec, memory, files, graphics, network and three applications (Chen et al.)");
  auto options = std::make_shared<Options>();
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
