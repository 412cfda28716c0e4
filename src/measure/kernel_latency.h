// SPDX-License-Identifier: MIT
//
// Card interrupt to service in a context of the kernel, from the log of the kernel's driver: a call on a card whose
// block is the interval. It begins with the interrupt's handler; the time between the card's signal and the handler is
// in no log.
#pragma once

#include <functional>

#include "driver/kernel/kernel_device.h"
#include "src/measure/latency.h"

namespace offhook::measure {

struct KernelLatencyConfig {
  ContextSpec context;
  std::int64_t interval_ns = 1'000'000;  ///< period of interrupts, in whole samples of the card
  std::int64_t duration_ns = 10'000'000'000;
  std::int64_t threshold_ns = 0;  ///< stop at a latency of at least this; 0: never
};

/// As measure_latency(): own_cost is the service, which is the pump's work. `missed` counts interrupts that came
/// together with another one, because the handler was not called in between.
/// @param look  called about fifty times per second with the results so far; if it returns false, stops
/// @throws std::runtime_error for an impossible interval or context, or if the card failed
LatencyResult measure_kernel_latency(KernelDevice& device, const KernelLatencyConfig& config,
                                     const std::function<bool(const LatencyResult&)>& look);

}  // namespace offhook::measure
