// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "driver/base/colour.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "src/lab/advice/admission.h"
#include "src/lab/advice/law.h"
#include "src/program/command/host_and_load.h"
#include "src/program/command/program.h"
#include "src/program/command/results.h"
#include "traces/scenario/device.h"
#include "traces/scenario/document.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

struct AdmitOptions {
  std::vector<std::string> of;  ///< a scenario, or devices
  std::string host;             ///< of the devices; empty: the scenario's own
  std::vector<std::string> contexts;
  std::vector<std::string> set;
  double seconds = 20, step = 0.05, most = 3;
  TextOutput json, csv;

  /// Standard output is not for people.
  bool alone() const { return json.alone() || csv.alone(); }
};

/// A device in the table: its share, and the least factor of work at which it loses samples.
struct DeviceRow {
  law::DeviceShare share;
  std::optional<double> breaks_at;
};
/// A device at one factor of all work.
struct OutcomeRow {
  double growth;
  const law::DeviceShare* share;
  law::DeviceOutcome outcome;
};
struct GrowthRow {
  double factor;
  std::vector<OutcomeRow> devices;
};
struct Result {
  std::string scenario;
  law::Admission admission;
  std::vector<DeviceRow> devices{};
  std::optional<std::string> breaks_first{};
  std::vector<GrowthRow> growths{};
};

using DeviceKeys = record::Written<DeviceRow>;
using law::DeviceShare;
constexpr record::Row kAdmittedRows[] = {
    DeviceKeys::of<&DeviceRow::share, &DeviceShare::name>("name", "", "name of a device"),
    DeviceKeys::of<&DeviceRow::share, &DeviceShare::context>("context", "", "context of the device"),
    DeviceKeys::of<&DeviceRow::share, &DeviceShare::demand>("demand", "",
                                                            "work of the device, as a share of a CPU, 0 to 1"),
    DeviceKeys::of<&DeviceRow::share, &DeviceShare::reserved>(
        "reserved", "", "reservation of the device, as a share of a CPU; 0: none"),
    DeviceKeys::of(
        "overloaded", "", "whether the reservation is less than the work",
        [](const DeviceRow& d) { return d.share.reserved > 0 ? std::optional(d.share.overloaded) : std::nullopt; })
        .absent("without a reservation"),
    DeviceKeys::of<&DeviceRow::share, &DeviceShare::margin_ms>("law_margin_ms", "ms", "margin below the longest gap"),
    DeviceKeys::of<&DeviceRow::breaks_at>("breaks_at", "",
                                          "factor of work at which the device first loses samples; null: none")
        .or_null(),
};
using OutcomeKeys = record::Written<OutcomeRow>;
using law::DeviceOutcome;
constexpr record::Row kOutcomeRows[] = {
    OutcomeKeys::of<&OutcomeRow::outcome, &DeviceOutcome::blocks>("blocks", "", "blocks served"),
    OutcomeKeys::of<&OutcomeRow::outcome, &DeviceOutcome::blocks_late>("blocks_late", "",
                                                                       "blocks served after their samples were due"),
    OutcomeKeys::of<&OutcomeRow::outcome, &DeviceOutcome::samples_lost>("samples_lost", "", "lost samples"),
    OutcomeKeys::of("first_loss_s", "s", "time of the first loss; null: none",
                    [](const OutcomeRow& o) {
                      return o.outcome.first_loss_s >= 0 ? std::optional(o.outcome.first_loss_s) : std::nullopt;
                    })
        .or_null(),
    OutcomeKeys::of<&OutcomeRow::outcome, &DeviceOutcome::share>("share", "", "share of a CPU that the device used"),
};
constexpr record::Table kDevice{kAdmittedRows}, kOutcome{kOutcomeRows};
constexpr record::Row kGrowthRows[] = {
    record::Written<GrowthRow>::of<&GrowthRow::factor>("growth", "", "factor of all work"),
    record::Written<GrowthRow>::part<&GrowthRow::devices>("devices", kOutcome),
};
constexpr record::Table kGrowth{kGrowthRows};
/// A line of the CSV.
constexpr record::Row kLineRows[] = {
    OutcomeKeys::of<&OutcomeRow::growth>("growth", "", "factor of all work"),
    OutcomeKeys::of("device", "", "name of the device", [](const OutcomeRow& o) { return o.share->name; }),
    OutcomeKeys::of("context", "", "context of the device", [](const OutcomeRow& o) { return o.share->context; }),
    OutcomeKeys::part("", kOutcome, [](const OutcomeRow& o) { return &o; }).always(),
};
constexpr record::Table kAdmittedLine{kLineRows};
using ResultKeys = record::Written<Result>;
using law::Admission;
constexpr record::Row kResultRows[] = {
    ResultKeys::of("offhook_admission", "", "version of this document", [](const Result&) { return 1; }),
    ResultKeys::of<&Result::scenario>("scenario", "", "name of the scenario"),
    ResultKeys::of("admitted", "", "whether all devices fit by share and law",
                   [](const Result& r) { return r.admission.admitted(); }),
    ResultKeys::of<&Result::admission, &Admission::demand>("demand", "CPUs", "work of all devices"),
    ResultKeys::of<&Result::admission, &Admission::reserved>("reserved", "CPUs", "reservations of all devices"),
    ResultKeys::of<&Result::admission, &Admission::cpus>("bound", "CPUs", "available"),
    ResultKeys::of<&Result::admission, &Admission::reserved_most>("reserved_bound", "CPUs",
                                                                  "available to reservations"),
    ResultKeys::part<&Result::devices>("devices", kDevice),
    ResultKeys::of<&Result::breaks_first>("breaks_first", "", "device that first loses samples; null: none").or_null(),
    ResultKeys::part<&Result::growths>("growths", kGrowth),
};

