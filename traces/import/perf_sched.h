// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hostsim/host/host_load.h"
#include "traces/import/kernel_event.h"

namespace offhook::traces {

/// A comment with the name of the clock of the times: "# clock: mono".
inline constexpr std::string_view kClockLine = "# clock: ";

/// The text of `perf sched script` or `perf script` (with --ns the times are exact to the nanosecond): sched_switch,
/// and if recorded irq_handler_*, softirq_*, hrtimer_expire_* and irq_vectors.
///     stress-ng  4711 [001] 26053.993346387:  sched:sched_switch: prev_comm=... ==> next_comm=...
/// Lines of other events are skipped.
/// @param without threads and interrupts that are not load  @throws TraceError with file:line
hostsim::HostLoad import_perf_sched(std::string_view text, const std::string& name,
                                    const std::vector<std::string>& without = {});

/// Passes each event in the order of the text. @return lines read  @throws TraceError with file:line
std::size_t read_perf_sched(std::string_view text, const std::string& name,
                            const std::function<void(const KernelEvent&)>& take);

/// Writes the same text: a trace recorded live, for people, for import_perf_sched() and for `offhook report export`.
/// Interrupts are numbered in order of appearance: their own numbers are lost.
class PerfSchedWriter {
 public:
  /// @return a line, or nothing for events without a text form (wake-ups, softirqs raised)
  std::string line(const KernelEvent& event);

 private:
  std::map<std::string, std::size_t> irqs_;
};

}  // namespace offhook::traces
