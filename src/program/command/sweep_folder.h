// SPDX-License-Identifier: MIT
//
// A sweep's folder: plan.json, shards/, and once merged results.csv, results.json and report.html.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "driver/base/output.h"
#include "src/lab/sweep/plan.h"
#include "src/lab/sweep/result.h"
#include "src/report/report.h"

namespace offhook::command {

bool is_sweep_folder(const std::filesystem::path& folder);
/// Reads the plan in the folder. @throws config::Error, std::runtime_error
sweep::Plan load_plan(const std::filesystem::path& folder);
/// Combines the shards and writes the results. @throws config::Error naming missing, foreign or damaged shards
std::vector<sweep::CellResult> merge_sweep(const OutputFolder& folder, const sweep::Plan& plan);
/// Writes report.html again. @return its path
std::filesystem::path report_sweep(const std::filesystem::path& folder, const std::filesystem::path& out);

/// Cells as rows of a report, where reservations become points of its map.
std::vector<SweepRow> report_rows(const sweep::Plan& plan, const std::vector<sweep::CellResult>& cells);

}  // namespace offhook::command
