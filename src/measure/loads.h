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
  std::vector<std::pair<std::string_view, std::string_view>> needs;  ///< programs, and the Debian packages they are in
  Round (*make)(Supervisor&);                                        ///< null: "none", a machine left alone
  bool application = false;                                          ///< one of Chen et al.'s (workloads.h)

  /// Empty: it can run here. Else which program is missing and in which package it is.
  std::string missing() const;
};

/// "none" first; then built-in ones, stress-ng's, the three applications, a compiler.
std::span<const LoadKind> load_kinds();
/// @throws std::runtime_error naming the nearest one, or the program that is missing
const LoadKind& load_kind(std::string_view name);

}  // namespace offhook::measure