Result result_of(const hostsim::Scenario& scenario, const Admission& a, const std::vector<law::Growth>& growths) {
  Result r{.scenario = scenario.name, .admission = a};
  for (std::size_t i = 0; i < a.devices.size(); ++i) r.devices.push_back({a.devices[i], law::breaks_at(growths, i)});
  if (const auto first = law::breaks_first(growths)) r.breaks_first = a.devices[*first].name;
  for (const law::Growth& g : growths) {
    GrowthRow& row = r.growths.emplace_back(GrowthRow{g.factor, {}});
    for (std::size_t i = 0; i < g.devices.size(); ++i)
      row.devices.push_back({g.factor, &r.admission.devices[i], g.devices[i]});
  }
  return r;
}

/// One row per device at each step of the work.
std::string as_csv(const Result& result) {
  std::vector<const void*> rows;
  for (const GrowthRow& g : result.growths)
    for (const OutcomeRow& o : g.devices) rows.push_back(&o);
  return record::csv_table(kAdmittedLine, rows);
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

/// The default thread of a device: a real-time thread, which is more urgent the less its blocks can wait. This order of
/// priorities is optimal (Audsley 1991), with waits as deadlines.
std::vector<std::string> by_deadline(const std::vector<hostsim::SoftDevice>& devices,
                                     const hostsim::HostScenario& host) {
  std::vector<std::size_t> order(devices.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return device_timing(devices[a]).least_slack_ms() < device_timing(devices[b]).least_slack_ms();
  });
  // From seven eighths of the host's priorities downwards: above programs, below the system's own threads.
  const int highest = host.priorities * 7 / 8;
  std::vector<std::string> contexts(devices.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int priority = highest - static_cast<int>(k);
    if (priority < 1)
      throw config::Error(fmt::format("host {} has too few priorities for {} devices", host.name, devices.size()));
    contexts[order[k]] = fmt::format("THR {}", priority);
  }
  return contexts;
}

/// Devices by name or file, on a host, without a scenario.
hostsim::Scenario scenario_of_devices(const AdmitOptions& options) {
  config::ScenarioBuilder builder = host_and_load(options.host);
  for (const std::string& assignment : options.set) builder.set(assignment);
  hostsim::Scenario scenario = builder.scenario();
  std::vector<hostsim::SoftDevice> devices;
  for (const std::string& name : options.of) devices.push_back(config::load_device(name));
  if (!options.contexts.empty() && options.contexts.size() != devices.size())
    throw config::Error(fmt::format("--context is given {} times for {} devices; expected one for each, in their order",
                                    options.contexts.size(), devices.size()));
  const std::vector<std::string> contexts =
      options.contexts.empty() ? by_deadline(devices, scenario.host) : options.contexts;
  scenario.name = "devices";
  scenario.pump = hostsim::PumpKind::kDevice;
  scenario.device = devices.front();
  scenario.context = hostsim::ContextScenario(ContextSpec::parse(contexts.front()));
  for (std::size_t i = 1; i < devices.size(); ++i) {
    std::string name = devices[i].name;
    for (std::size_t k = 0, same = 1; k < i; ++k)
      if (devices[k].name == devices[i].name) name = fmt::format("{} {}", devices[i].name, ++same);
    scenario.load.soft_devices.push_back({name, devices[i], hostsim::ContextScenario(ContextSpec::parse(contexts[i]))});
  }
  return config::ScenarioBuilder(std::move(scenario)).finish();
}

