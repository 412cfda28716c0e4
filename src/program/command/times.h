// SPDX-License-Identifier: MIT
//
// Distributions of times, as commands write and print them.
#pragma once

#include "driver/base/histogram.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"

namespace offhook::command {

/// Of a histogram of ns, in us: statistics and bars, and the four quantiles that a context is judged by.
extern const record::Table kTimes, kQuantiles;

/// Rows of a context: the time of a service, and from request to service. @param service,dispatch  ns
void add_times(Table& table, const LogLinearHistogram& service, const LogLinearHistogram& dispatch);

}  // namespace offhook::command
