// SPDX-License-Identifier: MIT
//
// Shared by the subcommands of `offhook measure`: options, and how results are printed and written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/base/histogram.h"
#include "driver/base/record.h"
#include "driver/context/live_context.h"
#include "driver/kernel/kernel_device.h"
#include "src/measure/host_description.h"
#include "src/measure/kernel_trace.h"
#include "src/measure/latency.h"
#include "src/measure/loads.h"
#include "src/measure/stages.h"
#include "src/program/command/program.h"

namespace offhook::command {

struct MeasureOptions {
  std::string context = "FIFO 80", hgrm, pump = "v22bis", scenario, profile, html, kernel_host;
  double interval_us = 1000, seconds = 10, gap_us = 2.2;
  std::vector<std::string> threshold;  ///< us, and a command
  std::vector<std::string> loads;
  std::optional<int> cpu;
  int repeats = 10'000;
  TextOutput json;
  bool best_effort = false, stages = false, top = false;
  int samples_hz = 4'000;

  LiveContextConfig context_spec() const;
  std::int64_t threshold_ns() const;  ///< 0: none. @throws std::runtime_error if it is not a number
};

// Options common to several measurements.
void add_common(App* sub, MeasureOptions& options);
void add_context(App* sub, MeasureOptions& options);
void add_seconds(App* sub, MeasureOptions& options);
/// @param what  the compared value, such as "latency"
void add_threshold(App* sub, MeasureOptions& options, const std::string& what);

void say_without(const std::vector<std::string>& without);
void print_quantiles(const char* what, const LogLinearHistogram& h);
void print_bars(const LogLinearHistogram& h);
/// One file, DIR/NAME.hgrm, named after the measurement. Nothing without --hgrm.
void write_hgrm_into_folder(const MeasureOptions& options, const std::string& name, const LogLinearHistogram& h);
void write_hgrm(const MeasureOptions& options, const LogLinearHistogram& h);

/// The first keys of each result: a part without its own key.
struct Measured {
  const char* measure;
  measure::HostDescription host = measure::describe_host();
};
extern const record::Table kMeasured;

/// Writes and prints the JSON, and runs the command if the threshold was exceeded. @param result  has this table
/// @param over_ns  the value that exceeded it; 0: none  @return the exit status
int finish_measure(const MeasureOptions& options, const record::Table& table, const void* result,
                   std::int64_t over_ns = 0);

inline double us_of(double ns) {
  return ns * 1e-3;
}

measure::LatencyConfig latency_config(const MeasureOptions& options);
// --load
void add_load(App* sub, MeasureOptions& options, const std::string& more);
/// --load help: prints the loads. @return whether the option was given
bool list_loads(const MeasureOptions& options);
/// Null for "none". Fork before there are threads.
std::unique_ptr<measure::LoadProcess> start_load(const measure::LoadKind& kind);
/// @throws std::runtime_error if it ended by itself
void say_load_failed(const measure::LoadKind& kind, const measure::LoadProcess* load);

/// The result under one load.
struct UnderLoad {
  std::string load;
  std::uint64_t rounds = 0;
  measure::LatencyResult result;
  std::unique_ptr<measure::KernelTrace> trace;
  std::unique_ptr<measure::StageCollector> collector;

  const measure::StageHistograms* stages() const { return collector ? &collector->histograms() : nullptr; }
};
/// @param device  null: a thread of this process
UnderLoad measure_under(const MeasureOptions& options, const measure::LoadKind& kind, KernelDevice* device);
/// The loads of --load: "all" means every load that can run here; without the option, "none".
std::vector<const measure::LoadKind*> chosen_loads(const MeasureOptions& options);

// One a file.
void add_measure_batch(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& options);
void add_measure_bank(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& options);
void add_measure_device(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& options);
void add_measure_latency(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& options);
void add_measure_host(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& options);
void add_measure_host_profile(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& options);
void add_measure_cause(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& options);

}  // namespace offhook::command
