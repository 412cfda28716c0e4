// SPDX-License-Identifier: MIT
//
// The 14 operations of the SSC benchmark that Siemens ran on Windows CE 3.0 (2000), with their Linux equivalents.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "driver/base/histogram.h"

namespace offhook::measure {

struct KernelRow {
  std::string name;         ///< the label of the report's Table 2: the id of the published row
  std::string equivalent;   ///< the call that is used here
  LogLinearHistogram time;  ///< ns, of each
};

/// All of them on one CPU at real-time priorities if permitted. @param repetitions  of each, 10,000 in the report
/// @param progress  share done  @param without  the unavailable privileges
std::vector<KernelRow> measure_kernel(int repetitions, const std::function<void(double)>& progress,
                                      std::vector<std::string>& without);

/// Dhrystone 2.1-like mix (strings, records, integer arithmetic), runs per second on this CPU; of this compiler.
double measure_integer_mix();

}  // namespace offhook::measure
