// SPDX-License-Identifier: MIT
//
// Kernel traces, recorded on any machine, as host loads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hostsim/host/host_load.h"

namespace offhook::traces {

/// Limit for a kernel's recording: hours of an idle machine, a quarter of an hour of a busy one. A text is read into
/// memory completely, in addition to its load.
inline constexpr std::uint64_t kMostTraceBytes = std::uint64_t{1} << 28;
/// Limit for a load in its file, with at least 3 bytes per interval; in memory an interval has 24.
inline constexpr std::uint64_t kMostLoadBytes = std::uint64_t{48} << 20;

/// A recording's bytes. @throws TraceError when it is not readable, or exceeds the limit for a recording
std::string trace_bytes(const std::string& file);

/// A host load from any file with one: a load file, a trace-cmd .dat, the text of `perf sched script`.
/// @param without threads and interrupts that are not load (unused for a load file, which has no others)
/// @throws TraceError naming the file and the position
hostsim::HostLoad import_host_load(const std::string& file, const std::vector<std::string>& without = {});

/// The recorded kernel, "Linux 6.12.57 #1 SMP PREEMPT_RT ...": a trace-cmd .dat has its uname, the text of `perf sched
/// script --header` an "os release". Empty if the recording does not have it. @throws TraceError when it is not
/// readable
std::string recorded_kernel(const std::string& file);

/// The owner of the CPU, in words: "interrupt", "softirq", "normal thread", "thread at FIFO/RR 50", "deadline thread".
std::string as_text(const hostsim::HostLoad::Source& source);

/// The kernel's events of a trace-cmd .dat or of a text, as text for read_perf_sched().
struct KernelTraceText {
  std::string text;
  std::string clock;  ///< tracefs's name of the clock of its times; empty: unknown
};
/// @throws TraceError
KernelTraceText import_kernel_trace(const std::string& file);

}  // namespace offhook::traces
