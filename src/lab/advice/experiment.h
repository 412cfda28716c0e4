// SPDX-License-Identifier: MIT
//
// The experiments that distinguish the reservation law from the authors' rule (analysis/law.h). Both agree on most of
// the measurements of Jones and Saroiu. Variants: the device with one more block of transmit lead, with only its
// shortest blocks, with another clock tick, and from every starting phase. Each variant is an ordinary sweep, written
// as a grid file into a folder. So `offhook sweep` can resume it, split it into shards, or run it again.
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
  /// The work of the host on which the experiments run.
  HostWork host_work() const;
};

struct Experiment {
  std::string id;       ///< name in its files: "more-lead"
  std::string title;    ///< for people
  std::string changes;  ///< a sentence: differences from the first experiment
  Setting setting;
};
/// The unchanged device and its variants. All variants omit the costliest block, which the law does not include.
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
  /// Longest Y in ticks for X = index + 1 up to which all simulated cells were sufficient; 0: none.
  std::vector<int> simulated_limit, law_limit, authors_limit;
  /// Cells whose simulation is sufficient if and only if the law (the authors' rule) is fulfilled.
  std::size_t law_agrees = 0, authors_agree = 0;
};

/// Success for each starting phase, with the card's crystal equal to the host's.
struct PhaseResult {
  TickReservation reservation;
  bool law = false;
  std::vector<std::pair<double, bool>> success;  ///< phase as a share of Y; whether nothing was lost
};

struct Options {
  const OutputFolder* folder = nullptr;     ///< of the sweeps
  const hostsim::Scenario* line = nullptr;  ///< line of the device's real pump; none: only costs
  int x_max = 8;
  std::uint32_t phases = 10;  ///< runs per cell, each with another starting phase
  double seconds = 60;        ///< a run
  unsigned threads = 1;
  std::function<bool()> stop;
  std::function<void(std::size_t done, std::size_t runs, const std::string& title)> progress;
  sweep::Run run;
};

/// @return false if stopped; the same call resumes.  @throws config::Error, std::runtime_error
bool run_experiment(const Experiment& experiment, const Options& options, ExperimentResult& result);
/// The reservations at the law's limit and just after it, from `steps` starting phases.
bool run_phases(const Setting& setting, const Options& options, int steps, std::vector<PhaseResult>& results);

}  // namespace offhook::law
