// SPDX-License-Identifier: MIT
//
// Distributions of times, as commands write and print them.
#pragma once

#include "driver/base/histogram.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"

namespace offhook::command {

/// A histogram of ns in us: statistics and bars, and the four quantiles by which a context is judged.
extern const record::Table kTimes, kQuantiles;

/// Rows for a context: the time of a service, and the time from request to service. @param service,dispatch  ns
void add_times(Table& table, const LogLinearHistogram& service, const LogLinearHistogram& dispatch);

}  // namespace offhook::command
