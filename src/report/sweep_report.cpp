// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/page/page.h"
#include "src/report/report.h"
#include "src/report/reservation_map.h"
#include "src/report/words.h"

namespace offhook {

using nlohmann::json;

namespace {

/// @pre sweep.device; 0 < x <= y, in ticks
LawResult law_of(const SweepReport& sweep, double x, double y) {
  const double x_ms = x * sweep.tick_ms, y_ms = y * sweep.tick_ms;
  return sweep.training ? full_law_of_call(*sweep.training, *sweep.device, x_ms, y_ms)
                        : full_law(*sweep.device, x_ms, y_ms);
}

json row_json(const SweepReport& sweep, const SweepRow& row) {
  const VerdictResult& r = row.result;
  json out = {{"name", row.name},
              {"group", row.group},
              {"verdict", to_string(r.verdict)},
              {"runs", r.runs},
              {"complete", r.complete},
              {"mean_s", r.mean_s},
              {"min_s", r.min_s},
              {"max_s", r.max_s},
              {"slower", r.slower ? json(*r.slower) : json()},
              {"pending_max", row.pending_max_samples},
              {"blocks_late", row.blocks_late},
              {"retransmitted", row.frames_retransmitted},
              {"link", row.link},
              {"axes", row.axes},
              {"decides", row.decides}};
  if (row.reservation) {
    const auto [x, y] = *row.reservation;
    out["x"] = x;
    out["y"] = y;
    if (sweep.device && x > 0 && x <= y) {
      const LawResult law = law_of(sweep, x, y);
      out["law"] = {{"sufficient", law.sufficient}, {"overloaded", law.overloaded}};
      if (!law.overloaded) out["law"]["margin_ms"] = law.margin_ms;
    }
  }
  if (row.published) {
    out["published"] = {{"verdict", row.published->verdict ? json(to_string(*row.published->verdict)) : json()},
                        {"mean_s", row.published->mean_s ? json(*row.published->mean_s) : json()},
                        {"note", row.published->note},
                        {"provenance", row.published->provenance}};
  }
  return out;
}

// The boundary in ticks: the longest Y for each X.
json law_json(const SweepReport& sweep, double x_max) {
  json boundary = json::array();
  constexpr int kSteps = 240;
  for (int i = 1; i <= kSteps; ++i) {
    const double x = x_max * i / kSteps;
    double y = longest_period_ms(*sweep.device, x * sweep.tick_ms) / sweep.tick_ms;
    if (sweep.training) y = std::min(y, longest_period_ms(*sweep.training, x * sweep.tick_ms) / sweep.tick_ms);
    if (y >= x) boundary.push_back({y, x});
  }
  const DeviceTiming& d = *sweep.device;
  return {{"boundary", std::move(boundary)},
          {"share", d.share()},
          {"gap_ms", d.longest_gap_ms()},
          {"gap_ticks", d.longest_gap_ms() / sweep.tick_ms},
          {"cost_ms", d.cost_ms},
          {"period_ms", d.mean_period_ms()},
          {"slack_ms", d.least_slack_ms()},
          {"lead_samples", d.transmit_lead_samples},
          {"output_fraction", d.output_fraction}};
}

}  // namespace

json reservation_map(const SweepReport& sweep, double x_max, double y_max) {
  json data = {{"rows", json::array()}, {"tick_ms", sweep.tick_ms}};
  for (const SweepRow& row : sweep.rows) {
    data["rows"].push_back(row_json(sweep, row));
    if (row.reservation) {
      x_max = std::max(x_max, row.reservation->x);
      y_max = std::max(y_max, row.reservation->y);
    }
  }
  if (x_max > 0) {
    data["map"] = {
        {"x_max", x_max}, {"y_max", y_max}, {"share", sweep.cpu_share_published}, {"gap_ms", sweep.gap_ms_published}};
    if (sweep.device) data["map"]["law"] = law_json(sweep, 1.2 * x_max + 1);
  }
  return data;
}

namespace {

struct Words {
  std::string standing;  ///< relative to the published value: "agrees", "differs", or empty
  std::string headline;
  std::vector<std::string> reasons;
};

Words sweep_words(const SweepReport& sweep) {
  std::vector<std::string> by_class[3];
  std::size_t compared = 0;
  std::vector<std::string> differing;
  for (const SweepRow& row : sweep.rows) {
    by_class[static_cast<std::size_t>(row.result.verdict)].push_back(row.name);
    if (row.published && row.published->verdict) {
      compared += 1;
      if (*row.published->verdict != row.result.verdict) {
        differing.push_back(fmt::format("{} ({}, published {})", row.name, to_string(row.result.verdict),
                                        to_string(*row.published->verdict)));
      }
    }
  }
  Words out;
  out.headline = fmt::format("{} sufficient, {} marginal, {} insufficient of {} configurations.", by_class[0].size(),
                             by_class[1].size(), by_class[2].size(), sweep.rows.size());
  if (compared > 0) {
    out.standing = differing.empty() ? "agrees" : "differs";
    out.reasons.push_back(out.headline);
    out.headline = differing.empty()
                       ? counted(compared, "configuration") + " with a published class: all are in that class."
                       : fmt::format("{} of {} configurations with a published class are in that class.",
                                     compared - differing.size(), compared);
    if (!differing.empty()) out.reasons.push_back("In another class: " + listed(differing) + ".");
  }
  static constexpr const char* kClasses[3] = {"Sufficient", "Marginal", "Insufficient"};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!by_class[i].empty() && by_class[i].size() <= 24) {
      out.reasons.push_back(fmt::format("{}: {}.", kClasses[i], listed(by_class[i])));
    }
  }
  if (sweep.device) {
    std::size_t agreeing = 0, reservations = 0;
    std::vector<std::string> not_agreeing;
    for (const SweepRow& row : sweep.rows) {
      if (!row.reservation || row.reservation->x <= 0 || row.reservation->x > row.reservation->y) continue;
      const bool law = law_of(sweep, row.reservation->x, row.reservation->y).sufficient;
      reservations += 1;
      if (law == (row.result.verdict == Verdict::kSufficient)) {
        agreeing += 1;
      } else {
        not_agreeing.push_back(row.name);
      }
    }
    if (reservations > 0) {
      std::string sentence = fmt::format(
          "The reservation law uses only cost, block plan and transmit lead. It agrees with this simulation on which "
          "reservations are sufficient for {} of {} reservations",
          agreeing, reservations);
      if (!not_agreeing.empty() && not_agreeing.size() <= 12) sentence += "; not for " + listed(not_agreeing);
      out.reasons.push_back(sentence + ".");
    }
  }
  for (const std::string& finding : sweep.findings) out.reasons.push_back(finding);
  return out;
}

}  // namespace

std::string sweep_page(const SweepReport& sweep) {
  Words words = sweep_words(sweep);
  json data = page_head("sweep", sweep.title, words.standing, words.headline, words.reasons);
  data.update(reservation_map(sweep, 0, 0));
  data["settings"] = sweep.settings;
  data["axes"] = sweep.axes;
  return page_around(sweep.title + " - Offhook", data);
}

}  // namespace offhook
