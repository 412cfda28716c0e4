// SPDX-License-Identifier: MIT
//
// Measured latencies as a host of traces/data/hosts, for `advise`, `mttf` and a scenario's host.name.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "driver/base/histogram.h"
#include "driver/context/context_spec.h"

namespace offhook::measure {

/// The wake-ups of a thread in one context.
struct MeasuredContext {
  ContextSpec context;          ///< that the thread had
  LogLinearHistogram thread{};  ///< ns from a timer to the thread
  std::string remark{};         ///< the refused requests; empty: none
  std::string str() const { return remark.empty() ? context.str() : context.str() + " (" + remark + ")"; }
};

struct HostProfile {
  std::vector<MeasuredContext> threads;  ///< one at least, none empty
  LogLinearHistogram interrupt;          ///< ns to the timer's interrupt; empty: not measured
  LogLinearHistogram softirq;            ///< ns from a softirq's raising to its beginning; empty: not measured
  double interval_us = 1000;             ///< between two wake-ups
  double seconds = 0;                    ///< of all loads together, of each context
  std::vector<std::string> loads;
};

/// What is measured if no contexts are given: below and above interrupt threads of PREEMPT_RT (FIFO 50),
/// SCHED_DEADLINE with a tenth of the CPU, SCHED_OTHER.
std::vector<ContextSpec> profile_contexts(double interval_us);

/// host.scheduler for a kernel, "Linux 6.12.1 ...": docs/schedulers.md. For an unknown version: the oldest.
std::string scheduler_of_kernel(const std::string& kernel, bool real_time);

/// The host's file in TOML, graded as measured. Each distribution goes through the latency that was exceeded once in
/// 10, 100, 1000 ... wake-ups, the last one through the greatest. The thread of the least real-time priority is the
/// host's [latency]; each other one is a row [[latency.thread]].
/// @param host  host_description() of the machine
std::string to_host_file(const HostProfile& profile, const nlohmann::ordered_json& host);

}  // namespace offhook::measure
