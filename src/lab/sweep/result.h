// SPDX-License-Identifier: MIT
//
// The result of a sweep: every run, and each cell's verdict over its repeats against the transfer time in context INT.
// A function of plan and rows alone: the same bytes however the sweep was cut, run and merged.
#pragma once

#include <string>
#include <vector>

#include "src/lab/analysis/verdict.h"
#include "src/lab/sweep/plan.h"
#include "src/lab/sweep/row.h"

namespace offhook::sweep {

struct CellResult {
  std::string name;  ///< "RES 3/16 strict", or the values of the axes
  VerdictResult result;
  double reference_s = 0;  ///< 0: there is none, or it did not complete
  std::uint32_t pending_max = 0;
  std::uint64_t blocks_late = 0;  ///< of all repeats
  std::uint64_t retransmitted = 0;
};

/// @param rows one a run, in the plan's order, as read_rows() gives them
std::vector<CellResult> cell_results(const Plan& plan, const std::vector<RunRow>& rows);

/// A TOML value as people write it: a string without its quotes.
std::string plain_value(const std::string& value);

/// One line a run: axes, repeat, seed, then every figure of the row.
std::string results_csv(const Plan& plan, const std::vector<RunRow>& rows);
extern const record::Table kSweepResults;
/// Cells with verdicts and their rows.
std::string results_json(const Plan& plan, const std::vector<RunRow>& rows);

}  // namespace offhook::sweep
