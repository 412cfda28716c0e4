// SPDX-License-Identifier: MIT
#include "traces/log/clock.h"

#include <time.h>

#include <limits>
#include <string>
#include <utility>

namespace offhook::traces {

namespace {

constexpr std::pair<const char*, clockid_t> kClocks[] = {
    {"boot", CLOCK_BOOTTIME}, {"mono_raw", CLOCK_MONOTONIC_RAW}, {"tai", CLOCK_TAI}};

std::int64_t ns_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

/// `clock` - CLOCK_MONOTONIC; the error is at most half the time between the closest two readings of the latter.
std::int64_t offset(clockid_t clock) {
  std::int64_t best = 0, closest = std::numeric_limits<std::int64_t>::max();
  for (int k = 0; k < 20; ++k) {
    const std::int64_t before = ns_of(CLOCK_MONOTONIC), other = ns_of(clock), after = ns_of(CLOCK_MONOTONIC);
    if (after - before >= closest) continue;
    closest = after - before;
    best = other - (before + (after - before) / 2);
  }
  return best;
}

}  // namespace

LogClock live_clock() {
  LogClock now{"mono", {}};
  for (const auto& [name, clock] : kClocks) now.offsets_ns[name] = offset(clock);
  return now;
}

std::optional<std::int64_t> to_log_clock(const LogClock& clock, std::string_view trace_clock) {
  if (clock.name != "mono") return std::nullopt;
  if (trace_clock == "mono") return 0;
  const auto found = clock.offsets_ns.find(std::string(trace_clock));
  if (found == clock.offsets_ns.end()) return std::nullopt;
  return -found->second;
}

}  // namespace offhook::traces
