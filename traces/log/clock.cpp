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

nlohmann::json live_clock() {
  nlohmann::json offsets = nlohmann::json::object();
  for (const auto& [name, clock] : kClocks) offsets[name] = offset(clock);
  return {{"name", "mono"}, {"offsets_ns", offsets}};
}

std::optional<std::int64_t> to_log_clock(const nlohmann::json& clock, std::string_view trace_clock) {
  if (!clock.is_object() || clock.value("name", nlohmann::json()) != "mono") return std::nullopt;
  if (trace_clock == "mono") return 0;
  const nlohmann::json offsets = clock.value("offsets_ns", nlohmann::json::object());
  if (!offsets.is_object()) return std::nullopt;
  const auto found = offsets.find(std::string(trace_clock));
  if (found == offsets.end() || !found->is_number_integer()) return std::nullopt;
  return -found->get<std::int64_t>();
}

}  // namespace offhook::traces
