// SPDX-License-Identifier: MIT
//
// Common parts of all measurements on a live host: a thread with a live context's scheduling, and the clock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "driver/context/live_context.h"

namespace offhook::measure {

/// CLOCK_MONOTONIC, ns.
std::int64_t now_ns();
/// CPU time of the calling thread, ns: other work of the machine delays the thread, but is not a cost of the pump.
std::uint64_t thread_cpu_ns();

/// Locks memory, runs `body` on a thread with this scheduling, and waits for it.
/// @return the unavailable privileges (with best_effort)  @throws std::runtime_error with the privilege, without
std::vector<std::string> run_as(const LiveContextConfig& spec, const std::function<void()>& body);

}  // namespace offhook::measure
