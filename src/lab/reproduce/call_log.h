// SPDX-License-Identifier: MIT
//
// One call for an experiment: the same analysis reads the log as every other log, and figures are taken from it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hostsim/call/call.h"
#include "src/lab/analysis/figures.h"
#include "src/lab/reproduce/claim.h"

namespace offhook::reproduce {

struct CallLog {
  hostsim::CallResult result;
  Figures figures;
};

/// A call with the scenario's cost profile, in a context with the name of the paper's tables.
/// @param context "RES 2/8", "THR 24"
hostsim::Scenario call_scenario(std::string_view context, bool spinner, std::uint64_t seed);
/// Converts "THR24" and "RES 2/16" of the published tables to the grammar of ContextSpec::parse().
std::string context_name(std::string name);
/// A reservation of Table 3, with its name there, next to the spinner and never outside its slots.
/// @param row  with x_ms and y_ms
hostsim::Scenario strict_reservation(const Published& row, std::uint64_t seed);

/// Runs it to its end or its time limit, and analyses every event of its log.
/// @throws std::runtime_error if events were lost
CallLog run_logged(const hostsim::Scenario& scenario, const hostsim::CostProfile& profile);
/// With the scenario's profile. The run perturbs both.
Setup perturbed(const Run& run, const hostsim::Scenario& scenario);
/// With the scenario's profile, under the run's perturbation.
CallLog run_logged(const Run& run, const hostsim::Scenario& scenario);
/// The outcome of the transfer, from its log. @throws as run_logged()
RunOutcome run_transfer(const Setup& setup);

/// Creates a connection that writes this log.
using Connect = std::function<std::unique_ptr<hostsim::Connection>(oh_event_log*)>;
struct TransferRun {
  hostsim::CallResult result;
  RunOutcome outcome;  ///< by the log
};
/// As above, with another connection than the link model. @throws as run_logged()
TransferRun run_transfer(const Setup& setup, const Connect& connect);

/// The interval of a call in one phase; empty if the call did not reach it.
struct Stretch {
  double begin_s = 0, end_s = 0;
};
Stretch stretch(const Figures& figures, hostsim::Phase phase);

/// The values of a series within an interval.
std::vector<double> values_in(const std::vector<SeriesPoint>& points, const Stretch& stretch);
double mean(const std::vector<double>& values);
/// @param share 0 to 1; the nearest rank is used. 0 when empty
double quantile(std::vector<double> values, double share);
double largest(const std::vector<double>& values);

/// Points in seconds, for a figure.
Series series_of(std::string name, const std::vector<SeriesPoint>& points);
/// The bars of a histogram up to the last non-empty one; x and width in `unit` (1e6: from ns to ms).
Series bars_of(std::string name, const LinearHistogram& histogram, double unit);

}  // namespace offhook::reproduce
