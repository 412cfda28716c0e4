// SPDX-License-Identifier: MIT
//
// Sufficient, marginal or insufficient, over repeated runs of one configuration: the three classes of Jones & Saroiu,
// section 6.6 and Figure 17, made exact.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace offhook {

enum class Verdict {
  kSufficient,    ///< every run completed, with a mean time within the tolerance of the reference
  kMarginal,      ///< anything else
  kInsufficient,  ///< no run completed
};
std::string_view to_string(Verdict verdict);
std::optional<Verdict> verdict_named(std::string_view name);

/// The result of one run.
struct RunOutcome {
  bool complete = false;  ///< the whole file arrived
  double transfer_s = 0;  ///< time of the transfer if complete
};

inline constexpr double kVerdictTolerance = 0.05;

struct VerdictResult {
  Verdict verdict = Verdict::kInsufficient;
  std::size_t runs = 0;
  std::size_t complete = 0;
  double mean_s = 0, min_s = 0, max_s = 0, deviation_s = 0;  ///< of the complete runs; 0 if there are none
  std::optional<double> slower;  ///< mean_s / reference - 1; none without a reference or a complete run
};

/// @param reference_s mean transfer time of the reference context (INT); without one, complete runs count as on time
/// @pre runs is not empty
VerdictResult classify(std::span<const RunOutcome> runs, std::optional<double> reference_s,
                       double tolerance = kVerdictTolerance);

}  // namespace offhook
