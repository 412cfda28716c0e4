// SPDX-License-Identifier: MIT
//
// The machine of Regehr and Stankovic (4.2): a 500 MHz Pentium III with one CPU, on which a test thread with a
// reservation every 20 ms competes with a spinning thread while devices steal time.
#pragma once

#include <optional>
#include <vector>

#include "hostsim/host/device_load.h"
#include "hostsim/host/stolen_time_probe.h"
#include "hostsim/sched/augmented_rez.h"
#include "traces/scenario/load_device.h"

namespace offhook::reproduce {

/// One set of constants for all experiments of the paper.
struct RegehrMachine {
  int tick_hz = 4096;  ///< 4.2: timer interrupts, and with them enforcement, every 244 us
  /// Assumption, as in traces/data/hosts/nt2000-p2-450.toml. It is visible in Figure 1, so it is at least 1.65 us.
  hostsim::Ns clock_isr = 2000;
  hostsim::LoadDevice network = config::load_preset("network");  ///< traces/data/load/network.toml
  /// Figure 4: "a small base amount of time stolen by background system activity". Assumption.
  hostsim::LoadDevice background{
      .name = "system", .every_ns = 10'000'000, .jitter = 1, .isr_ns = 2500, .dpc_ns = 20'000};
};

struct RegehrRun {
  hostsim::RezForm form = hostsim::RezForm::kRez;
  double over_reservation = 0;  ///< share of `needed` that is reserved in addition
  hostsim::Ns needed = 4'000'000;
  hostsim::Ns period = 20'000'000;
  double seconds = 10;
  double gain = 0.5;
  bool whole_ticks = true;                           ///< Rez-FB: C in enforceable units; otherwise as in the equation
  int enforcement_hz = 4096;                         ///< 4096: as the clock; higher: precise timers (Linux/RT)
  hostsim::Ns overhead_tick = 0;                     ///< time for accounting at each clock interrupt
  hostsim::Ns overhead_period = 0;                   ///< at the clock interrupt that ends a period
  std::optional<std::pair<double, double>> network;  ///< s, beginning and end of the stream
  std::vector<hostsim::LoadDevice> devices;
  std::uint64_t seed = 1;
  std::uint64_t repetition = 0;
  bool keep_intervals = false;
};

struct RegehrResult {
  double missed = 0;    ///< share of periods
  double received = 0;  ///< mean length of a period, ns
  double stolen = 0;    ///< share of its scheduled time that it did not receive
  std::vector<hostsim::StolenTimeProbe::Period> periods;
  std::vector<hostsim::RezPeriod> scheduler;                          ///< the same, as measured by the scheduler
  std::vector<hostsim::StolenTimeProbe::Interval> reserved, spinner;  ///< Thread 2 and Thread 1, if kept
};

/// Deterministic in (seed, repetition). Thread-safe.
RegehrResult run_regehr(const RegehrMachine& machine, const RegehrRun& run);

}  // namespace offhook::reproduce
