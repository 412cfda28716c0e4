// SPDX-License-Identifier: MIT
//
// The named loads that a latency can be measured under.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/measure/load_process.h"

namespace offhook::measure {

struct LoadKind {
  std::string_view name;
  std::string_view what;
  std::vector<std::pair<std::string_view, std::string_view>> needs;  ///< programs, and the Debian packages with them
  Round (*make)(Supervisor&);                                        ///< null: "none", no load
  bool application = false;                                          ///< one of Chen et al.'s (workloads.h)

  /// Empty if it can run here. Otherwise the missing program and its package.
  std::string missing() const;
};

/// "none" first, then built-in loads, those of stress-ng, the three applications, a compiler.
std::span<const LoadKind> load_kinds();
/// @throws std::runtime_error naming the nearest load or the missing program
const LoadKind& load_kind(std::string_view name);

}  // namespace offhook::measure
