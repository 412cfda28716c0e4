// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "driver/base/histogram.h"

namespace offhook::measure {

/// The percentile table that HdrHistogram's tools read and plot. @param unit  histogram units per unit of the table
std::string to_hgrm(const LogLinearHistogram& histogram, double unit);

}  // namespace offhook::measure
