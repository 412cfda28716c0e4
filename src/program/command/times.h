// SPDX-License-Identifier: MIT
//
// How long a context took to answer and to serve, as commands write and print it.
#pragma once

#include <nlohmann/json.hpp>

#include "driver/base/histogram.h"
#include "driver/base/terminal.h"

namespace offhook::command {

/// Count, median, 99 %, 99.9 % and maximum of a histogram of ns, in us.
nlohmann::ordered_json quantiles_us(const LogLinearHistogram& h);

/// A row each of json's `service_time` and `dispatch_latency`, which are quantiles_us().
void add_times(Table& table, const nlohmann::ordered_json& json);

}  // namespace offhook::command
