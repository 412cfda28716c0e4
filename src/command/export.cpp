// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "src/command/program.h"
#include "src/output/run_folder.h"
#include "traces/export/csv.h"
#include "traces/export/perfetto.h"
#include "traces/log/reader.h"

namespace offhook::command {
namespace {

struct Options {
  bool perfetto = false, csv = false, json = false;
  std::string in, out;
};

int run_export(const Options& options) {
  if (options.perfetto == options.csv) throw std::runtime_error("give one of --perfetto and --csv");
  traces::LogReader log(log_in(options.in).string());
  const bool to_stdout = options.out.empty() || options.out == "-";
  if (to_stdout && options.json) throw std::runtime_error("--json needs -o FILE: standard output is the export's");
  if (to_stdout && options.perfetto && isatty(STDOUT_FILENO) == 1) {
    throw std::runtime_error("a Perfetto trace is binary: give -o FILE or redirect standard output");
  }
  std::ofstream file;
  if (!to_stdout) {
    file.open(options.out, std::ios::binary);
    if (!file) throw std::runtime_error(fmt::format("{}: {}", options.out, std::generic_category().message(errno)));
  }
  std::ostream& out = to_stdout ? std::cout : file;
  if (options.perfetto) {
    traces::export_perfetto(log, out);
  } else {
    traces::export_csv(log, out);
  }
  errno = 0;
  if (!out.flush()) {
    throw std::runtime_error(fmt::format("{}: {}", to_stdout ? "standard output" : options.out,
                                         std::generic_category().message(errno != 0 ? errno : EIO)));
  }
  const auto& ending = log.ending();
  if (options.json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"out", options.out},
                                              {"events", ending.events},
                                              {"lost", ending.lost},
                                              {"complete", ending.complete},
                                              {"truncated", ending.truncated},
                                              {"message", ending.message}}
                           .dump());
  }
  // What a killed process left is whole as far as it goes; a damaged log may have lost anything.
  if (ending.truncated) fmt::print(stderr, "offhook: {}\n", ending.message);
  if (!ending.complete && !ending.truncated)
    throw std::runtime_error(ending.message + " (everything before it was exported)");
  return kOk;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("export", "Convert an event log for other programs");
  auto options = std::make_shared<Options>();
  sub->add_flag("--perfetto", options->perfetto, "A Perfetto trace: open it in ui.perfetto.dev");
  sub->add_flag("--csv", options->csv, "One event a line: time_ns,cpu,kind,id,name,argument");
  sub->add_option("input", options->in, "Output folder of a run, or an event log")->required()->type_name("DIR_OR_LOG");
  sub->add_option("-o,--out", options->out, "Write here; otherwise to standard output")->type_name("FILE");
  sub->add_flag("--json", options->json, "Say on standard output what was exported (with -o)");
  sub->footer(R"(Examples:
  offhook export --perfetto out/res-2-8 -o call.perfetto
  offhook export --csv out/res-2-8/events.ohlog | grep tx_underrun)");
  sub->final_callback([&action, options] { action = [options] { return run_export(*options); }; });
}

}  // namespace offhook::command
