// SPDX-License-Identifier: MIT
#include "src/lab/advice/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "driver/base/file.h"
#include "driver/base/output.h"
#include "src/lab/sweep/result.h"
#include "src/lab/sweep/shard.h"
#include "traces/scenario/device.h"
#include "traces/scenario/scenario.h"

namespace offhook::law {

namespace fs = std::filesystem;

namespace {

/// Longest Y in ticks up to which `holds(Y)` is true from Y = X on; 0: not even with the whole CPU.
template <typename Holds>
int limit(int x, Holds holds) {
  int y = x - 1;
  while (y < 1024 && holds(y + 1)) ++y;
  return y < x ? 0 : y;
}

struct Limits {
  int law = 0, simple = 0, authors = 0;
};
Limits limits(const Setting& setting, int x) {
  const DeviceTiming device = device_timing(setting.device);
  const HostWork host = setting.host_work();
  const double tick = setting.tick_ms();
  const auto of = [&](auto rule) { return limit(x, [&](int y) { return rule(device, x * tick, y * tick); }); };
  return {of([&](const DeviceTiming& d, double a, double b) { return full_law(d, a, b, 0, host).sufficient; }),
          of(simple_law), of(authors_rule)};
}

}  // namespace

HostWork Setting::host_work() const {
  hostsim::HostScenario host = config::ScenarioBuilder().finish().host;
  host.tick_hz = tick_hz;
  return offhook::host_work(host, device);
}

namespace {

hostsim::Scenario base_scenario(const Setting& setting, const Options& options) {
  hostsim::Scenario s = config::ScenarioBuilder().finish();
  if (options.line != nullptr) {
    const hostsim::HostScenario host = s.host;
    s = *options.line;
    s.host = host;
    s.load = {};
  }
  s.name = setting.device.name;
  s.pump = hostsim::PumpKind::kDevice;
  const std::string pump = s.device.pump;  // for the scenario's line
  s.device = setting.device;
  if (s.device.pump.empty() && options.line != nullptr) s.device.pump = pump;
  s.device_s = options.seconds;
  s.stop_at_loss = true;
  s.host.tick_hz = setting.tick_hz;
  s.context = ContextSpec::parse("RES 1/1 strict");
  return s;
}

std::string quoted(const TickReservation& r) {
  return fmt::format("\"RES {}/{} strict\"", r.x, r.y);
}

struct Swept {
  sweep::Plan plan;
  std::vector<sweep::RunRow> rows;
};

/// Writes scenario and grid, and runs the missing part. @return false if stopped
bool run_sweep(const std::string& id, const std::string& title, const hostsim::Scenario& base, const std::string& grid,
               const Options& options, Swept& swept) {
  const OutputFolder folder = options.folder->sub(id);
  options.folder->write(id + "-scenario.toml", config::to_toml(base));
  options.folder->write(id + ".toml", fmt::format("# {}\nbase = \"{}-scenario.toml\"\n{}", title, id, grid));
  swept.plan = sweep::read_grid(*options.folder / (id + ".toml"), 0);
  const fs::path there = sweep::plan_path(folder.path());
  if (!fs::exists(there)) {
    folder.write(sweep::kPlanName, to_json(swept.plan));
  } else if (sweep::plan_from_json(read_file(there, kMostTextBytes), there.string()).grid_hash() !=
             swept.plan.grid_hash()) {
    throw config::Error(fmt::format("{}: this folder holds another experiment; give another --out or remove it",
                                    folder.path().string()));
  }
  std::vector<std::uint32_t> shards(swept.plan.shards);
  std::iota(shards.begin(), shards.end(), 1U);
  const auto done = [&](std::size_t n) {
    if (options.progress) options.progress(n, swept.plan.runs(), title);
  };
  if (!sweep::run_shards(folder, swept.plan, shards, options.run, {options.threads, options.stop, done})) return false;
  swept.rows = sweep::read_rows(folder.path(), swept.plan);
  return true;
}

}  // namespace

std::vector<Experiment> experiments(const Setting& given) {
  Setting setting = given;
  setting.device.worst_cost_ns = 0;
  std::vector<Experiment> out = {{"as-it-is", "The device as it is", "", setting}};
  const hostsim::SoftDevice& device = setting.device;
  const double ms = 1000.0 / device.rate_hz;
  {
    Setting s = setting;
    s.device.transmit_lead_samples = device.lead() + device.longest_block();
    if (s.device.transmit_lead_samples > s.device.buffers * s.device.buffer()) s.device.buffers++;
    out.push_back({"more-lead", "One more block of transmit lead",
                   fmt::format("The lead is {} samples in place of {}, which is {:.3f} ms more. The law: the longest "
                               "gap grows by as much, the share stays. The authors' rule: nothing changes.",
                               s.device.lead(), device.lead(), ms * device.longest_block()),
                   s});
  }
  const std::uint32_t shortest = *std::min_element(device.block_plan.begin(), device.block_plan.end());
  if (shortest != device.longest_block()) {
    Setting s = setting;
    s.device.block_plan = {shortest};
    s.device.buffer_samples = device.buffer();
    s.device.transmit_lead_samples = device.lead() - (device.longest_block() - shortest);
    out.push_back(
        {"short-blocks", fmt::format("Blocks of {} samples only", shortest),
         fmt::format(
             "A block comes every {:.3f} ms, and the time left to play at its interrupt is that of the longest block "
             "({:.3f} ms). The law: the longest gap stays the same. The authors' rule: it shrinks to the new period.",
             ms * shortest, ms * (device.lead() - device.longest_block())),
         s});
  }
  {
    Setting s = setting;
    s.tick_hz = setting.tick_hz == 1000 ? 1024 : 1000;
    out.push_back(
        {"other-tick", fmt::format("A clock tick of 1/{} s", s.tick_hz),
         fmt::format("Slots begin and end with ticks of 1/{} s in place of 1/{} s.", s.tick_hz, setting.tick_hz), s});
  }
  return out;
}

std::vector<TickReservation> cells_near_the_limits(const Setting& setting, int x_max) {
  std::vector<TickReservation> cells;
  for (int x = 1; x <= x_max; ++x) {
    const Limits l = limits(setting, x);
    std::set<int> periods;
    for (const int y : {l.law - 1, l.law, l.law + 1, l.law + 2, l.simple, l.simple + 1, l.authors, l.authors + 1}) {
      if (y >= x && y <= 1024) periods.insert(y);
    }
    for (const int y : periods) cells.push_back({x, y});
  }
  return cells;
}

bool run_experiment(const Experiment& experiment, const Options& options, ExperimentResult& result) {
  const Setting& setting = experiment.setting;
  const std::vector<TickReservation> cells = cells_near_the_limits(setting, options.x_max);
  result = {};
  result.experiment = experiment;
  result.simulated_limit.assign(static_cast<std::size_t>(options.x_max), 0);
  for (int x = 1; x <= options.x_max; ++x) {
    const Limits l = limits(setting, x);
    result.law_limit.push_back(l.law);
    result.authors_limit.push_back(l.authors);
  }
  if (cells.empty()) return true;
  std::vector<std::string> contexts;
  contexts.reserve(cells.size());
  for (const TickReservation& cell : cells) contexts.push_back(quoted(cell));
  Swept swept;
  if (!run_sweep(experiment.id, experiment.title, base_scenario(setting, options),
                 fmt::format("repeats = {}\n[axes]\ncontext = [{}]\n", options.phases, fmt::join(contexts, ", ")),
                 options, swept)) {
    return false;
  }
  const DeviceTiming device = device_timing(setting.device);
  const auto simulated = sweep::cell_results(swept.plan, swept.rows);
  std::vector<bool> failed(result.simulated_limit.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double x = cells[i].x * setting.tick_ms(), y = cells[i].y * setting.tick_ms();
    const LawResult law = full_law(device, x, y, 0, setting.host_work());
    CellOutcome cell{cells[i],      law.sufficient, simple_law(device, x, y), authors_rule(device, x, y),
                     law.margin_ms, law.overloaded, simulated[i].result};
    const bool sufficient = cell.simulated.verdict == Verdict::kSufficient;
    result.law_agrees += cell.law == sufficient;
    result.authors_agree += cell.authors == sufficient;
    const auto column = static_cast<std::size_t>(cells[i].x - 1);
    if (!sufficient) failed[column] = true;
    if (!failed[column]) result.simulated_limit[column] = cells[i].y;
    result.cells.push_back(cell);
  }
  return true;
}

bool run_phases(const Setting& setting, const Options& options, int steps, std::vector<PhaseResult>& results) {
  results.clear();
  const DeviceTiming device = device_timing(setting.device);
  // The cells whose result can depend on the phase: the law's limit, and up to two ticks after it.
  std::vector<TickReservation> cells;
  for (int x = 1; x <= std::min(options.x_max, 4); ++x) {
    const int y = limits(setting, x).law;
    if (y == 0) continue;
    for (const int beyond : {0, 1, 2}) cells.push_back({x, y + beyond});
  }
  if (cells.empty()) return true;
  std::vector<std::string> phases;
  phases.reserve(static_cast<std::size_t>(steps));
  for (int i = 0; i < steps; ++i) phases.push_back(fmt::format("{:.6f}", static_cast<double>(i) / steps));
  for (const TickReservation& cell : cells) {
    hostsim::Scenario base = base_scenario(setting, options);
    base.host.clock_ppm = base.host.clock_ppm_spread = 0;
    base.device.worst_cost_ns = 0;
    base.context.x_ticks = cell.x;
    base.context.y_ticks = cell.y;
    Swept swept;
    const std::string title = fmt::format("Success of {}/{} against starting phase", cell.x, cell.y);
    if (!run_sweep(fmt::format("phase-{}-{}", cell.x, cell.y), title, base,
                   fmt::format("[axes]\ncontext.slot_phase = [{}]\n", fmt::join(phases, ", ")), options, swept)) {
      return false;
    }
    const LawResult law =
        full_law(device, cell.x * setting.tick_ms(), cell.y * setting.tick_ms(), 0, setting.host_work());
    PhaseResult result{cell, law.sufficient, {}};
    const auto simulated = sweep::cell_results(swept.plan, swept.rows);
    for (std::size_t i = 0; i < simulated.size(); ++i) {
      result.success.emplace_back(static_cast<double>(i) / steps,
                                  simulated[i].result.complete == simulated[i].result.runs);
    }
    results.push_back(std::move(result));
  }
  return true;
}

}  // namespace offhook::law
