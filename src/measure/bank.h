// SPDX-License-Identifier: MIT
//
// How many modems one CPU carries: N modems in this process, each with a card, an interrupt thread and a context as
// in `offhook modem`, joined in pairs by lines of wire, in calls that carry data both ways. One thread plays the
// hardware of all cards, as a DMA engine and the far exchange would without this CPU.
//
// A late block may be the fault of this program or of the machine. The hardware's thread has the highest priority of
// all. If it is late, no thread here could have run: the kernel had the CPU or, in a virtual machine, the hypervisor.
// Late blocks that follow such a stall are counted separately.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "driver/context/live_context.h"
#include "driver/user_modem/modulations.h"
#include "src/measure/stall_watch.h"

namespace offhook::measure {

struct BankConfig {
  LiveContextConfig context;  ///< context of each modem; its CPU time is that of all threads except the caller's
  int channels = 64;          ///< an even number, because they call each other
  Modulation modem = kModulations[0];
  double seconds = 30;          ///< of data mode; connecting comes before
  int interrupt_priority = 85;  ///< SCHED_FIFO
  int hardware_priority = 90;   ///< SCHED_FIFO
  bool together = false;        ///< all blocks end at the same time, instead of being spread over a block's length
  /// Only pumps, without call and V.42, and one context for all of them. Those whose blocks end at the same time
  /// advance in one call.
  bool one_thread = false;
};

struct BankResult {
  int channels = 0, connected = 0;
  double seconds = 0;  ///< duration in samples, including the time to connect
  std::uint64_t blocks = 0, blocks_late = 0, samples_late = 0, samples_filled_in = 0, underrun_samples = 0;
  std::uint64_t blocks_late_in_stalls = 0;
  std::uint64_t blocks_late_connecting = 0;  ///< before all were connected
  std::uint32_t pending_max_samples = 0;
  std::vector<BankStall> stalls;                                 ///< the first StallWatch::kMost stalls
  double stolen_ms = 0;                                          ///< the hypervisor's time on this CPU (/proc/stat)
  std::uint64_t bytes = 0, bytes_wrong = 0;                      ///< arrived, of all
  double modems_share = 0, hardware_share = 0, owner_share = 0;  ///< share of one CPU in data mode
  LogLinearHistogram dispatch, service;                          ///< ns, of all contexts
  std::vector<std::string> without;
};

/// @param progress  finished share, and a text about it; if it returns false, stops
/// @throws std::runtime_error for missing privileges, or an odd number of channels
void measure_bank(const BankConfig& config, const std::function<bool(double, const std::string&)>& progress,
                  BankResult& result);

}  // namespace offhook::measure
