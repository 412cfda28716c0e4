// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/page/page.h"
#include "src/report/report.h"
#include "src/report/words.h"

namespace offhook {

std::string reproduce_page(const record::Table& table, const void* reproduced) {
  const nlohmann::ordered_json results = record::to_json(table, reproduced);
  const auto short_of = results.at("falls_short").get<std::vector<std::string>>();
  const std::vector<std::string> reasons = {results.at("sentence").get<std::string>() + "."};
  std::uint64_t differing = 0, compared = 0;
  for (const auto& [provenance, count] : results.at("counts").items()) {
    if (provenance == "input" || !count.is_object() || !count.contains("rows")) continue;
    compared += count.at("rows").get<std::uint64_t>();
    differing += count.at("rows").get<std::uint64_t>() - count.at("agree").get<std::uint64_t>();
  }
  const std::string others =
      differing == 0 ? "." : fmt::format("; {} of {} values differ, none of them mandatory.", differing, compared);
  const std::string headline = short_of.empty()
                                   ? "Every mandatory claim is within its tolerance" + others
                                   : fmt::format("{}: {}.",
                                                 short_of.size() == 1 ? "A mandatory claim was not reproduced"
                                                                      : "Mandatory claims were not reproduced",
                                                 listed(short_of));
  nlohmann::json data = page_head("reproduce", "Published results, reproduced", short_of.empty() ? "agrees" : "differs",
                                  headline, reasons);
  data["claims"] = results.at("claims");
  data["counts"] = results.at("counts");
  if (results.contains("sensitivity")) data["sensitivity"] = results.at("sensitivity");
  if (results.contains("perturbed")) data["settings"].push_back({"perturbed", results.at("perturbed")});
  if (results.contains("held_out")) {
    const auto& found = results.at("held_out");
    data["settings"].push_back({"constants fitted with Table 3 alone",
                                fmt::format("{} of {} classes", found.at("right").dump(), found.at("of").dump())});
  }
  data["settings"].push_back({"seed", results.at("seed").dump()});
  data["settings"].push_back({"repetitions", results.at("repetitions").dump()});
  return page_around("Published results - Offhook", data);
}

}  // namespace offhook
