// SPDX-License-Identifier: MIT
//
// A live log's times are CLOCK_MONOTONIC. The scenario in its header has the offsets of the kernel's other clocks
// when the log began, so that a kernel trace on any of them can be aligned with it:
//
//   "clock": { "name": "mono", "offsets_ns": { "boot": 0, "mono_raw": -153220, "tai": ... } }    (that clock - mono)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace offhook::traces {

struct LogClock {
  std::string name;
  std::map<std::string, std::int64_t> offsets_ns;  ///< by the other clock's name
};

/// The current time of this machine. Each offset is the best of several readings between two of CLOCK_MONOTONIC.
LogClock live_clock();

/// The number to add to a time on tracefs's clock `trace_clock` to get the log's. Empty: unknown (the scheduler's clock
/// "local", the TSC, a simulated log).
std::optional<std::int64_t> to_log_clock(const LogClock& clock, std::string_view trace_clock);

}  // namespace offhook::traces
