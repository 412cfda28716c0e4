// SPDX-License-Identifier: MIT
//
// The page of `offhook advise law`: the law's result for a device, and the results of the confirming experiments.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/lab/advice/experiment.h"
#include "src/report/report.h"

namespace offhook {

/// One row of the boundary, Y in ms.
struct BoundaryRow {
  int x_ticks = 0;
  double x_ms = 0;
  double full_ms = 0, simple_ms = 0, authors_ms = 0;  ///< longest Y; 0: none
  double host_ms = 0;   ///< margin of the full law, with the device's costliest block and the host's work in slots
  std::string decides;  ///< "share", "gap", "backlog"
};

struct LawReport {
  law::Setting setting;
  Settings settings;
  std::vector<BoundaryRow> boundary;
  std::optional<TickReservation> any_period, power_of_two;  ///< the recommendation
  std::vector<std::string> findings;                        ///< in words, following the law itself
  std::vector<law::ExperimentResult> experiments;
  std::vector<law::PhaseResult> phases;
};

std::string law_page(const LawReport& report);

/// "The law" as sentences that page and terminal share: share, gap, recommendation.
std::vector<std::string> law_sentences(const LawReport& report);
/// The result of an experiment, in one sentence.
std::string experiment_sentence(const law::ExperimentResult& result);

}  // namespace offhook
