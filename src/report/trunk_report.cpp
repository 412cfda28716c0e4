// SPDX-License-Identifier: MIT
#include "src/report/trunk_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/page/page.h"

namespace offhook {

std::string trunk_page(const measure::TrunkResult& result, const std::string& place) {
  const std::vector<std::string> findings = result.findings();
  const auto said = [](const char* way, const measure::TrunkDirection& d) {
    return d.path == measure::TrunkPath::kSilent
               ? fmt::format("{} nothing arrives", way)
               : fmt::format("{} octets are {}, V.34 {} bit/s", way, d.path_name(), d.best_rate());
  };
  const std::string headline = fmt::format("{}; {}.", said("A to B:", result.a_to_b), said("B to A:", result.b_to_a));
  nlohmann::json data = page_head("trunk", "Trunk test of " + place, "", headline, findings);
  data.update(nlohmann::json(record::to_json(measure::kTrunkResult, &result)));
  return page_around("Trunk test - Offhook", data);
}

}  // namespace offhook
