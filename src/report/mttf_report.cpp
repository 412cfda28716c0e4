// SPDX-License-Identifier: MIT
#include "src/report/mttf_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "src/page/page.h"
#include "src/report/words.h"

namespace offhook {

using Json = nlohmann::ordered_json;

namespace {

/// "3 buffers of 8 ms"
std::string buffering(const Json& row) {
  return fmt::format("{} buffers of {:g} ms", row.at("buffers").get<int>(), row.at("buffer_ms").get<double>());
}

nlohmann::json of_bufferings(const Json& result) {
  const Json* least = nullptr;  // of those without an underrun: the smallest buffering
  const Json* best = nullptr;   // of those with an underrun: the longest time until it
  for (const Json& row : result.at("bufferings")) {
    if (row.at("underruns").get<std::uint64_t>() == 0) {
      if (!least || row.at("tolerance_ms") < least->at("tolerance_ms")) least = &row;
    } else if (!best || row.at("simulated_s") > best->at("simulated_s")) {
      best = &row;
    }
  }
  std::vector<std::string> reasons = {fmt::format(
      "Latencies of {}: {:.3g} ms on average, {:.4g} ms at most in the measurement.",
      result.at("source").get<std::string>(), result.at("mean_ms").get<double>(), result.at("worst_ms").get<double>())};
  std::string headline = "No buffering was given.";
  if (least) {
    headline = fmt::format("{} is the smallest buffering without an underrun in {:.3g} h of simulation.",
                           buffering(*least), least->at("simulated_hours").get<double>());
    reasons.push_back(fmt::format("That shows a mean time to an underrun of more than {:.3g} h, with 95 % confidence.",
                                  least->at("low_s").get<double>() / 3600));
    if (least->at("formula_s").is_null()) {
      reasons.push_back(
          "The measurements rule out any underrun: the slack exceeds the longest latency. Events rarer than the "
          "measurement could show are not covered.");
    }
  } else if (best) {
    headline = fmt::format("Every buffering had underruns; {} had the fewest: one in {:.3g} h.", buffering(*best),
                           best->at("simulated_s").get<double>() / 3600);
  }
  return page_head("mttf", "Time to an underrun on " + result.at("source").get<std::string>(), "", headline, reasons);
}

nlohmann::json of_computations(const Json& result) {
  std::vector<std::string> fail, undecided, reasons;
  for (const Json& c : result.at("computations")) {
    const std::string verdict = c.at("simulation"), name = c.at("name");
    if (verdict == "fails") fail.push_back(name);
    if (verdict == "undecided") undecided.push_back(name);
  }
  const std::size_t all = result.at("computations").size();
  if (!undecided.empty()) {
    reasons.push_back(fmt::format("{:g} h of simulation are too few to decide: {}.",
                                  result.at("simulated_hours").get<double>(), listed(undecided)));
  }
  const std::string headline =
      !fail.empty()
          ? fmt::format("{} of {} computations drop more buffers than permitted: {}.", fail.size(), all, listed(fail))
      : !undecided.empty() ? fmt::format("None of {} computations failed; {} are undecided.", all, undecided.size())
                           : fmt::format("All {} computations drop no more buffers than permitted.", all);
  return page_head("mttf", "Deadlines on " + result.at("host").get<std::string>(),
                   !fail.empty()        ? "insufficient"
                   : !undecided.empty() ? "marginal"
                                        : "sufficient",
                   headline, reasons);
}

}  // namespace

std::string mttf_page(const record::Table& table, const void* computed) {
  const Json result = record::to_json(table, computed);
  nlohmann::json data = result.contains("bufferings") ? of_bufferings(result) : of_computations(result);
  data.update(nlohmann::json(result));
  return page_around(data.at("title").get<std::string>() + " - Offhook", data);
}

}  // namespace offhook
