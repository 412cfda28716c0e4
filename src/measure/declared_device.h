// SPDX-License-Identifier: MIT
//
// A device given only by its description, live: in a context of this host a thread works for the declared CPU time at
// each interrupt of a card that is paced by the clock. This measures, instead of simulating, whether blocks are late
// under this machine's load. The output of a block is queued when all of its work is done, as if phi were 1.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hostsim/call/soft_device.h"
#include "src/measure/cause.h"
#include "src/measure/live_device.h"

namespace offhook::measure {

struct DeclaredDeviceConfig {
  LiveContextConfig context;
  double seconds = 10;
  int interrupt_priority = 85;  ///< SCHED_FIFO priority of the thread that acts as the card
  bool cause = false;           ///< whether to record the kernel's trace, and find the worst block's cause there
  DeviceWatch watch{};
};

/// The block whose work ended latest after its samples had arrived. CLOCK_MONOTONIC, ns.
struct WorstBlock {
  std::uint64_t number = 0;  ///< from 0
  std::int64_t due = 0, begun = 0, ended = 0;
};

struct DeclaredDevice {
  LiveDevice live;
  WorstBlock worst;
  std::vector<Culprit> had;  ///< users of the CPU from `due` to `ended`, the longest first; empty without `cause`
  std::string verdict;       ///< one sentence; empty without `cause`
  std::uint64_t lost_events = 0;
};

/// @param progress  finished share; if it returns false, stops
/// @throws std::runtime_error for missing privileges; std::invalid_argument with the device's problem
DeclaredDevice measure_declared_device(const hostsim::SoftDevice& device, const DeclaredDeviceConfig& config,
                                       const std::function<bool(double)>& progress);

}  // namespace offhook::measure
