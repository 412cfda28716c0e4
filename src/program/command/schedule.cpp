// SPDX-License-Identifier: MIT
#include "src/lab/schedule/schedule.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>

#include "driver/base/file.h"
#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "src/page/page.h"
#include "src/program/command/figures.h"
#include "src/program/command/program.h"

namespace offhook::command {
namespace {

struct ScheduleOptions {
  std::string system, html, figures;
  TextOutput csv, json;
};

double us_of(schedule::Ns ns) {
  return static_cast<double>(ns) * 1e-3;
}

nlohmann::json entities_json(const schedule::ScheduleResult& result) {
  nlohmann::json out = nlohmann::json::array();
  for (std::size_t i = 0; i < result.entities.size(); ++i) {
    const schedule::EntityFigures& f = result.entities[i];
    const schedule::EntityDescription& e = result.system.entities[i];
    const auto response = [&f](double value) { return f.completed > 0 ? nlohmann::json(value) : nlohmann::json(); };
    out.push_back({{"name", e.name},
                   {"kind", e.kind_name},
                   {"released", f.released},
                   {"completed", f.completed},
                   {"misses", f.misses},
                   {"response_min_us", response(us_of(f.response_min))},
                   {"response_mean_us", response(us_of(f.response_sum) / static_cast<double>(f.completed))},
                   {"response_max_us", response(us_of(f.response_max))},
                   {"cpu_us", us_of(f.cpu)}});
  }
  return out;
}

std::string schedule_page(const std::string& title, const schedule::ScheduleResult& result,
                          const schedule::Gantt& gantt) {
  std::uint64_t misses = 0;
  schedule::Ns busy = 0;
  for (const schedule::EntityFigures& f : result.entities) {
    misses += f.misses;
    busy += f.cpu;
  }
  const double horizon = us_of(result.system.horizon);
  nlohmann::json data =
      page_head("schedule", title, misses == 0 ? "sufficient" : "insufficient",
                misses == 0 ? "No deadline was missed." : fmt::format("{} deadlines were missed.", misses),
                {fmt::format("{} entities, {:g} ms, CPU used for {:.1f} % of the time.", result.entities.size(),
                             horizon * 1e-3, 100 * us_of(busy) / horizon)});
  data["entities"] = entities_json(result);
  data["horizon_us"] = horizon;
  data["cut"] = gantt.cut;
  data["shown_us"] = gantt.cut ? us_of(gantt.segments.back().end) : horizon;
  data["segments"] = nlohmann::json::array();
  for (const auto& s : gantt.segments) data["segments"].push_back({us_of(s.begin), us_of(s.end), s.entity});
  data["misses"] = nlohmann::json::array();
  for (const auto& m : gantt.misses) data["misses"].push_back({us_of(m.time), m.entity});
  return page_around(title + " - Offhook", data);
}

int run(const ScheduleOptions& options) {
  const std::string text = read_file(options.system, kMostTextBytes);
  const schedule::System system = schedule::parse_system(text, options.system);
  expect_one_alone({&options.csv, &options.json});
  const bool has_page = !options.html.empty() || !options.figures.empty();
  std::optional<OutputStream> csv;
  if (options.csv.asked() && !options.csv.alone())
    csv.emplace(OutputFile(options.csv.path, Privacy::kShared, Appears::kWhole));
  else if (!options.json.alone() && (options.csv.alone() || !has_page))
    csv.emplace(OutputFile::standard_output());
  std::ostream nowhere(nullptr);
  schedule::Gantt gantt;
  const schedule::ScheduleResult result =
      schedule::run_schedule(system, csv ? *csv : nowhere, has_page ? &gantt : nullptr);
  if (csv) csv->close();
  options.json.write(schedule::summary_json(result));
  if (has_page)
    write_page(schedule_page(std::filesystem::path(options.system).filename().string(), result, gantt), options.html,
               options.figures);
  return kOk;
}

}  // namespace

void add_schedule(App& app, Action& action) {
  App* sub = app.add_subcommand("schedule", "Simulate a system of interrupts, DPCs and threads, without a modem");
  auto options = std::make_shared<ScheduleOptions>();
  sub->add_option("system", options->system, "System description in JSON")->required()->type_name("SYSTEM.json");
  add_text_output(*sub, kCsvOption, options->csv,
                  "Write every event as CSV (time_ns,cpu,entity,event); the default, unless a page or --json without a "
                  "file is given");
  add_text_output(*sub, kJsonOption, options->json, "Jobs, misses, response times and CPU time of each entity as JSON");
  sub->add_option("--html", options->html, "Write a page: Gantt chart, and the figures of each entity")
      ->type_name("FILE");
  add_figures(*sub, options->figures);
  sub->footer(R"(Examples:
  offhook schedule examples/system.json --html schedule.html
  offhook schedule examples/system.json --csv schedule.csv
  offhook schedule examples/system.json --json summary.json | grep ,miss

`offhook help keys system` lists the keys of a system.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
