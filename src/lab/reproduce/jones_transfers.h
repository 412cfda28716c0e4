// SPDX-License-Identifier: MIT
//
// The transfers of Tables 1 to 3. If a result differs from the published one, every unpublished constant of the link
// and of the host is varied, one after the other. So a row claims an effect of a constant only if the simulation shows
// it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/lab/analysis/verdict.h"
#include "src/lab/reproduce/call_log.h"

namespace offhook::reproduce {

/// One row of a table: the runs of one context.
struct Transfers {
  std::string name;
  std::vector<RunOutcome> runs;
  VerdictResult result;
  MeanInterval time;  ///< of the complete runs
  double complete_percent() const;
};

/// With the run's perturbation. The pool's servers have their own time-outs, which do not follow those of the dedicated
/// server.
Setup setup_of(const Run& run, const hostsim::Scenario& scenario, const hostsim::CostProfile& profile, bool pool);

/// Runs each scenario several times, each time with another seed and thus another starting phase. Classes are relative
/// to the first scenario. @param besides  changes after the run's own perturbation
std::vector<Transfers> transfers(const Run& run, const std::vector<hostsim::Scenario>& scenarios,
                                 const hostsim::CostProfile& profile, bool pool = false,
                                 const Perturbation& besides = {});

/// "7 of 10".
std::string of(std::size_t n, std::size_t all);

/// The effect of changes to an unpublished constant on the rows of one table.
class Trials {
 public:
  /// @param run  must outlive it
  Trials(const Run& run, hostsim::CostProfile profile, bool pool)
      : run_(run), profile_(std::move(profile)), pool_(pool) {}

  /// A sentence about the changes that bring the mean time nearer to the published one, or to its other side, by more
  /// than `share` of it. @param more  additional changes for this row: "down_bps=31200"
  std::string of_time(const hostsim::Scenario& scenario, const Transfers& as_it_is, double published_s, double share,
                      const std::vector<std::string>& more = {});
  /// The same for the share of transfers that complete, by more than `tolerance` per cent.
  std::string of_completion(const hostsim::Scenario& scenario, const Transfers& as_it_is, double published_percent,
                            double tolerance);

 private:
  const Transfers& with(const hostsim::Scenario& scenario, const std::string& change);
  const Run& run_;
  hostsim::CostProfile profile_;
  bool pool_;
  std::map<std::string, Transfers> done_;
};

}  // namespace offhook::reproduce
