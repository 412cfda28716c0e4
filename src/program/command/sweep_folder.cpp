// SPDX-License-Identifier: MIT
#include "src/program/command/sweep_folder.h"

#include <algorithm>

#include "driver/base/file.h"
#include "src/lab/reproduce/published.h"
#include "src/lab/sweep/shard.h"
#include "src/page/page.h"
#include "src/program/command/call_run.h"
#include "src/program/command/folder.h"
#include "src/program/command/run_folder.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {

namespace fs = std::filesystem;

namespace {

SweepReport sweep_report(const sweep::Plan& plan, const std::vector<sweep::CellResult>& cells) {
  SweepReport report;
  report.title = plan.name;
  config::ScenarioBuilder base;
  base.apply(config::Document::parse(plan.base, "base"));
  for (const config::Key& key : config::scenario_keys()) {
    if (config::is_written(key, &base.scenario()))
      report.settings.emplace_back(key.path, config::write_value(key, &base.scenario()));
  }
  for (const sweep::Axis& axis : plan.axes) {
    report.settings.emplace_back("axis " + axis.key, std::to_string(axis.values.size()) + " values");
  }
  for (const sweep::Axis& axis : plan.axes) report.axes.push_back(axis.key);
  report.rows = report_rows(plan, cells);
  report.tick_ms = 1000.0 / base.scenario().host.tick_hz;
  // The law's line belongs to one device, so only the context, the load and the seed may vary on the map.
  const bool one_device = std::all_of(plan.axes.begin(), plan.axes.end(), [](const sweep::Axis& axis) {
    return axis.key.starts_with("context") || axis.key.starts_with("load.") || axis.key == "seed";
  });
  if (one_device) {
    report.device = device_timing(base.scenario());
    if (base.scenario().pump != hostsim::PumpKind::kDevice)
      report.training = device_timing(base.scenario(), hostsim::Phase::kConnecting);
  }
  const reproduce::Published map = reproduce::load_published("jones.table3");
  report.cpu_share_published = map.number("model_share_percent") / 100;
  report.gap_ms_published = map.number("model_gap_ms");
  return report;
}

}  // namespace

bool is_sweep_folder(const fs::path& folder) {
  return fs::exists(sweep::plan_path(folder));
}

sweep::Plan load_plan(const fs::path& folder) {
  const fs::path file = sweep::plan_path(folder);
  return sweep::plan_from_json(read_file(file, kMostTextBytes), file.string());
}

std::vector<SweepRow> report_rows(const sweep::Plan& plan, const std::vector<sweep::CellResult>& cells) {
  std::vector<SweepRow> rows;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    SweepRow row;
    row.name = cells[c].name;
    for (std::size_t a = 0; a < plan.axes.size(); ++a)
      row.axes.push_back(sweep::plain_value(plan.axes[a].values[plan.cells[c].at[a]]));
    row.result = cells[c].result;
    row.pending_max_samples = cells[c].pending_max;
    row.blocks_late = cells[c].blocks_late;
    row.frames_retransmitted = cells[c].retransmitted;
    const hostsim::ContextScenario& context = plan.cells[c].scenario.context;
    if (context.kind == OH_CONTEXT_RESERVATION) {
      row.reservation = context.in_ticks()
                            ? SweepRow::Reservation{double(context.x_ticks), double(context.y_ticks)}
                            : SweepRow::Reservation{double(context.budget_ns) * 1e-6, double(context.period_ns) * 1e-6};
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<sweep::CellResult> merge_sweep(const OutputFolder& folder, const sweep::Plan& plan) {
  const std::vector<sweep::RunRow> rows = sweep::read_rows(folder.path(), plan);
  std::vector<sweep::CellResult> cells = sweep::cell_results(plan, rows);
  folder.write("results.csv", sweep::results_csv(plan, rows));
  folder.write("results.json", sweep::results_json(plan, rows));
  folder.write(kReportName, sweep_page(sweep_report(plan, cells)));
  return cells;
}

fs::path report_sweep(const fs::path& folder, const fs::path& out) {
  const sweep::Plan plan = load_plan(folder);
  const auto cells = sweep::cell_results(plan, sweep::read_rows(folder, plan));
  const std::string page = sweep_page(sweep_report(plan, cells));
  if (out.empty()) return place_page(folder, page);
  write_file(out, page);
  return out;
}

}  // namespace offhook::command
