// SPDX-License-Identifier: MIT
//
// Timer interrupt to thread, as cyclictest measures it: a thread sleeps until an absolute time and sees how late it is.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "driver/base/histogram.h"
#include "src/measure/real_time.h"
#include "src/measure/stages.h"

namespace offhook::measure {

struct LatencyConfig {
  LiveContextConfig context;
  std::int64_t interval_ns = 1'000'000;
  std::int64_t duration_ns = 10'000'000'000;
  std::int64_t threshold_ns = 0;  ///< stop at the first latency of at least this; 0: never
  // External observers; each may be empty.
  std::function<void(int tid)> begin;                       ///< in the probe's thread, before the first wake-up
  std::function<void()> at_threshold;                       ///< in the probe's thread, immediately; real-time
  std::function<void(std::span<const Wakeup>)> on_wakeups;  ///< in the observer's thread: those since the last call
};

struct LatencyResult {
  LogLinearHistogram latency;          ///< ns
  LogLinearHistogram own_cost;         ///< ns from wake-up to the next sleep: the cost of the probe itself
  std::uint64_t missed = 0;            ///< wake-ups after the next one was due: skipped, as by cyclictest
  std::int64_t over_threshold_ns = 0;  ///< the latency that ended the measurement
  std::int64_t over_at_ns = 0;         ///< its time, CLOCK_MONOTONIC
  int tid = 0;                         ///< of the probe's thread
  int policy = 0;                      ///< its scheduling class: SCHED_OTHER if another class was refused
  std::vector<std::string> without;
};

/// @param look  called about ten times a second from another thread with the results so far; false stops it
LatencyResult measure_latency(const LatencyConfig& config, const std::function<bool(const LatencyResult&)>& look);

}  // namespace offhook::measure