hostsim::Scenario scenario_of(const AdmitOptions& options) {
  if (!options.host.empty()) return scenario_of_devices(options);
  if (options.of.size() > 1)
    throw config::Error(fmt::format("{} devices without a host; expected --host, or one scenario", options.of.size()));
  if (!options.contexts.empty()) throw config::Error("--context requires --host; a scenario names its contexts");
  const std::string& given = options.of.front();
  if (std::filesystem::exists(given) ? config::Document::read_file(given).has("block") : !given.ends_with(".toml"))
    throw config::Error(given + ": a device without a host; expected --host, or a scenario");
  config::ScenarioBuilder builder;
  builder.apply_file(given);
  for (const std::string& assignment : options.set) builder.set(assignment);
  hostsim::Scenario scenario = builder.finish();
  if (scenario.pump != hostsim::PumpKind::kDevice)
    throw config::Error(given + ": expected a soft device, such as device = \"vendor-modem\"");
  return scenario;
}

int run(const AdmitOptions& options) {
  expect_one_alone({&options.json, &options.csv});
  hostsim::Scenario scenario = scenario_of(options);
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
  const Result result = result_of(scenario, admission, growths);
  options.json.write(record::json_text(kAdmission, &result, 1));
  options.csv.write(as_csv(result));
  if (!options.alone()) print(admission, growths);
  const auto lost_as_it_is = [](const law::DeviceOutcome& d) { return d.first_loss_s >= 0; };
  const auto& now = growths.front().devices;
  return admission.admitted() && std::none_of(now.begin(), now.end(), lost_as_it_is) ? kOk : kInsufficient;
}

}  // namespace

constexpr record::Table kAdmission{kResultRows};

void add_admit(App& advise, Action& action) {
  App* sub = advise.add_subcommand(
      "admit", "Check whether several soft devices fit on one host, and which fails first as work grows");
  auto options = std::make_shared<AdmitOptions>();
  sub->add_option("scenario", options->of,
                  "Scenario with a device, and others in [[load.soft_device]]; with --host, devices: names from "
                  "traces/data/devices, or device files")
      ->required()
      ->type_name("SCENARIO.toml|DEVICE.toml");
  Option* const host =
      sub->add_option("--host", options->host,
                      "Host of the devices: a name from traces/data/hosts, or a host file. A spinning thread competes");
  host->type_name("HOST");
  sub->add_option("--context", options->contexts,
                  "Context of a device; repeat the option for each device, in their order. Default: real-time threads, "
                  "with the highest priority for the device whose blocks can wait least")
      ->type_name("CONTEXT")
      ->needs(host);
  sub->add_option("--set", options->set, "Override a key of the scenario, as in `run`")->type_name("KEY=VALUE");
  sub->add_option("--seconds", options->seconds, "Simulated time per step")->type_name("S")->check(in_range(0.01, 1e6));
  sub->add_option("--step", options->step, "Step of the factor by which all work grows")
      ->type_name("X")
      ->check(in_range(0.001, 10.0));
  sub->add_option("--most", options->most, "Largest factor of work")->type_name("X")->check(in_range(1.0, 100.0));
  add_text_output(*sub, kJsonOption, options->json, "Results as JSON");
  add_text_output(*sub, kCsvOption, options->csv, "One row per device and step of work, as CSV");
  sub->footer(R"(Examples:
  offhook advise admit g-lite rt-audio vendor-modem --host linux-hz250
  offhook advise admit g-lite rt-audio --host nt2000-p2-450 --context "RES 3/8" --context "RES 1/8"
  offhook advise admit examples/several-devices.toml
  offhook advise admit examples/several-devices.toml --set load.spinner=false --json

Every device has its own card, driver and context. The law is applied to each reservation alone. The simulation shows
how much of its slots the interrupts and DPCs of the other devices take. One factor scales the work of all devices, as
on a slower CPU.

Exit status: 0 all devices are admitted and lose nothing, 1 error, or the slots overlap, 2 a device is refused or
loses samples, 130 interrupted.
)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
