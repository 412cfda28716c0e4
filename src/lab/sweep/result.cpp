// SPDX-License-Identifier: MIT
#include "src/lab/sweep/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "driver/base/csv.h"
#include "driver/base/json.h"
#include "traces/scenario/key.h"
#include "traces/scenario/scenario.h"

namespace offhook::sweep {

namespace {

using Json = nlohmann::ordered_json;

/// One field of a run: empty for events that did not occur, so that a column's mean covers only those that did.
std::string cell_text(const Json& run, const std::string& key) {
  const auto found = run.find(key);
  if (found == run.end() || found->is_null()) return "";
  const bool never = (key == "transfer_s" && !run.value("complete", false)) ||
                     ((key == "trained_s" || key == "connected_s") && found->is_number() && found->get<double>() < 0);
  if (never) return "";
  return csv_field(found->is_string() ? found->get<std::string>() : json_text(*found));
}

std::string cell_name(const Plan& plan, const Cell& cell) {
  std::string name;
  bool context = false;
  for (std::size_t a = 0; a < plan.axes.size(); ++a) {
    if (plan.axes[a].key.starts_with("context")) {
      context = true;
    } else {
      name += fmt::format(", {} = {}", plan.axes[a].key, plain_value(plan.axes[a].values[cell.at[a]]));
    }
  }
  if (context) return cell.scenario.context.str() + name;
  return name.empty() ? cell.scenario.name : name.substr(2);
}

}  // namespace

std::string plain_value(const std::string& value) {
  return value.size() >= 2 && value.front() == '"' ? value.substr(1, value.size() - 2) : value;
}

std::vector<CellResult> cell_results(const Plan& plan, const std::vector<RunRow>& rows) {
  std::vector<std::optional<double>> references;
  for (std::size_t r = 0; r < plan.references.size(); ++r) {
    const RunOutcome& run = rows.at(plan.cells.size() * plan.repeats + r);
    references.push_back(run.complete ? std::optional(run.transfer_s) : std::nullopt);
  }
  std::vector<CellResult> out;
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    CellResult cell;
    cell.name = cell_name(plan, plan.cells[c]);
    std::vector<RunOutcome> runs;
    for (std::size_t r = 0; r < plan.repeats; ++r) {
      const RunRow& row = rows.at(c * plan.repeats + r);
      runs.push_back(row);
      cell.pending_max = std::max(cell.pending_max, row.pending_max_samples);
      cell.blocks_late += row.blocks_late;
      cell.retransmitted += row.frames_retransmitted;
    }
    const std::optional<std::size_t> at = plan.cells[c].reference;
    const std::optional<double> reference = at ? references[*at] : std::nullopt;
    cell.result = classify(runs, reference);
    cell.reference_s = reference.value_or(0);
    out.push_back(std::move(cell));
  }
  return out;
}

std::string results_csv(const Plan& plan, const std::vector<RunRow>& rows) {
  const std::vector<CellResult> results = cell_results(plan, rows);
  std::vector<Json> runs;
  std::vector<std::string> keys;  // of all runs: soft devices of other kinds count other things
  for (std::size_t run = 0; run < plan.cells.size() * plan.repeats; ++run) {
    runs.push_back(record::to_json(kRunRow, &rows.at(run)));
    for (const auto& [key, value] : runs.back().items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  const bool context_column =
      std::none_of(plan.axes.begin(), plan.axes.end(), [](const Axis& axis) { return axis.key == "context"; });
  std::string out;
  for (const Axis& axis : plan.axes) out += csv_field(axis.key) + ",";
  out += fmt::format("{}repeat,seed", context_column ? "context," : "");
  for (const std::string& key : keys) out += "," + csv_field(key);
  out += ",verdict\n";
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    for (std::size_t r = 0; r < plan.repeats; ++r) {
      const std::size_t run = c * plan.repeats + r;
      for (std::size_t a = 0; a < plan.axes.size(); ++a)
        out += csv_field(plain_value(plan.axes[a].values[plan.cells[c].at[a]])) + ",";
      if (context_column) out += csv_field(plan.cells[c].scenario.context.str()) + ",";
      out += fmt::format("{},{}", r, plan.scenario(run).seed);
      for (const std::string& key : keys) out += "," + cell_text(runs[run], key);
      out += fmt::format(",{}\n", to_string(results[c].result.verdict));
    }
  }
  return out;
}

std::string results_json(const Plan& plan, const std::vector<RunRow>& rows) {
  const std::vector<CellResult> results = cell_results(plan, rows);
  Json cells = Json::array();
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    const CellResult& cell = results[c];
    Json json{{"name", cell.name}};
    for (std::size_t a = 0; a < plan.axes.size(); ++a) {
      const std::string& value = plan.axes[a].values[plan.cells[c].at[a]];
      json[plan.axes[a].key] = Json::accept(value) ? Json::parse(value) : Json(plain_value(value));
    }
    json["verdict"] = std::string(to_string(cell.result.verdict));
    json["runs"] = cell.result.runs;
    json["complete"] = cell.result.complete;
    json["transfer_mean_s"] = cell.result.mean_s;
    json["transfer_min_s"] = cell.result.min_s;
    json["transfer_max_s"] = cell.result.max_s;
    json["transfer_deviation_s"] = cell.result.deviation_s;
    json["reference_s"] = cell.reference_s;
    json["pending_max_samples"] = cell.pending_max;
    json["blocks_late"] = cell.blocks_late;
    json["frames_retransmitted"] = cell.retransmitted;
    json["rows"] = Json::array();
    for (std::size_t r = 0; r < plan.repeats; ++r)
      json["rows"].push_back(record::to_json(kRunRow, &rows.at(c * plan.repeats + r)));
    cells.push_back(std::move(json));
  }
  Json references = Json::array();
  for (std::size_t r = 0; r < plan.references.size(); ++r) {
    references.push_back(record::to_json(kRunRow, &rows.at(plan.cells.size() * plan.repeats + r)));
  }
  Json axes = Json::array();
  for (const Axis& axis : plan.axes) axes.push_back({{"key", axis.key}, {"values", axis.values}});
  return json_text(Json{{"offhook_sweep", 1},
                        {"version", plan.version},
                        {"name", plan.name},
                        {"grid", plan.grid_hash()},
                        {"base", plan.base},
                        {"axes", axes},
                        {"repeats", plan.repeats},
                        {"left_out", plan.left_out},
                        {"cells", cells},
                        {"references", references}},
                   1) +
         "\n";
}

}  // namespace offhook::sweep
