// SPDX-License-Identifier: MIT
//
// Measured latencies as a host of traces/data/hosts, for `advise`, `mttf` and a scenario's host.name.
#pragma once

#include <string>
#include <vector>

#include "driver/base/histogram.h"
#include "driver/context/context_spec.h"
#include "src/measure/host_description.h"

namespace offhook::measure {

/// The wake-ups of a thread in one context.
struct MeasuredContext {
  ContextSpec context;          ///< scheduling that the thread had
  LogLinearHistogram thread{};  ///< ns from a timer to the thread
  std::string remark{};         ///< the refused requests; empty: none
  std::string str() const { return remark.empty() ? context.str() : context.str() + " (" + remark + ")"; }
};

struct HostProfile {
  std::vector<MeasuredContext> threads;  ///< at least one, none of them empty
  LogLinearHistogram interrupt;          ///< ns until the timer's interrupt; empty: not measured
  LogLinearHistogram softirq;            ///< ns from raising a softirq to its beginning; empty: not measured
  double interval_us = 1000;             ///< between two wake-ups
  double seconds = 0;                    ///< total time of all loads in each context
  std::vector<std::string> loads;
};

/// The contexts that are measured if none are given: below and above interrupt threads of PREEMPT_RT (FIFO 50),
/// SCHED_DEADLINE with a tenth of the CPU, SCHED_OTHER.
std::vector<ContextSpec> profile_contexts(double interval_us);

/// host.scheduler for a kernel, "Linux 6.12.1 ...": docs/schedulers.md. For an unknown version, the oldest.
std::string scheduler_of_kernel(const std::string& kernel, bool real_time);

/// The host's file in TOML, graded as measured. Each distribution goes through the latency that was exceeded once in
/// 10, 100, 1000 ... wake-ups, the last one through the greatest. The thread with the least real-time priority is the
/// host's [latency]. Each other thread is a row [[latency.thread]].
std::string to_host_file(const HostProfile& profile, const HostDescription& host);

}  // namespace offhook::measure
