// SPDX-License-Identifier: MIT
#include "src/program/command/context_times.h"

#include <fmt/format.h>

#include <utility>

namespace offhook::command {

nlohmann::ordered_json quantiles_us(const LogLinearHistogram& h) {
  return {{"count", h.count()},
          {"p50_us", static_cast<double>(h.quantile(0.5)) * 1e-3},
          {"p99_us", static_cast<double>(h.quantile(0.99)) * 1e-3},
          {"p999_us", static_cast<double>(h.quantile(0.999)) * 1e-3},
          {"max_us", static_cast<double>(h.max()) * 1e-3}};
}

void add_times(Table& table, const nlohmann::ordered_json& json) {
  for (const auto& [name, key] : {std::pair{"service", "service_time"}, {"request to service", "dispatch_latency"}}) {
    const auto& q = json.at(key);
    const auto us = [&q](const char* quantile) { return q.at(quantile).get<double>(); };
    table.row({fmt::format("{}, us: median, 99 %, 99.9 %, max", name),
               fmt::format("{:.1f}  {:.1f}  {:.1f}  {:.1f}", us("p50_us"), us("p99_us"), us("p999_us"), us("max_us"))});
  }
}

}  // namespace offhook::command
