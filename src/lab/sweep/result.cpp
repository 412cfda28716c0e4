// SPDX-License-Identifier: MIT
#include "src/lab/sweep/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "driver/base/csv.h"
#include "driver/base/json.h"
#include "traces/scenario/key.h"
#include "traces/scenario/scenario.h"

namespace offhook::sweep {

namespace {

using Json = nlohmann::ordered_json;

/// One field of a run. It is empty for an event that did not occur: a column's mean covers events that did.
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
  std::vector<std::string> keys;  // of all runs, because soft devices of other kinds count other things
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
  for (const std::string& key : keys) out.append(",").append(csv_field(key));
  out += ",verdict\n";
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    for (std::size_t r = 0; r < plan.repeats; ++r) {
      const std::size_t run = c * plan.repeats + r;
      for (std::size_t a = 0; a < plan.axes.size(); ++a)
        out += csv_field(plain_value(plan.axes[a].values[plan.cells[c].at[a]])) + ",";
      if (context_column) out += csv_field(plan.cells[c].scenario.context.str()) + ",";
      out += fmt::format("{},{}", r, plan.scenario(run).seed);
      for (const std::string& key : keys) out.append(",").append(cell_text(runs[run], key));
      out += fmt::format(",{}\n", to_string(results[c].result.verdict));
    }
  }
  return out;
}

namespace {

/// A cell, its values on the axes, and its runs.
struct CellOutput {
  const Plan* plan;
  std::size_t at;
  CellResult result;
  std::span<const RunRow> rows;

  std::vector<std::pair<std::string, record::Value>> axes() const {
    std::vector<std::pair<std::string, record::Value>> values;
    for (std::size_t a = 0; a < plan->axes.size(); ++a) {
      const std::string& text = plan->axes[a].values[plan->cells[at].at[a]];
      values.emplace_back(plan->axes[a].key, Json::accept(text) ? record::value_of_json(Json::parse(text))
                                                                : record::Value(plain_value(text)));
    }
    return values;
  }
};
struct Results {
  const Plan* plan;
  std::vector<CellOutput> cells;
  std::span<const RunRow> references;
};

using A = record::Written<Axis>;
constexpr record::Row kAxisRows[] = {
    A::of<&Axis::key>("key", "", "key of a scenario"),
    A::of<&Axis::values>("values", "", "values of the axis, as TOML"),
};
constexpr record::Table kAxis{kAxisRows};
using R = CellResult;
using V = VerdictResult;
using Q = record::Written<CellResult>;
constexpr record::Row kVerdictRows[] = {
    Q::of<&R::name>("name", "", "description of the cell"),
    Q::of("verdict", "", "sufficient, marginal or insufficient",
          [](const CellResult& c) { return to_string(c.result.verdict); }),
    Q::of<&R::result, &V::runs>("runs", "", "runs of the cell"),
    Q::of<&R::result, &V::complete>("complete", "", "runs in which the whole file arrived"),
};
using C = record::Written<CellOutput>;
constexpr record::Row kCellRows[] = {
    C::part<&CellOutput::result>("", kSweepVerdict),
    C::of("", "", "the cell's value of each axis, under its key", [](const CellOutput& c) { return c.axes(); })
        .as_keys(),
    C::of<&CellOutput::result, &R::result, &V::mean_s>("transfer_mean_s", "s",
                                                       "mean transfer time of the complete runs"),
    C::of<&CellOutput::result, &R::result, &V::min_s>("transfer_min_s", "s", "the shortest"),
    C::of<&CellOutput::result, &R::result, &V::max_s>("transfer_max_s", "s", "the longest"),
    C::of<&CellOutput::result, &R::result, &V::deviation_s>("transfer_deviation_s", "s", "standard deviation"),
    C::of<&CellOutput::result, &R::reference_s>("reference_s", "s", "the same call in INT"),
    C::of<&CellOutput::result, &R::pending_max>("pending_max_samples", "samples", "greatest value of all runs"),
    C::of<&CellOutput::result, &R::blocks_late>("blocks_late", "", "sum over all runs"),
    C::of<&CellOutput::result, &R::retransmitted>("frames_retransmitted", "", "sum over all runs"),
    C::part<&CellOutput::rows>("rows", kRunRow)
        .described_apart("one run, as in results.csv (offhook help keys csv sweep)"),
};
constexpr record::Table kCell{kCellRows};
using S = record::Written<Results>;
constexpr record::Row kResultsRows[] = {
    S::of("offhook_sweep", "", "version of this document", [](const Results&) { return 1; }),
    S::of("version", "", "version of offhook", [](const Results& r) { return r.plan->version; }),
    S::of("name", "", "name of the grid", [](const Results& r) { return r.plan->name; }),
    S::of("grid", "", "hash of the plan", [](const Results& r) { return r.plan->grid_hash(); }),
    S::of("base", "", "base scenario, as TOML", [](const Results& r) { return r.plan->base; }),
    S::part(
        "axes", kAxis, [](const Results& r) -> const auto& { return r.plan->axes; }),
    S::of("repeats", "", "runs per cell", [](const Results& r) { return r.plan->repeats; }),
    S::of("left_out", "", "combinations whose reservation cannot be admitted",
          [](const Results& r) { return r.plan->left_out; }),
    S::part<&Results::cells>("cells", kCell),
    S::part<&Results::references>("references", kRunRow).described_apart("one reference run, as in results.csv"),
};

}  // namespace

constexpr record::Table kSweepVerdict{kVerdictRows};
constexpr record::Table kSweepResults{kResultsRows};

std::string results_json(const Plan& plan, const std::vector<RunRow>& rows) {
  const std::span<const RunRow> all = rows;
  Results results{&plan, {}, all.subspan(plan.cells.size() * plan.repeats, plan.references.size())};
  std::vector<CellResult> cells = cell_results(plan, rows);
  for (std::size_t c = 0; c < cells.size(); ++c)
    results.cells.push_back({&plan, c, std::move(cells[c]), all.subspan(c * plan.repeats, plan.repeats)});
  return record::json_text(kSweepResults, &results, 1) + "\n";
}

}  // namespace offhook::sweep
