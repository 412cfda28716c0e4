// SPDX-License-Identifier: MIT
//
// The stages of a wake-up's latency, from the kernel's tracepoints:
//
//   due |-- interrupt --| timer interrupt |-- wake --| thread runnable |-- schedule --| switched to |- return -| runs
//
// These are the interrupt, DPC and thread latencies of Cota-Robles and Held; Linux's DPC is the softirq; its latency,
// raised to begun, is that of all softirqs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driver/base/histogram.h"
#include "traces/import/kernel_event.h"

namespace offhook::measure {

/// One wake-up of a probe. CLOCK_MONOTONIC, ns.
struct Wakeup {
  std::int64_t due = 0;
  std::int64_t ran = 0;  ///< when the thread read the clock
};

/// Times of one wake-up, relative to its due time; -1: the trace has no such event.
struct WakeupStages {
  std::int64_t interrupt = -1, waking = -1, switched = -1, ran = 0;
  int cpu = -1;  ///< CPU to which it was switched
};

/// @param events in order of time, at least from `wakeup.due` to `wakeup.ran`  @param pid of the thread
WakeupStages stages_of(const Wakeup& wakeup, std::span<const traces::KernelEvent> events, int pid);

struct StageHistograms {
  LogLinearHistogram interrupt;  ///< due to timer interrupt
  LogLinearHistogram softirq;    ///< raised to begun, any softirq on any CPU
  LogLinearHistogram waking;     ///< due to made runnable
  LogLinearHistogram switched;   ///< due to switched to
  LogLinearHistogram thread;     ///< due to running, for the same wake-ups
  std::uint64_t unmatched = 0;   ///< wake-ups without their events
};

/// Collects stages while the trace arrives, in memory of constant size.
class StageCollector {
 public:
  explicit StageCollector(int pid) : pid_(pid) {}
  /// @param events  that arrived since the last call, in order of time
  /// @param wakeups  likewise; a wake-up with missing events waits for the next call
  void add(std::vector<traces::KernelEvent> events, std::span<const Wakeup> wakeups);
  /// Processes the last ones with the events so far.
  void finish();
  const StageHistograms& histograms() const { return histograms_; }

 private:
  void settle(std::int64_t until);
  int pid_;
  std::vector<traces::KernelEvent> events_;
  std::vector<Wakeup> waiting_;
  std::vector<std::pair<std::pair<int, std::string>, std::int64_t>> raised_;  // time of waiting softirqs by (CPU, name)
  StageHistograms histograms_;
};

}  // namespace offhook::measure
