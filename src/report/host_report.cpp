// SPDX-License-Identifier: MIT
#include "src/report/host_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/measure/host_description.h"
#include "src/page/page.h"

namespace offhook {

std::string host_page(const record::Table& table, const void* measured) {
  const nlohmann::ordered_json result = record::to_json(table, measured);
  nlohmann::json data = result;
  const nlohmann::json host = result.at("host");
  std::size_t skipped = 0;
  for (const nlohmann::json& row : data.at("rows"))
    skipped += row.at("skipped").get_ref<const std::string&>().empty() ? 0u : 1u;
  std::vector<std::string> reasons;
  if (const std::string counters = data.at("counters"); !counters.empty()) reasons.push_back(counters);
  if (skipped > 0) reasons.push_back(fmt::format("{} benchmarks were skipped; the tables give the reasons", skipped));
  data.update(page_head("host", "Measured performance of this host", "",
                        fmt::format("{}, {}", host.value("cpu", "a CPU"), host.value("kernel", "a kernel")), reasons));
  data["settings"] = {{"repetitions", result.at("repetitions").dump()}, {"files on", result.at("file_system")}};
  data["counters"] = "";
  data["host"] = measure::host_in_words(host);
  return page_around("Host - Offhook", data);
}

}  // namespace offhook
