// SPDX-License-Identifier: MIT
//
// The experiments that distinguish the reservation law from the authors' rule (analysis/law.h). Both agree on most of
// the measurements of Jones and Saroiu. Variants: the same device with one more block of transmit lead, with its
// shortest blocks only, under another clock tick, and from every starting phase. Each is an ordinary sweep, written as
// a grid file into a folder, so that it can be resumed, cut into shards, or run again by `offhook sweep`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "driver/base/output.h"
#include "hostsim/call/soft_device.h"
#include "src/lab/advice/law.h"
#include "src/lab/analysis/verdict.h"
#include "src/lab/sweep/shard.h"

namespace offhook::law {

struct Setting {
  hostsim::SoftDevice device;
  int tick_hz = 1024;
  double tick_ms() const { return 1000.0 / tick_hz; }
  /// The work of the host that the experiments run on.
  HostWork host_work() const;
};

struct Experiment {
  std::string id;       ///< of its files: "more-lead"
  std::string title;    ///< for people
  std::string changes;  ///< differences from the first experiment, a sentence
  Setting setting;
};
/// The unchanged device, and the variants. All without its one costliest block, which the law does not include.
std::vector<Experiment> experiments(const Setting& given);

/// Reservations of X ticks up to `x_max`, on both sides of every claimed limit.
std::vector<TickReservation> cells_near_the_limits(const Setting& setting, int x_max);

struct CellOutcome {
  TickReservation reservation;
  bool law = false, simple = false, authors = false;
  double margin_ms = 0;  ///< of the full law
  bool overloaded = false;
  VerdictResult simulated;
};
struct ExperimentResult {
  Experiment experiment;
  std::vector<CellOutcome> cells;
  /// Longest Y in ticks for X = index + 1 such that every simulated cell up to it was sufficient; 0: none.
  std::vector<int> simulated_limit, law_limit, authors_limit;
  /// Cells whose simulation is sufficient exactly when the law (the authors' rule) is fulfilled.
  std::size_t law_agrees = 0, authors_agree = 0;
};

/// Success against starting phase, the card's crystal exactly the host's.
struct PhaseResult {
  TickReservation reservation;
  bool law = false;
  std::vector<std::pair<double, bool>> success;  ///< phase as a share of Y, nothing lost
};

struct Options {
  const OutputFolder* folder = nullptr;     ///< of the sweeps
  const hostsim::Scenario* line = nullptr;  ///< whose line the device's real pump is on; none: costs alone
  int x_max = 8;
  std::uint32_t phases = 10;  ///< runs per cell, each from another starting phase
  double seconds = 60;        ///< a run
  unsigned threads = 1;
  std::function<bool()> stop;
  std::function<void(std::size_t done, std::size_t runs, const std::string& title)> progress;
  sweep::Run run;
};

/// @return false when stopped: the same call resumes.  @throws config::Error, std::runtime_error
bool run_experiment(const Experiment& experiment, const Options& options, ExperimentResult& result);
/// The reservations at the law's limit and just beyond it, from `steps` starting phases.
bool run_phases(const Setting& setting, const Options& options, int steps, std::vector<PhaseResult>& results);

}  // namespace offhook::law
