// SPDX-License-Identifier: MIT
#pragma once

#include <ostream>

#include "traces/log/reader.h"

namespace offhook::traces {

/// A log as a Perfetto trace (TrackEvent protobuf), to be opened in ui.perfetto.dev or by trace_processor:
///
///   a thread track per entity       a slice from each RUN to the next RUN or IDLE of its CPU
///   "NAME isr", "NAME service"      a slice per isr; a slice per call of service, with a slice per block in it;
///                                   instants for late output and for filled-in samples
///   "NAME samples pending", "NAME underruns", "NAME overruns", "NAME owed blocks"     counters
///   "near link", "far link"         instants for retransmissions, bad frames and changes of state; "bytes" a counter
///   "call"                          instants for its phases, marks
///
/// Slices still open at the log's end end there. Constellation points are left out (there are thousands a second).
/// Memory does not grow with the log. A log that is not whole is exported up to its last whole chunk.
/// @throws LogError when the header cannot be understood or `out` cannot take the trace (disk full ...)
void export_perfetto(LogReader& log, std::ostream& out);

}  // namespace offhook::traces
