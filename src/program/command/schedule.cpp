// SPDX-License-Identifier: MIT
#include "src/lab/schedule/schedule.h"

#include <optional>
#include <ostream>
#include <string>

#include "driver/base/file.h"
#include "driver/base/output.h"
#include "src/program/command/program.h"

namespace offhook::command {
namespace {

struct Options {
  std::string system;
  TextOutput csv, json;
};

int run(const Options& options) {
  const std::string text = read_file(options.system, kMostTextBytes);
  const schedule::System system = schedule::parse_system(text, options.system);
  expect_one_alone({&options.csv, &options.json});
  std::optional<OutputStream> csv;
  if (options.csv.asked() && !options.csv.alone())
    csv.emplace(OutputFile(options.csv.path, Privacy::kShared, Appears::kWhole));
  else if (!options.json.alone())
    csv.emplace(OutputFile::standard_output());
  std::ostream nowhere(nullptr);
  const schedule::ScheduleResult result = schedule::run_schedule(system, csv ? *csv : nowhere);
  if (csv) csv->close();
  options.json.write(schedule::summary_json(result));
  return kOk;
}

}  // namespace

void add_schedule(App& app, Action& action) {
  App* sub = app.add_subcommand("schedule", "Simulate a system of interrupts, DPCs and threads, without a modem");
  auto options = std::make_shared<Options>();
  sub->add_option("system", options->system, "System description in JSON")->required()->type_name("SYSTEM.json");
  add_text_output(*sub, kCsvOption, options->csv,
                  "Write every event as CSV (time_ns,cpu,entity,event); the default if no other output is given");
  add_text_output(*sub, kJsonOption, options->json, "Jobs, misses, response times and CPU time of each entity as JSON");
  sub->footer(R"(Examples:
  offhook schedule examples/system.json --csv schedule.csv
  offhook schedule examples/system.json --json summary.json | grep ,miss

`offhook keys system` lists the keys of a system.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
