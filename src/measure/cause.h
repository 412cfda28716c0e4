// SPDX-License-Identifier: MIT
//
// The code that ran while a thread was late: the cause tool of Cota-Robles and Held (OSDI 1999, 2.3) on Linux. When a
// latency passes the threshold, the kernel's trace is stopped. Its events name the owner of the CPU in each stage of
// the wake-up, and samples of the instruction pointer (perf_event, CPU clock) name the functions. The CPU clock is a
// timer interrupt: code that runs with interrupts off is sampled where it turns them on again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/measure/latency.h"

namespace offhook::measure {

struct CauseConfig {
  LatencyConfig latency;  ///< threshold_ns > 0; this measurement sets the hooks
  int samples_hz = 4'000;
};

/// A thread, softirq or interrupt that used the CPU while the thread waited.
struct Culprit {
  std::string name, as;  ///< "stress-ng-vm", "softirq"
  std::int64_t ns = 0;
};
struct SampledFunction {
  std::string name;    ///< kernel symbol, or "user code"
  std::string thread;  ///< that ran it
  std::uint64_t samples = 0;
};

struct CauseResult {
  LatencyResult latency;
  bool found = false;  ///< whether the threshold was exceeded
  WakeupStages stages;
  std::string verdict;                   ///< one sentence
  std::vector<Culprit> culprits;         ///< from the due time to running, on the thread's CPU; the longest first
  std::vector<std::string> timeline;     ///< events during that time, one line each
  std::vector<SampledFunction> samples;  ///< samples during that time on that CPU; the most frequent first
  std::uint64_t lost_events = 0;
  std::vector<std::string> without;  ///< unavailable parts (samples)
};

/// @param look  as in measure_latency
/// @throws std::runtime_error naming the missing privilege
CauseResult measure_cause(const CauseConfig& config, const std::function<bool(const LatencyResult&)>& look);

/// The users of `cpu` from `begin` to `end`, including idle, the longest first. @param events  in order of time
std::vector<Culprit> had_the_cpu(const std::vector<traces::KernelEvent>& events, int cpu, std::int64_t begin,
                                 std::int64_t end);

/// As above, from events that already exist.
void judge(CauseResult& result, const std::vector<traces::KernelEvent>& events, const Wakeup& wakeup, int pid,
           const std::string& thread);

}  // namespace offhook::measure
