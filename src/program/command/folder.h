// SPDX-License-Identifier: MIT
//
// The files made in a run's folder after the call: summary, trace and report, all from the event log in it, so
// that they can be made again at any time, also for a call that was interrupted.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "driver/base/output.h"
#include "src/lab/analysis/figures.h"
#include "src/program/command/call_run.h"
#include "src/report/report.h"

namespace offhook::command {

struct LogContents {
  traces::LogHeader header;
  Figures figures;
  std::string warning;  ///< how the log ended, if it is incomplete
};
/// @throws traces::LogError, config::Error
LogContents read_log(const std::filesystem::path& log);

/// Keys of a scenario whose values differ from those of the earlier run in a folder, such as "context.kind, seed".
/// @return empty if the values are equal, or if the folder has no earlier run
std::string changed_keys(const std::filesystem::path& folder, const hostsim::Scenario& scenario);

/// Writes events, line recording, scenario.toml and an external modem's data while the call runs. @throws
/// std::runtime_error for a folder that cannot be written or a full disk
/// @param run  makes the call and writes to the sinks
CallOutcome record_call(const hostsim::Scenario& scenario, const OutputFolder& folder,
                        const std::function<bool(const CallProgress&)>& progress, const CallRunner& run);

/// @param log  header and figures of the call  @param reference  the same call in INT; none: no such call
RunSummary summary_of(const hostsim::Scenario& scenario, const CallOutcome& outcome, const LogContents& log,
                      const std::optional<CallOutcome>& reference = std::nullopt);

/// Writes summary.json, trace.perfetto and report.html from the files of record_call().
/// @param reference the same call in INT; none: no such call  @return the summary
RunSummary summarise(const hostsim::Scenario& scenario, const CallOutcome& outcome, const OutputFolder& folder,
                     const std::optional<CallOutcome>& reference = std::nullopt);

/// Writes report.html in the folder, for any command. @return its path
std::filesystem::path place_page(const std::filesystem::path& folder, const std::string& page);

/// Writes report.html of a live call from its log alone.
void report_live(const OutputFolder& folder);

/// Writes report.html again, from the folder of a run or from a single log. @return its path
std::filesystem::path report_run(const std::filesystem::path& folder_or_log, const std::filesystem::path& out);

}  // namespace offhook::command
