// SPDX-License-Identifier: MIT
//
// Recorded on somebody's board, replayed here: kernel traces as host loads.
#pragma once

#include <string>
#include <vector>

#include "hostsim/host/host_load.h"

namespace offhook::traces {

/// A recording's bytes. @throws TraceError when it cannot be read, or is longer than a recording is
std::string trace_bytes(const std::string& file);

/// A host load from any file that holds one: a load file, a trace-cmd .dat, the text of `perf sched script`.
/// @param without threads and interrupts that are no load (not for a load file: it has been decided there)
/// @throws TraceError naming the file and the position
hostsim::HostLoad import_host_load(const std::string& file, const std::vector<std::string>& without = {});

/// What had the CPU, in words: "interrupt", "softirq", "normal thread", "thread at FIFO/RR 50", "deadline thread".
std::string as_text(const hostsim::HostLoad::Source& source);

/// The kernel's events of a trace-cmd .dat or of a text, as text for read_perf_sched().
struct KernelTraceText {
  std::string text;
  std::string clock;  ///< tracefs's name of the clock of its times; empty: not known
};
/// @throws TraceError
KernelTraceText import_kernel_trace(const std::string& file);

}  // namespace offhook::traces
