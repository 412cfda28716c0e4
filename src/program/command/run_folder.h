// SPDX-License-Identifier: MIT
//
// The names in a run's output folder.
#pragma once

#include <filesystem>

namespace offhook {

inline constexpr const char* kLogName = "events.ohlog";  ///< the event log, from which every figure is derived
inline constexpr const char* kSummaryName = "summary.json";
inline constexpr const char* kScenarioName = "scenario.toml";  ///< the effective scenario
inline constexpr const char* kLineName = "line.wav";           ///< near end left, far end right
inline constexpr const char* kReceivedName = "received.bin";   ///< a foreign modem's data
inline constexpr const char* kTraceName = "trace.perfetto";
inline constexpr const char* kReportName = "report.html";

/// The event log that the user names by a folder or a file.
inline std::filesystem::path log_in(const std::filesystem::path& given) {
  return std::filesystem::is_directory(given) ? given / kLogName : given;
}

}  // namespace offhook
