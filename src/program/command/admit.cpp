// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "driver/base/colour.h"
#include "driver/base/csv.h"
#include "driver/base/json.h"
#include "driver/base/terminal.h"
#include "src/lab/law/admission.h"
#include "src/program/command/program.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string scenario;
  std::vector<std::string> set;
  double seconds = 20, step = 0.05, most = 3;
  TextOutput json, csv;

  /// Standard output is not for people.
  bool alone() const { return json.alone() || csv.alone(); }
};

Json as_json(const hostsim::Scenario& scenario, const law::Admission& a, const std::vector<law::Growth>& growths) {
  Json devices = Json::array(), steps = Json::array();
  for (std::size_t i = 0; i < a.devices.size(); ++i) {
    const law::DeviceShare& d = a.devices[i];
    const auto at = law::breaks_at(growths, i);
    Json one{{"name", d.name}, {"context", d.context}, {"demand", d.demand}, {"reserved", d.reserved}};
    if (d.reserved > 0) one["overloaded"] = d.overloaded;
    if (d.margin_ms) one["law_margin_ms"] = *d.margin_ms;
    one["breaks_at"] = at ? Json(*at) : Json();
    devices.push_back(std::move(one));
  }
  for (const law::Growth& g : growths) {
    Json row{{"growth", g.factor}, {"devices", Json::array()}};
    for (const law::DeviceOutcome& d : g.devices) {
      row["devices"].push_back({{"blocks", d.blocks},
                                {"blocks_late", d.blocks_late},
                                {"samples_lost", d.samples_lost},
                                {"first_loss_s", d.first_loss_s >= 0 ? Json(d.first_loss_s) : Json()},
                                {"share", d.share}});
    }
    steps.push_back(std::move(row));
  }
  const auto first = law::breaks_first(growths);
  return {{"offhook_admission", 1},
          {"scenario", scenario.name},
          {"admitted", a.admitted()},
          {"demand", a.demand},
          {"reserved", a.reserved},
          {"bound", a.cpus},
          {"reserved_bound", a.reserved_most},
          {"devices", std::move(devices)},
          {"breaks_first", first ? Json(a.devices[*first].name) : Json()},
          {"growths", std::move(steps)}};
}

/// A row a device at each step of the work.
std::string as_csv(const Json& result) {
  Json rows = Json::array();
  for (const Json& step : result.at("growths")) {
    for (std::size_t i = 0; i < step.at("devices").size(); ++i) {
      const Json& device = result.at("devices")[i];
      Json row{{"growth", step.at("growth")}, {"device", device.at("name")}, {"context", device.at("context")}};
      row.update(step.at("devices")[i]);
      rows.push_back(std::move(row));
    }
  }
  return csv_table(rows);
}

std::string by_law(const law::DeviceShare& d) {
  if (d.overloaded) return "share too small";
  if (!d.margin_ms) return "";
  return fmt::format("{} by {:.2f} ms", *d.margin_ms < 0 ? "gap too long," : "suffices,", std::abs(*d.margin_ms));
}

void print(const law::Admission& a, const std::vector<law::Growth>& growths) {
  Table table;
  table.column("device", Table::Align::kLeft);
  table.column("context", Table::Align::kLeft);
  for (const char* heading : {"work, % of a CPU", "reserved, %"}) table.column(heading);
  table.column("law, for this device alone", Table::Align::kLeft);
  table.column("first loss at this factor of work");
  for (std::size_t i = 0; i < a.devices.size(); ++i) {
    const law::DeviceShare& d = a.devices[i];
    const auto at = law::breaks_at(growths, i);
    table.row({d.name, d.context, fmt::format("{:.1f}", 100 * d.demand),
               d.reserved > 0 ? fmt::format("{:.1f}", 100 * d.reserved) : "", by_law(d),
               at                ? fmt::format("{:.2f}", *at)
               : growths.empty() ? ""
                                 : fmt::format("none up to {:.2f}", growths.back().factor)});
  }
  table.row({"all", "", fmt::format("{:.1f}", 100 * a.demand), fmt::format("{:.1f}", 100 * a.reserved),
             a.reserved_most < a.cpus
                 ? fmt::format("bounds {:.0f} % of work, {:.0f} % reserved", 100.0 * a.cpus, 100 * a.reserved_most)
                 : fmt::format("bound {:.0f} %", 100.0 * a.cpus),
             ""});
  say("{}", table.lines());
  const char* const answer = a.admitted() ? "Admitted."
                             : a.demand > a.cpus || a.reserved > a.reserved_most + 1e-9
                                 ? "Not admitted: work or reservations exceed the bound."
                                 : "Not admitted: see the law.";
  say("\n{}\n", Coloured(stdout, a.admitted() ? Tone::kGood : Tone::kBad, answer));
  if (const auto first = law::breaks_first(growths)) {
    const double at = *law::breaks_at(growths, *first);
    std::size_t same = 0;
    for (std::size_t i = 0; i < a.devices.size(); ++i) same += law::breaks_at(growths, i) == at;
    if (at <= 1) {
      say("{} loses samples even without added work.\n", a.devices[*first].name);
    } else {
      say("As all work grows, {} fails first: at {:.2f} times{}.\n", a.devices[*first].name, at,
          same > 1 ? ", others at the same step" : "");
    }
  } else if (!growths.empty()) {
    say("Nothing is lost at up to {:.2f} times the work.\n", growths.back().factor);
  }
}

