// SPDX-License-Identifier: MIT
//
// The number of pumps on one thread that advances all of a type in one call (oh_pump_type.advance), as a server of many
// calls does: no cards, no contexts, as fast as this CPU. Each call runs once more by itself; its samples must be
// the same there. Its cost there, and the cost of the same pumps one after the other, are the benchmark targets.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "driver/user_modem/modulations.h"

namespace offhook::measure {

struct BatchConfig {
  Modulation modem = kV34;
  int calls = 32;            ///< of two pumps each
  std::uint32_t block = 96;  ///< sample periods a step
  double data_s = 5;         ///< of line time in data mode
};

/// The pumps that are advanced in one call.
struct BatchGroup {
  std::string name;  ///< "v34", "v90 digital"
  int pumps = 0;
  std::uint64_t state_bytes = 0;  ///< of one
  double together_ns = 0;         ///< ns per sample period of one pump in data mode
  double one_by_one_ns = 0;       ///< the same pumps by individual process() calls
  double alone_ns = 0;            ///< by process(), with only one call
};

struct BatchResult {
  int calls = 0, connected = 0;
  double connected_after_s = 0;            ///< of line time
  std::uint64_t bits = 0, bits_wrong = 0;  ///< compared calls; of these:
  int calls_same = 0;                      ///< calls whose samples are the same alone; of those that were tried alone
  int calls_alone = 0;
  std::vector<BatchGroup> groups;
};

/// @param progress  finished share; if it returns false, stops
BatchResult measure_batch(const BatchConfig& config, const std::function<bool(double)>& progress);

}  // namespace offhook::measure
