// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/page/page.h"
#include "src/report/report.h"

namespace offhook {

std::string reproduce_page(const nlohmann::ordered_json& results) {
  nlohmann::json data = {{"kind", "reproduce"},
                         {"title", "Published results, made again"},
                         {"verdict", results.at("falls_short").empty() ? "agrees" : "differs"},
                         {"headline", results.at("sentence").get<std::string>() + "."},
                         {"reasons", nlohmann::json::array()},
                         {"warnings", nlohmann::json::array()},
                         {"settings", nlohmann::json::array()},
                         {"claims", results.at("claims")}};
  for (const auto& id : results.at("falls_short"))
    data["reasons"].push_back(fmt::format("A hard claim falls short: {}.", id.get<std::string>()));
  data["settings"].push_back({"seed", results.at("seed").dump()});
  data["settings"].push_back({"repetitions", results.at("repetitions").dump()});
  return page_around("Published results - Offhook", data);
}

}  // namespace offhook
