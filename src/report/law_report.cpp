// SPDX-License-Identifier: MIT
#include "src/report/law_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/page/page.h"
#include "src/report/reservation_map.h"
#include "src/report/words.h"

namespace offhook {

using nlohmann::json;

namespace {

/// The authors' two lines and the law's boundary, for this device.
SweepReport map_of(const law::Setting& setting) {
  SweepReport map;
  map.device = device_timing(setting.device);
  map.tick_ms = setting.tick_ms();
  map.cpu_share_published = map.device->share();
  map.gap_ms_published = map.device->mean_period_ms();
  return map;
}

std::string named(const TickReservation& r, double tick_ms) {
  return fmt::format("{} tick{} every {} ({:.3f} ms every {:.3f} ms, {:.1f} %)", r.x, r.x == 1 ? "" : "s", r.y,
                     r.x * tick_ms, r.y * tick_ms, 100 * r.share());
}

json experiment_json(const law::ExperimentResult& result) {
  SweepReport map = map_of(result.experiment.setting);
  for (const law::CellOutcome& cell : result.cells) {
    SweepRow row;
    row.name = fmt::format("RES {}/{}", cell.reservation.x, cell.reservation.y);
    row.reservation =
        SweepRow::Reservation{static_cast<double>(cell.reservation.x), static_cast<double>(cell.reservation.y)};
    row.result = cell.simulated;
    map.rows.push_back(std::move(row));
  }
  json out = reservation_map(map, 1, 1);
  out["id"] = result.experiment.id;
  out["title"] = result.experiment.title;
  out["changes"] = result.experiment.changes;
  out["sentence"] = experiment_sentence(result);
  out["limits"] = json::array();
  for (std::size_t i = 0; i < result.simulated_limit.size(); ++i) {
    out["limits"].push_back({{"x", i + 1},
                             {"law", result.law_limit[i]},
                             {"authors", result.authors_limit[i]},
                             {"simulated", result.simulated_limit[i]}});
  }
  return out;
}

}  // namespace

std::vector<std::string> law_sentences(const LawReport& report) {
  const DeviceTiming d = device_timing(report.setting.device);
  const double tick = report.setting.tick_ms(), lead_ms = 1000.0 * d.transmit_lead_samples / d.rate_hz;
  std::vector<std::string> out;
  out.push_back(
      fmt::format("A block every {:.4g} ms takes {:.4g} ms of CPU time. Its output is ready after {:.0f} % of that. "
                  "{:.4g} ms of output are queued when idle.",
                  d.mean_period_ms(), d.cost_ms, 100 * d.output_fraction, lead_ms));
  out.push_back(fmt::format("Share: more than {:.1f} % of the CPU.", 100 * d.share()));
  if (d.longest_gap_ms() < 0) {
    out.push_back(
        fmt::format("Gap: no gap is acceptable. Even with immediate service, the output of a block is {:.4g} ms late. "
                    "Another buffer is needed.",
                    -d.longest_gap_ms()));
    return out;
  }
  out.push_back(fmt::format(
      "Gap: at most {:.4g} ms between slots. At the interrupt of the longest block, {:.4g} ms are left to play, and "
      "its output needs {:.4g} ms of work. (The authors' rule: less than a block period, {:.4g} ms.)",
      d.longest_gap_ms(), d.least_slack_ms(), d.output_fraction * d.cost_ms, d.mean_period_ms()));
  if (report.any_period) {
    std::string text = fmt::format("Recommended: {}", named(*report.any_period, tick));
    if (report.power_of_two) {
      const bool same =
          report.power_of_two->x == report.any_period->x && report.power_of_two->y == report.any_period->y;
      text += same ? ", a power of two, as standard Rialto/NT requires"
                   : fmt::format("; with a period that is a power of two: {}", named(*report.power_of_two, tick));
    }
    text += fmt::format("; each with a reserve of a tenth more work per block than the costliest");
    if (report.setting.device.worst_cost_ns > 0) {
      text +=
          fmt::format(", and one block of {:.4g} ms", static_cast<double>(report.setting.device.worst_cost_ns) * 1e-6);
    }
    out.push_back(text + ".");
    const LawResult law = full_law(d, report.any_period->x * tick, report.any_period->y * tick);
    out.push_back(fmt::format("Margin: {:.4g} ms at the mean cost, {:.1f} points of CPU share.", law.margin_ms,
                              100 * (report.any_period->share() - d.share())));
  } else {
    out.push_back(fmt::format("No reservation in ticks of {:.4g} ms is sufficient with a reserve of a tenth{}.", tick,
                              d.longest_gap_ms() < tick ? ": the longest gap is shorter than a tick" : ""));
  }
  return out;
}

std::string experiment_sentence(const law::ExperimentResult& r) {
  std::vector<std::string> differing;
  for (const law::CellOutcome& cell : r.cells) {
    const bool sufficient = cell.simulated.verdict == Verdict::kSufficient;
    if (cell.law != sufficient) {
      differing.push_back(fmt::format("{}/{} (law {}, simulated {}, {} of {}{})", cell.reservation.x,
                                      cell.reservation.y, cell.law ? "sufficient" : "not",
                                      to_string(cell.simulated.verdict), cell.simulated.complete, cell.simulated.runs,
                                      cell.overloaded ? "" : fmt::format(", margin {:+.3f} ms", cell.margin_ms)));
    }
  }
  std::string text =
      fmt::format("Of {}, the law and the simulation agree on {}, the authors' rule and the simulation on {}",
                  counted(r.cells.size(), "reservation"), r.law_agrees, r.authors_agree);
  if (!differing.empty() && differing.size() <= 8) text += "; the law differs on " + listed(differing);
  return text + ".";
}

std::string law_page(const LawReport& report) {
  const std::vector<std::string> sentences = law_sentences(report);
  std::vector<std::string> reasons(sentences.begin() + 1, sentences.end());
  reasons.insert(reasons.end(), report.findings.begin(), report.findings.end());
  json data = page_head("law", "The reservation law of " + report.setting.device.name, "", sentences.front(), reasons);
  for (const char* list : {"boundary", "experiments", "phases"}) data[list] = json::array();
  data["settings"] = report.settings;
  double y_ms = 1;
  for (const BoundaryRow& row : report.boundary) {
    data["boundary"].push_back({{"x", row.x_ticks},
                                {"x_ms", row.x_ms},
                                {"full", row.full_ms},
                                {"on_host", row.host_ms},
                                {"simple", row.simple_ms},
                                {"authors", row.authors_ms},
                                {"decides", row.decides}});
    y_ms = std::max({y_ms, row.full_ms, row.authors_ms});
  }
  const double tick = report.setting.tick_ms();
  data.update(reservation_map(map_of(report.setting),
                              static_cast<double>(std::max<std::size_t>(report.boundary.size(), 1)), y_ms / tick));
  for (const law::ExperimentResult& result : report.experiments) data["experiments"].push_back(experiment_json(result));
  for (const law::PhaseResult& phase : report.phases) {
    json row = {{"name", fmt::format("{}/{}", phase.reservation.x, phase.reservation.y)},
                {"law", phase.law},
                {"points", json::array()}};
    for (const auto& [at, ok] : phase.success) row["points"].push_back({at, ok});
    data["phases"].push_back(std::move(row));
  }
  return page_around("Reservation law of " + report.setting.device.name + " - Offhook", data);
}

}  // namespace offhook
