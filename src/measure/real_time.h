// SPDX-License-Identifier: MIT
//
// What every measurement on a live host needs: a thread with a live context's scheduling, and the clock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "driver/context/live_context.h"

namespace offhook::measure {

/// CLOCK_MONOTONIC, ns.
std::int64_t now_ns();
/// CPU time of the calling thread, ns: what else runs on the machine takes its time, but is no cost of the pump.
std::uint64_t thread_cpu_ns();

/// Runs `body` on a thread with this scheduling and waits for it. Memory is locked first.
/// @return what could not be had (with best_effort)  @throws std::runtime_error naming the privilege, without
std::vector<std::string> run_as(const LiveContextConfig& spec, const std::function<void()>& body);

}  // namespace offhook::measure
