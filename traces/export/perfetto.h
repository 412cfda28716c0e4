// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>

#include "traces/import/kernel_event.h"
#include "traces/log/reader.h"

namespace offhook::traces {

struct KernelSource {
  /// Passes every event to its argument, each CPU's in order of time; if it is empty, there are none.
  std::function<void(const std::function<void(const KernelEvent&)>&)> read;
  std::int64_t to_log_ns = 0;  ///< added to their times
};

/// A log as a Perfetto trace (TrackEvent protobuf), to be opened in ui.perfetto.dev or by trace_processor:
///
///   a thread track per entity       a slice from each RUN to the next RUN or IDLE of its CPU
///   "NAME isr", "NAME service"      a slice per isr; a slice per call of service, with a slice per block in it;
///                                   instants for late output and for filled-in samples
///   "NAME samples pending", "NAME underruns", "NAME overruns", "NAME owed blocks"     counters
///   "near link", "far link"         instants for retransmissions, bad frames and changes of state; "bytes" a counter
///   "call"                          instants for its phases, marks
///
/// and for the kernel, if its trace is given:
///
///   "CPU n"                         a slice for each thread while it has the CPU, "NAME PID"; none while it is idle
///   "CPU n interrupts", "CPU n softirqs"   a slice each; timers that expire within an interrupt inside it
///
/// Slices still open at the log's end are closed there. Constellation points are omitted (there are thousands a
/// second). Memory does not grow with the log. An incomplete log is exported up to its last whole chunk.
/// @throws LogError when the header is not readable or writing to `out` fails (disk full ...)
/// @param kernel  its events, on any clock; read after the log, so that events outside it can be omitted
/// @return the number of kernel events within the log
std::uint64_t export_perfetto(LogReader& log, std::ostream& out, const KernelSource& kernel = {});

}  // namespace offhook::traces
