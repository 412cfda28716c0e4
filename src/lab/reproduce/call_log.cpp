// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/call_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "hostsim/call/call_events.h"
#include "traces/scenario/profile.h"
#include "traces/scenario/scenario.h"

namespace offhook::reproduce {

hostsim::Scenario call_scenario(std::string_view context, bool spinner, std::uint64_t seed) {
  config::ScenarioBuilder builder;
  builder.set("pump.kind=cost-profile");
  hostsim::Scenario s = builder.finish();
  s.context = ContextSpec::parse(context);
  s.name = context;
  s.load.spinner = spinner;
  s.seed = seed;
  return s;
}

std::string context_name(std::string name) {
  if (name.starts_with("THR") && name.size() > 3 && name[3] != ' ') name.insert(3, " ");
  return name;
}

hostsim::Scenario strict_reservation(const Published& row, std::uint64_t seed) {
  const std::string name = fmt::format("RES {:g}/{:g}", row.number("x_ms"), row.number("y_ms"));
  hostsim::Scenario s = call_scenario(name + " strict", true, seed);
  s.name = name;
  return s;
}

namespace {

struct Ended {
  hostsim::CallResult result;
  std::uint64_t at_ns;
};

/// Runs the call to its end or its time limit. @param take  receives each event
template <typename Take>
Ended run_call(const hostsim::Scenario& scenario, const hostsim::CostProfile& profile, const Connect& connect,
               hostsim::Logged what, const Take& take) {
  hostsim::CallEvents events(what);
  hostsim::Call call(scenario, profile, connect(events.log()), events.log(), what);
  while (!events.over()) {
    for (const oh_event& event : events.advance(call)) take(event);
  }
  if (events.lost() != 0) throw std::runtime_error("the event log overflowed");
  return {call.result(), static_cast<std::uint64_t>(call.now())};
}

/// @param scenario, profile  must outlive it
Connect over_link_model(const hostsim::Scenario& scenario, const hostsim::CostProfile& profile) {
  return [&](oh_event_log* log) { return hostsim::make_link_model_connection(scenario, profile, log); };
}

}  // namespace

CallLog run_logged(const hostsim::Scenario& scenario, const hostsim::CostProfile& profile) {
  Analyzer analyzer;
  const Ended call = run_call(scenario, profile, over_link_model(scenario, profile), hostsim::Logged::kAll,
                              [&](const oh_event& event) { analyzer.add(event); });
  return {call.result, analyzer.finish(call.at_ns)};
}

Setup perturbed(const Run& run, const hostsim::Scenario& scenario) {
  Setup setup{scenario, config::load_profile(scenario.cost_profile)};
  run.perturbation.apply(setup);
  return setup;
}

CallLog run_logged(const Run& run, const hostsim::Scenario& scenario) {
  const Setup setup = perturbed(run, scenario);
  return run_logged(setup.scenario, setup.profile);
}

TransferRun run_transfer(const Setup& setup, const Connect& connect) {
  TransferTally near;
  const Ended call =
      run_call(setup.scenario, setup.profile, connect, hostsim::Logged::kModem, [&](const oh_event& event) {
        if (event.id == 0) near.add(event);
      });
  return {call.result, near.outcome(setup.scenario.bytes)};
}

RunOutcome run_transfer(const Setup& setup) {
  return run_transfer(setup, over_link_model(setup.scenario, setup.profile)).outcome;
}

Stretch stretch(const Figures& figures, hostsim::Phase phase) {
  for (const PhaseFigures& p : figures.phases) {
    if (p.phase == static_cast<std::uint32_t>(phase))
      return {static_cast<double>(p.begin_ns) * 1e-9, static_cast<double>(p.end_ns) * 1e-9};
  }
  return {};
}

std::vector<double> values_in(const std::vector<SeriesPoint>& points, const Stretch& stretch) {
  std::vector<double> out;
  for (const SeriesPoint& p : points) {
    const double at = static_cast<double>(p.time_ns) * 1e-9;
    if (at >= stretch.begin_s && at < stretch.end_s) out.push_back(p.value);
  }
  return out;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(rank == 0 ? 0 : rank - 1);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

double largest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

Series series_of(std::string name, const std::vector<SeriesPoint>& points) {
  Series s;
  s.name = std::move(name);
  for (const SeriesPoint& p : points) {
    s.x.push_back(std::round(static_cast<double>(p.time_ns) * 1e-3) * 1e-6);
    s.y.push_back(p.value);
  }
  return s;
}

Series bars_of(std::string name, const LinearHistogram& histogram, double unit) {
  Series s;
  s.name = std::move(name);
  s.style = Series::Style::kBars;
  s.bar_width = static_cast<double>(histogram.bucket_width()) / unit;
  for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
    if (histogram.counts()[i] == 0) continue;
    s.x.push_back(static_cast<double>(i) * s.bar_width);
    s.y.push_back(static_cast<double>(histogram.counts()[i]));
  }
  return s;
}

}  // namespace offhook::reproduce