int run(const Options& options) {
  expect_one_alone({&options.json, &options.csv});
  config::ScenarioBuilder builder;
  builder.apply_file(options.scenario);
  for (const std::string& assignment : options.set) builder.set(assignment);
  hostsim::Scenario scenario = builder.finish();
  if (scenario.pump != hostsim::PumpKind::kDevice)
    throw config::Error(options.scenario + ": expected a soft device, such as device = \"vendor-modem\"");
  scenario.device_s = options.seconds;
  scenario.stop_at_loss = false;
  const law::Admission admission = law::admission_of(scenario);
  catch_interrupts();
  std::vector<law::Growth> growths;
  {
    Progress progress("admit", options.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    law::GrowthOptions how;
    how.step = options.step;
    how.most = options.most;
    how.stop = interrupted;
    how.progress = [&](double factor) {
      if (progress.due())
        progress.update((factor - 1) / (options.most - 1 + options.step), fmt::format("work times {:.2f}", factor));
    };
    growths = law::grow(scenario, how);
  }
  if (interrupted()) return interrupt_status();
  const Json result = as_json(scenario, admission, growths);
  options.json.write(json_text(result, 1));
  options.csv.write(as_csv(result));
  if (!options.alone()) print(admission, growths);
  const auto lost_as_it_is = [](const law::DeviceOutcome& d) { return d.first_loss_s >= 0; };
  const auto& now = growths.front().devices;
  return admission.admitted() && std::none_of(now.begin(), now.end(), lost_as_it_is) ? kOk : kInsufficient;
}

}  // namespace

void add_admit(App& app, Action& action) {
  App* sub = app.add_subcommand(
      "admit", "Check whether several soft devices fit on one host, and which fails first as work grows");
  auto options = std::make_shared<Options>();
  sub->add_option("scenario", options->scenario, "Scenario with a device, and others in [[load.soft_device]]")
      ->required()
      ->type_name("SCENARIO.toml");
  sub->add_option("--set", options->set, "Override a key of the scenario, as in `run`")->type_name("KEY=VALUE");
  sub->add_option("--seconds", options->seconds, "Simulated time per step")->type_name("S")->check(in_range(0.01, 1e6));
  sub->add_option("--step", options->step, "Step of the factor by which all work grows")
      ->type_name("X")
      ->check(in_range(0.001, 10.0));
  sub->add_option("--most", options->most, "Largest factor of work")->type_name("X")->check(in_range(1.0, 100.0));
  add_text_output(*sub, kJsonOption, options->json, "Results as JSON");
  add_text_output(*sub, kCsvOption, options->csv, "One row per device and step of work, as CSV");
  sub->footer(R"(Examples:
  offhook admit examples/several-devices.toml
  offhook admit examples/several-devices.toml --set load.spinner=false --json

Every device has its own card, driver and context. The law is applied to each reservation alone. The simulation shows
how much of its slots the interrupts and DPCs of the other devices take. One factor scales the work of all devices, as
on a slower CPU.

Exit status: 0 all devices are admitted and lose nothing, 1 error, or the slots overlap, 2 a device is refused or loses
samples, 130 interrupted.
)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
