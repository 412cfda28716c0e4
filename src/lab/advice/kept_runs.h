// SPDX-License-Identifier: MIT
//
// Finished runs of `offhook advise`, one line each in a file of its output folder. An interrupted command resumes, and
// a question that differs in one parameter runs only the new part.
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "driver/base/output.h"
#include "src/lab/advice/advice.h"

namespace offhook::advice {

using RunsByKey = std::map<std::string, nlohmann::ordered_json>;

/// The runs in the text of such a file. Incomplete and damaged lines, and those with a wrong checksum, are left out.
RunsByKey parse_kept_runs(std::string_view text);
/// The line of a run, without its line end.
std::string kept_run_line(const std::string& key, const nlohmann::ordered_json& run);
/// @tparam Run  Measured or Lost  @return nothing if the line is of another type
template <typename Run>
std::optional<Run> run_from(const nlohmann::ordered_json& run);

class KeptRuns {
 public:
  /// Reads the existing file.
  /// @param identity of all inputs of a run except its scenario
  /// @throws std::runtime_error if the file cannot be written
  KeptRuns(const OutputFolder& folder, const std::string& name, std::string identity);
  /// Both may be called from any thread. @tparam Run  type of all runs of the file: Measured or Lost
  template <typename Run>
  std::optional<Run> find(const hostsim::Scenario& scenario) const;
  template <typename Run>
  void keep(const hostsim::Scenario& scenario, const Run& run);

 private:
  std::string key(const hostsim::Scenario& scenario) const;

  OutputFile out_;
  std::string identity_;
  mutable std::mutex mutex_;
  RunsByKey runs_;
};

}  // namespace offhook::advice
