// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "driver/base/output.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "src/measure/kernel_recording.h"
#include "src/program/command/program.h"
#include "src/program/command/results.h"
#include "src/program/command/run_folder.h"
#include "traces/export/csv.h"
#include "traces/export/perfetto.h"
#include "traces/import/import.h"
#include "traces/import/perf_sched.h"
#include "traces/log/clock.h"
#include "traces/log/header.h"
#include "traces/log/reader.h"

namespace offhook::command {
namespace {

struct ExportOptions {
  std::string in, kernel;
  TextOutput perfetto, csv, json;
  std::optional<std::int64_t> kernel_offset_ns;
};

/// The kernel's trace for the log: the given one, or the one in a live call's folder.
std::string kernel_file(const ExportOptions& options) {
  const std::filesystem::path recorded = std::filesystem::path(options.in) / measure::kKernelName;
  if (!options.kernel.empty() || !std::filesystem::exists(recorded)) return options.kernel;
  return recorded;
}

/// @throws std::runtime_error if the relation of the two clocks is unknown
std::int64_t to_log_clock(const ExportOptions& options, const traces::LogHeader& header,
                          const traces::KernelTraceText& trace, const std::string& file) {
  if (options.kernel_offset_ns) return *options.kernel_offset_ns;
  const std::optional<traces::LogClock>& clock = header.scenario.clock;
  if (!clock)
    throw std::runtime_error(
        fmt::format("{}: not the log of a live call: it has no clock to align {} with", options.in, file));
  if (const auto offset = traces::to_log_clock(*clock, trace.clock)) return *offset;
  throw std::runtime_error(
      fmt::format("{}: its clock ({}) cannot be compared with the log's, CLOCK_MONOTONIC; record with trace-cmd record "
                  "-C mono, or give --kernel-offset-ns",
                  file, trace.clock.empty() ? "not named" : trace.clock));
}

struct Exported {
  std::string out, kernel;
  std::uint64_t kernel_events = 0;
  std::int64_t offset_ns = 0;
  traces::LogReader::Ending log;
};

using ExportedKeys = record::Written<Exported>;
using Ending = traces::LogReader::Ending;
constexpr record::Row kExportRows[] = {
    ExportedKeys::of<&Exported::out>("out", "", "output file"),
    ExportedKeys::of<&Exported::log, &Ending::events>("events", "", "exported events"),
    ExportedKeys::of<&Exported::kernel>("kernel", "", "kernel trace that was added; empty: none"),
    ExportedKeys::of<&Exported::kernel_events>("kernel_events", "", "events of the kernel trace"),
    ExportedKeys::of<&Exported::offset_ns>("kernel_offset_ns", "ns", "offset added to kernel timestamps"),
    ExportedKeys::of<&Exported::log, &Ending::lost>("lost", "", "events that did not fit into the log"),
    ExportedKeys::of<&Exported::log, &Ending::complete>("complete", "", "whether the log has its end record"),
    ExportedKeys::of<&Exported::log, &Ending::truncated>("truncated", "",
                                                         "whether the log ends early but is otherwise intact"),
    ExportedKeys::of<&Exported::log, &Ending::message>("message", "", "damage of the log; empty: none"),
};

int run_export(const ExportOptions& options) {
  if (!options.kernel.empty() && !options.perfetto.asked()) throw std::runtime_error("--kernel requires --perfetto");
  if (options.perfetto.asked() == options.csv.asked()) throw std::runtime_error("expected --perfetto or --csv");
  expect_one_alone({&options.perfetto, &options.csv, &options.json});
  traces::LogReader log(log_in(options.in).string());
  if (options.perfetto.alone() && isatty(STDOUT_FILENO) == 1)
    throw std::runtime_error("a Perfetto trace is binary: give --perfetto FILE or redirect standard output");
  const TextOutput& to = options.perfetto.asked() ? options.perfetto : options.csv;
  OutputStream out(to.alone() ? OutputFile::standard_output()
                              : OutputFile(to.path, Privacy::kPrivate, Appears::kWhole));
  Exported done{.out = to.path, .kernel = {}, .log = {}};
  if (options.perfetto.asked()) {
    traces::KernelSource source;
    traces::KernelTraceText trace;
    if (done.kernel = kernel_file(options); !done.kernel.empty()) {
      trace = traces::import_kernel_trace(done.kernel);
      done.offset_ns =
          to_log_clock(options, traces::parse_log_header(log.header_json(), log.name()), trace, done.kernel);
      source.to_log_ns = done.offset_ns;
      source.read = [&](const auto& take) { traces::read_perf_sched(trace.text, done.kernel, take); };
    }
    done.kernel_events = traces::export_perfetto(log, out, source);
    if (!done.kernel.empty() && done.kernel_events == 0)
      throw std::runtime_error(fmt::format(
          "{}: none of its events lies within the call: it belongs to another call or another clock", done.kernel));
  } else {
    traces::export_csv(log, out);
  }
  out.close();
  const Ending& ending = done.log = log.ending();
  options.json.write(record::json_text(kExport, &done));
  // The log of a killed process is complete up to its end. A damaged log may lack any events.
  if (ending.truncated) say(stderr, "offhook: {}\n", ending.message);
  if (!ending.complete && !ending.truncated)
    throw std::runtime_error(ending.message + " (everything before it was exported)");
  return kOk;
}

}  // namespace

constexpr record::Table kExport{kExportRows};

void add_export(App& report, Action& action) {
  App* sub = report.add_subcommand("export", "Convert an event log for other programs");
  auto options = std::make_shared<ExportOptions>();
  add_text_output(*sub, kPerfettoOption, options->perfetto, "Write a Perfetto trace, for ui.perfetto.dev");
  add_text_output(*sub, kCsvOption, options->csv, "Write one event per line: time_ns,cpu,kind,id,name,argument");
  sub->add_option("input", options->in, "Output folder of a run, or an event log")->required()->type_name("DIR_OR_LOG");
  sub->add_option("--kernel", options->kernel,
                  "Add the kernel's scheduling to the Perfetto trace, from trace-cmd's .dat or perf sched script "
                  "(default: the recording of `offhook modem --trace-kernel`)")
      ->type_name("FILE");
  sub->add_option("--kernel-offset-ns", options->kernel_offset_ns,
                  "Offset added to kernel timestamps (default: from the trace clock and the log header)")
      ->type_name("NS");
  add_text_output(*sub, kJsonOption, options->json, "Summary of the export as JSON");
  sub->footer(R"(Examples:
  offhook report export out/res-2-8 --perfetto call.perfetto
  offhook report export out/res-2-8/events.ohlog --csv | grep ,service_begin,
  sudo offhook modem unix:/run/card-a --out out/live --trace-kernel && offhook report export out/live --perfetto live.perfetto
  sudo trace-cmd record -C mono -e sched_switch -e irq -o board.dat     # during a call of offhook modem --out out/live
  offhook report export out/live --kernel board.dat --perfetto live.perfetto)");
  sub->final_callback([&action, options] { action = [options] { return run_export(*options); }; });
}

}  // namespace offhook::command
