// SPDX-License-Identifier: MIT
#include "src/lab/schedule/schedule.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "driver/path/output.h"
#include "src/program/command/program.h"
#include "traces/file/file.h"

namespace offhook::command {
namespace {

struct Options {
  std::string system, out, summary;
};

int run(const Options& options) {
  const std::string text = read_file(options.system, kMostTextBytes);
  const schedule::System system = schedule::parse_system(text, options.system);
  const bool to_stdout = options.out.empty() || options.out == "-";
  OutputStream out(to_stdout ? OutputFile::standard_output()
                             : OutputFile(options.out, Privacy::kShared, Appears::kWhole));
  const schedule::ScheduleResult result = schedule::run_schedule(system, out);
  out.close();
  if (!options.summary.empty()) write_file(options.summary, schedule::summary_json(result) + "\n");
  return kOk;
}

}  // namespace

void add_schedule(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("schedule", "Run a bare system of interrupts, DPCs and threads, without a modem");
  auto options = std::make_shared<Options>();
  sub->add_option("system", options->system, "Description of the system, JSON")->required()->type_name("SYSTEM.json");
  sub->add_option("-o,--out", options->out,
                  "Every event as CSV: time_ns,cpu,entity,event; otherwise to standard output")
      ->type_name("FILE");
  sub->add_option("--summary", options->summary, "Jobs, misses, response times and CPU time per entity, JSON")
      ->type_name("FILE");
  sub->footer(R"(Examples:
  offhook schedule examples/system.json --out schedule.csv
  offhook schedule examples/system.json --summary summary.json | grep ,miss)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
