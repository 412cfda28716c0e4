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
  std::string equivalent;   ///< the system call used here
  LogLinearHistogram time;  ///< ns, of each
};

/// All operations on one CPU, with real-time priorities if permitted. @param repetitions  of each, 10,000 in the report
/// @param progress  finished share  @param without  the unavailable privileges
std::vector<KernelRow> measure_kernel(int repetitions, const std::function<void(double)>& progress,
                                      std::vector<std::string>& without);

/// A mix like Dhrystone 2.1 (strings, records, integer arithmetic): runs per second on this CPU, with this compiler.
double measure_integer_mix();

}  // namespace offhook::measure
