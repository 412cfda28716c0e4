// SPDX-License-Identifier: MIT
//
// The result of a sweep: every run, and each cell's verdict over its repeats against the transfer time in context INT.
// It depends only on plan and rows: the bytes are the same however the sweep was split, run and merged.
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
  double reference_s = 0;  ///< 0: none, or it did not complete
  std::uint32_t pending_max = 0;
  std::uint64_t blocks_late = 0;  ///< of all repeats
  std::uint64_t retransmitted = 0;
};

/// @param rows  one per run, in the plan's order, from read_rows()
std::vector<CellResult> cell_results(const Plan& plan, const std::vector<RunRow>& rows);

/// A TOML value for people: strings without quotes.
std::string plain_value(const std::string& value);

/// One line per run: axes, repeat, seed, then all figures of the row.
std::string results_csv(const Plan& plan, const std::vector<RunRow>& rows);
extern const record::Table kSweepResults;
extern const record::Table kSweepVerdict;  ///< of a CellResult: name, verdict, number of runs
/// Cells with verdicts and their rows.
std::string results_json(const Plan& plan, const std::vector<RunRow>& rows);

}  // namespace offhook::sweep
