// SPDX-License-Identifier: MIT
#include "src/lab/analysis/verdict.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace offhook {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSufficient:
      return "sufficient";
    case Verdict::kMarginal:
      return "marginal";
    case Verdict::kInsufficient:
      return "insufficient";
  }
  return "unknown";
}

std::optional<Verdict> verdict_named(std::string_view name) {
  for (const Verdict v : {Verdict::kSufficient, Verdict::kMarginal, Verdict::kInsufficient}) {
    if (to_string(v) == name) return v;
  }
  return std::nullopt;
}

VerdictResult classify(std::span<const RunOutcome> runs, std::optional<double> reference_s, double tolerance) {
  assert(!runs.empty());
  VerdictResult result;
  result.runs = runs.size();
  double sum = 0;
  for (const RunOutcome& run : runs) {
    if (!run.complete) continue;
    result.min_s = result.complete == 0 ? run.transfer_s : std::min(result.min_s, run.transfer_s);
    result.max_s = std::max(result.max_s, run.transfer_s);
    result.complete += 1;
    sum += run.transfer_s;
  }
  if (result.complete == 0) return result;

  result.mean_s = sum / static_cast<double>(result.complete);
  double squares = 0;
  for (const RunOutcome& run : runs) {
    if (run.complete) squares += (run.transfer_s - result.mean_s) * (run.transfer_s - result.mean_s);
  }
  if (result.complete > 1) result.deviation_s = std::sqrt(squares / static_cast<double>(result.complete - 1));
  if (reference_s && *reference_s > 0) result.slower = result.mean_s / *reference_s - 1;
  const bool in_time = !result.slower || std::abs(*result.slower) <= tolerance;
  result.verdict = result.complete == result.runs && in_time ? Verdict::kSufficient : Verdict::kMarginal;
  return result;
}

}  // namespace offhook
