// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hostsim/load/host_load.h"

namespace offhook::traces {

/// The text of `perf sched script` or `perf script` (with --ns the times are exact to the nanosecond): sched_switch,
/// and where recorded irq_handler_*, softirq_*, hrtimer_expire_* and irq_vectors.
///     stress-ng  4711 [001] 26053.993346387:  sched:sched_switch: prev_comm=... ==> next_comm=...
/// Lines of other events are passed over.
/// @param without threads that are no load  @throws TraceError with file:line
hostsim::HostLoad import_perf_sched(std::string_view text, const std::string& name,
                                    const std::vector<std::string>& without = {});

}  // namespace offhook::traces
