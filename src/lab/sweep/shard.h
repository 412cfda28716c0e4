// SPDX-License-Identifier: MIT
//
// Shards of a sweep. Each is a file of JSON lines: a head that names plan and shard, one line per run, a checksum. A
// shard file is complete or absent, so a killed sweep can resume, and running a shard twice changes nothing.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/base/output.h"
#include "src/lab/sweep/plan.h"
#include "src/lab/sweep/row.h"

namespace offhook::sweep {

/// A run. The same scenario gives the same row.
using Run = std::function<RunRow(const hostsim::Scenario&)>;

inline constexpr const char* kPlanName = "plan.json";
std::filesystem::path plan_path(const std::filesystem::path& folder);
std::filesystem::path shard_path(const std::filesystem::path& folder, std::uint32_t shard);

/// The rows in a shard's text. @param problem  is set if it is another shard or damaged  @param name  for messages
std::vector<std::string> parse_shard(std::string_view text, const Plan& plan, std::uint32_t shard,
                                     std::optional<std::string>& problem, const std::string& name);

/// The problem of this shard's file: "missing", "foreign: ...", "damaged: ..."; nothing if it is done.
std::optional<std::string> shard_problem(const std::filesystem::path& folder, const Plan& plan, std::uint32_t shard);

struct RunOptions {
  unsigned threads = 1;
  std::function<bool()> stop;             ///< called between runs; if it returns true, the current runs are abandoned
  std::function<void(std::size_t)> done;  ///< number of finished runs; from any thread, one call at a time
};

/// Runs those of the given shards that are not done, in parallel.
/// @return false if stopped.  @throws exceptions of a run or a write, after the other threads have ended
bool run_shards(const OutputFolder& folder, const Plan& plan, const std::vector<std::uint32_t>& shards, const Run& run,
                const RunOptions& options);

/// The rows of every shard, in order of runs. @throws config::Error naming the shards that are missing, foreign or
/// damaged, or the invalid row
std::vector<RunRow> read_rows(const std::filesystem::path& folder, const Plan& plan);

}  // namespace offhook::sweep
