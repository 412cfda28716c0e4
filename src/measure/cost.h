// SPDX-License-Identifier: MIT
//
// The cost of the pumps on this CPU, block by block and phase by phase: a cost profile for the simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "driver/base/histogram.h"
#include "driver/user_modem/modulations.h"

namespace offhook::measure {

struct CostConfig {
  Modulation modem = kV34;
  std::vector<std::uint32_t> block_plan = {105, 105, 90};
  double data_s = 20;  ///< simulated seconds of data mode
};

struct CostPhase {
  std::string name;  ///< "connecting", "connected"
  std::uint64_t blocks = 0;
  LogLinearHistogram cost;   ///< CPU time of a block, ns
  double ns_per_sample = 0;  ///< at the median
  double share = 0;          ///< share of this CPU, at the median
};

struct CostResult {
  std::vector<CostPhase> phases;
  bool connected = false;  ///< whether data mode was reached
  std::uint64_t state_bytes = 0;
};

/// Two pumps over a clean simulated line; the calling one is timed. @param progress  finished share; false stops it
CostResult measure_cost(const CostConfig& config, const std::function<bool(double)>& progress);

/// The result as a cost profile (traces/data/profiles). @param name  of the machine, for the comment
std::string to_profile(const CostConfig& config, const CostResult& result, const std::string& machine);

}  // namespace offhook::measure
