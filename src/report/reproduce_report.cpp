// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/page/page.h"
#include "src/report/report.h"

namespace offhook {

std::string reproduce_page(const nlohmann::ordered_json& results) {
  std::vector<std::string> reasons;
  for (const auto& id : results.at("falls_short"))
    reasons.push_back(fmt::format("A hard claim falls short: {}.", id.get<std::string>()));
  nlohmann::json data = page_head("reproduce", "Published results, made again", reasons.empty() ? "agrees" : "differs",
                                  results.at("sentence").get<std::string>() + ".", reasons);
  data["claims"] = results.at("claims");
  data["counts"] = results.at("counts");
  if (results.contains("sensitivity")) data["sensitivity"] = results.at("sensitivity");
  if (results.contains("perturbed")) data["settings"].push_back({"perturbed", results.at("perturbed")});
  if (results.contains("held_out")) {
    const auto& found = results.at("held_out");
    data["settings"].push_back({"constants found with Table 3 alone",
                                fmt::format("{} of {} classes", found.at("right").dump(), found.at("of").dump())});
  }
  data["settings"].push_back({"seed", results.at("seed").dump()});
  data["settings"].push_back({"repetitions", results.at("repetitions").dump()});
  return page_around("Published results - Offhook", data);
}

}  // namespace offhook
