// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hostsim/host/host_load.h"

namespace offhook::traces {

inline constexpr std::string_view kTraceCmdMagic = "\x17\x08\x44tracing";

/// A trace-cmd file, versions 6 and 7: sched_switch, irq_handler_*, softirq_*, hrtimer_expire_* and, on x86,
/// irq_vectors. Read with libtracecmd in a separate process, because the library trusts its input.
/// @param without threads and interrupts that are not load
/// @throws TraceError naming the byte at which the file is truncated or inconsistent
hostsim::HostLoad import_trace_cmd(const std::string& file, const std::vector<std::string>& without = {});

/// Its events as text (PerfSchedWriter), after a line kClockLine with the name of the trace's clock.
/// @throws TraceError as above
std::string trace_cmd_as_text(const std::string& file);

/// Checks that every part of a trace-cmd file that its own tables name is inside the file.
/// @param name for messages  @throws TraceError naming the byte
void check_trace_cmd(std::string_view bytes, const std::string& name);

}  // namespace offhook::traces
