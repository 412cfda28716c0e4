// SPDX-License-Identifier: MIT
//
// Measured latencies as a host of traces/data/hosts, for `advise`, `mttf` and a scenario's host.name.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "driver/base/histogram.h"

namespace offhook::measure {

struct HostProfile {
  LogLinearHistogram thread;     ///< ns from a timer to its real-time thread
  LogLinearHistogram interrupt;  ///< ns to the timer's interrupt; empty: not measured
  LogLinearHistogram softirq;    ///< ns from a softirq's raising to its beginning; empty: not measured
  double interval_us = 1000;     ///< between two wake-ups
  double seconds = 0;            ///< of all loads together
  std::string context;           ///< of the thread, "FIFO 80"
  std::vector<std::string> loads;
};

/// host.scheduler for a kernel, "Linux 6.12.1 ...": docs/schedulers.md. For an unknown version: the oldest.
std::string scheduler_of_kernel(const std::string& kernel, bool real_time);

/// The host's file in TOML, graded as measured. Each distribution goes through the latency that was exceeded once in
/// 10, 100, 1000 ... wake-ups, the last one through the greatest.
/// @param host  host_description() of the machine  @pre profile.thread is not empty
std::string to_host_file(const HostProfile& profile, const nlohmann::ordered_json& host);

}  // namespace offhook::measure
