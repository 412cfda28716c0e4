// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>

#include "driver/base/output.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "src/lab/advice/check.h"
#include "src/lab/advice/experiment.h"
#include "src/page/page.h"
#include "src/program/command/call_run.h"
#include "src/program/command/figures.h"
#include "src/program/command/program.h"
#include "src/program/command/results.h"
#include "src/program/command/run_folder.h"
#include "src/report/law_report.h"
#include "traces/scenario/device.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

namespace fs = std::filesystem;

struct LawOptions {
  std::string device, scenario, out, figures;
  int tick_hz = 1024;
  int x_max = 8;
  std::uint32_t buffers = 0, phases = 10;
  double seconds = 60;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  TextOutput json, csv;
  bool confirm = false;
  std::size_t check = 0;
  std::uint64_t seed = 1;
};

constexpr int kPhaseSteps = 48;
constexpr double kLeastLoopS = 2;  ///< start-up plus some data

/// The condition of the law that limits the row at this X.
std::string decided_by(const DeviceTiming& device, double x_ms, double full_ms, double simple_ms) {
  if (full_ms == 0) return "not even the whole CPU";
  if (full_ms < simple_ms - 2e-3) return "backlog";
  return x_ms / device.share() < x_ms + device.longest_gap_ms() ? "share" : "gap";
}

BoundaryRow boundary_row(const law::Setting& setting, int x_ticks) {
  const DeviceTiming device = device_timing(setting.device);
  BoundaryRow row;
  row.x_ticks = x_ticks;
  row.x_ms = x_ticks * setting.tick_ms();
  row.full_ms = longest_period_ms(device, row.x_ms);
  row.host_ms = longest_period_ms(device, row.x_ms, static_cast<double>(setting.device.worst_cost_ns) * 1e-6,
                                  setting.host_work());
  const double by_share = row.x_ms / device.share();
  const auto longest = [&](double gap) {
    return gap < 0 || by_share < row.x_ms ? 0 : std::min(by_share, row.x_ms + gap);
  };
  row.simple_ms = longest(device.longest_gap_ms());
  row.authors_ms = longest(device.mean_period_ms());
  row.decides = decided_by(device, row.x_ms, row.full_ms, row.simple_ms);
  return row;
}

LawReport report_of(const LawOptions& options) {
  LawReport report;
  report.setting.device = config::load_device(options.device);
  hostsim::SoftDevice& device = report.setting.device;
  if (options.buffers != 0) {
    device.buffers = options.buffers;
    if (const std::string problem = device.problem(); !problem.empty()) {
      throw config::Error(fmt::format("--buffers {}: {}", options.buffers, problem));
    }
  }
  report.setting.tick_hz = options.tick_hz;
  for (const config::Key& key : config::device_keys()) {
    report.settings.emplace_back(key.path, config::write_value(key, &device));
  }
  report.settings.emplace_back("tick_hz", std::to_string(options.tick_hz));
  for (int x = 1; x <= options.x_max; ++x) report.boundary.push_back(boundary_row(report.setting, x));
  RecommendOptions wanted;
  wanted.tick_ms = report.setting.tick_ms();
  wanted.reserve = 1.1 * (1 + device.cost_spread) - 1;
  wanted.worst_cost_ms = static_cast<double>(device.worst_cost_ns) * 1e-6;
  const DeviceTiming timing = device_timing(device);
  report.any_period = recommend(timing, wanted);
  wanted.power_of_two = true;
  report.power_of_two = recommend(timing, wanted);
  return report;
}

std::string csv(const LawReport& report) {
  std::string out = "x_ticks,x_ms,full_law_y_ms,on_host_y_ms,simple_law_y_ms,authors_rule_y_ms,decided_by\n";
  for (const BoundaryRow& r : report.boundary) {
    out += fmt::format("{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{}\n", r.x_ticks, r.x_ms, r.full_ms, r.host_ms,
                       r.simple_ms, r.authors_ms, r.decides);
  }
  return out;
}

/// A reservation recommended by the full law.
struct Recommended {
  TickReservation reservation;
  double margin_ms = 0;
};

std::optional<Recommended> recommended(const std::optional<TickReservation>& r, const law::Setting& setting) {
  if (!r) return std::nullopt;
  const LawResult law = full_law(device_timing(setting.device), r->x * setting.tick_ms(), r->y * setting.tick_ms());
  return Recommended{*r, law.margin_ms};
}

using RecommendedKeys = record::Written<Recommended>;
constexpr record::Row kRecommendedRows[] = {
    RecommendedKeys::of<&Recommended::reservation, &TickReservation::x>("x_ticks", "ticks", "X"),
    RecommendedKeys::of<&Recommended::reservation, &TickReservation::y>("y_ticks", "ticks", "Y"),
    RecommendedKeys::of<&Recommended::reservation, &TickReservation::share>("share", "", "share of a CPU, 0 to 1"),
    RecommendedKeys::of<&Recommended::margin_ms>("margin_ms", "ms", "margin below the longest gap"),
};
using BoundaryKeys = record::Written<BoundaryRow>;
constexpr record::Row kBoundaryRows[] = {
    BoundaryKeys::of<&BoundaryRow::x_ticks>("x_ticks", "ticks", "X"),
    BoundaryKeys::of<&BoundaryRow::x_ms>("x_ms", "ms", "X"),
    BoundaryKeys::of<&BoundaryRow::full_ms>("full_law_y_ms", "ms", "longest Y by the full law; 0: none"),
    BoundaryKeys::of<&BoundaryRow::host_ms>("on_host_y_ms", "ms",
                                            "longest Y by the full law, with the costliest block and the host's work"),
    BoundaryKeys::of<&BoundaryRow::simple_ms>("simple_law_y_ms", "ms", "longest Y by share and gap alone"),
    BoundaryKeys::of<&BoundaryRow::authors_ms>("authors_rule_y_ms", "ms",
                                               "longest Y by the rule of the paper's authors"),
    BoundaryKeys::of<&BoundaryRow::decides>("decided_by", "", "deciding part of the law: share, gap or backlog"),
};
using CellOutcomeKeys = record::Written<law::CellOutcome>;
using law::CellOutcome;
constexpr record::Row kCellRows[] = {
    CellOutcomeKeys::of<&CellOutcome::reservation, &TickReservation::x>("x_ticks", "ticks", "X"),
    CellOutcomeKeys::of<&CellOutcome::reservation, &TickReservation::y>("y_ticks", "ticks", "Y"),
    CellOutcomeKeys::of<&CellOutcome::law>("law", "", "whether the full law grants the reservation"),
    CellOutcomeKeys::of<&CellOutcome::simple>("simple_law", "", "whether share and gap alone grant the reservation"),
    CellOutcomeKeys::of<&CellOutcome::authors>("authors_rule", "",
                                               "whether the rule of the paper's authors grants the reservation"),
    CellOutcomeKeys::of("simulated", "", "sufficient, marginal or insufficient",
                        [](const CellOutcome& c) { return to_string(c.simulated.verdict); }),
    CellOutcomeKeys::of<&CellOutcome::simulated, &VerdictResult::complete>("complete", "", "runs without a loss"),
    CellOutcomeKeys::of<&CellOutcome::simulated, &VerdictResult::runs>("runs", "",
                                                                       "runs from different starting phases"),
};
constexpr record::Table kRecommended{kRecommendedRows}, kBoundary{kBoundaryRows}, kCell{kCellRows};
using ExperimentResultKeys = record::Written<law::ExperimentResult>;
using law::ExperimentResult;
constexpr record::Row kExperimentRows[] = {
    ExperimentResultKeys::of<&ExperimentResult::experiment, &law::Experiment::id>("id", "", "name of the experiment"),
    ExperimentResultKeys::of<&ExperimentResult::experiment, &law::Experiment::title>("title", "", "what it changes"),
    ExperimentResultKeys::of(
        "share", "", "share of a CPU that a reservation must exceed",
        [](const ExperimentResult& e) { return device_timing(e.experiment.setting.device).share(); }),
    ExperimentResultKeys::of(
        "longest_gap_ms", "ms", "longest Y - X",
        [](const ExperimentResult& e) { return device_timing(e.experiment.setting.device).longest_gap_ms(); }),
    ExperimentResultKeys::of("tick_hz", "Hz", "rate of the host's clock interrupts",
                             [](const ExperimentResult& e) { return e.experiment.setting.tick_hz; }),
    ExperimentResultKeys::of<&ExperimentResult::law_agrees>("law_agrees", "",
                                                            "cells in which law and simulation agree"),
    ExperimentResultKeys::of<&ExperimentResult::authors_agree>("authors_agree", "",
                                                               "cells in which the authors' rule and simulation agree"),
    ExperimentResultKeys::of<&ExperimentResult::law_limit>("law_limit_ticks", "ticks",
                                                           "longest Y by the law, for X of 1, 2 ..."),
    ExperimentResultKeys::of<&ExperimentResult::authors_limit>("authors_limit_ticks", "ticks",
                                                               "longest Y by the authors' rule"),
    ExperimentResultKeys::of<&ExperimentResult::simulated_limit>("simulated_limit_ticks", "ticks",
                                                                 "longest Y by simulation"),
    ExperimentResultKeys::part<&ExperimentResult::cells>("cells", kCell),
};
using PhaseResultKeys = record::Written<law::PhaseResult>;
constexpr record::Row kPhaseRows[] = {
    PhaseResultKeys::of<&law::PhaseResult::reservation, &TickReservation::x>("x_ticks", "ticks", "X"),
    PhaseResultKeys::of<&law::PhaseResult::reservation, &TickReservation::y>("y_ticks", "ticks", "Y"),
    PhaseResultKeys::of<&law::PhaseResult::law>("law", "", "whether the full law grants the reservation"),
    PhaseResultKeys::of("phases", "", "starting phases", [](const law::PhaseResult& p) { return p.success.size(); }),
    PhaseResultKeys::of("successful", "", "phases without a loss",
                        [](const law::PhaseResult& p) {
                          return std::count_if(p.success.begin(), p.success.end(),
                                               [](const auto& phase) { return phase.second; });
                        }),
};
constexpr record::Table kExperiment{kExperimentRows}, kPhase{kPhaseRows};

using LawReportKeys = record::Written<LawReport>;
DeviceTiming timing(const LawReport& report) {
  return device_timing(report.setting.device);
}
constexpr record::Row kLawRows[] = {
    LawReportKeys::of("device", "", "name of the device", [](const LawReport& r) { return r.setting.device.name; }),
    LawReportKeys::of("period_ms", "ms", "period T of a block",
                      [](const LawReport& r) { return timing(r).mean_period_ms(); }),
    LawReportKeys::of("cost_ms", "ms", "cost c of a block", [](const LawReport& r) { return timing(r).cost_ms; }),
    LawReportKeys::of("phi", "", "share of the work after which the output is ready, 0 to 1",
                      [](const LawReport& r) { return timing(r).output_fraction; }),
    LawReportKeys::of("lead_samples", "samples", "queued ahead",
                      [](const LawReport& r) { return timing(r).transmit_lead_samples; }),
    LawReportKeys::of("slack_ms", "ms", "shortest time that a block may be late",
                      [](const LawReport& r) { return timing(r).least_slack_ms(); }),
    LawReportKeys::of("share", "", "share of a CPU that a reservation must exceed",
                      [](const LawReport& r) { return timing(r).share(); }),
    LawReportKeys::of("longest_gap_ms", "ms", "longest Y - X",
                      [](const LawReport& r) { return timing(r).longest_gap_ms(); }),
    LawReportKeys::of("authors_gap_ms", "ms", "longest Y - X by the rule of the paper's authors",
                      [](const LawReport& r) { return timing(r).mean_period_ms(); }),
    LawReportKeys::of("tick_hz", "Hz", "rate of the host's clock interrupts",
                      [](const LawReport& r) { return r.setting.tick_hz; }),
    LawReportKeys::part("recommended", kRecommended,
                        [](const LawReport& r) { return recommended(r.any_period, r.setting); })
        .or_null(),
    LawReportKeys::part("recommended_power_of_two", kRecommended,
                        [](const LawReport& r) { return recommended(r.power_of_two, r.setting); })
        .or_null(),
    LawReportKeys::part<&LawReport::boundary>("boundary", kBoundary),
    LawReportKeys::part<&LawReport::experiments>("experiments", kExperiment).absent("without --confirm"),
    LawReportKeys::part<&LawReport::phases>("phases", kPhase).absent("without --confirm"),
};

std::string y_text(double y_ms, double tick_ms) {
  return y_ms > 0 ? fmt::format("{:.3f} ms ({})", y_ms, static_cast<int>(std::floor(y_ms / tick_ms - 1e-9))) : "-";
}

void print(const LawReport& report) {
  say("{}\n", report.setting.device.name);
  for (const std::string& sentence : law_sentences(report)) say("  {}\n", sentence);
  Table table;
  table.column("X ticks");
  table.column("X");
  table.column("longest Y, full law (ticks)");
  table.column("costliest block, host's work");
  table.column("simple law");
  table.column("authors' rule");
  table.column("decides", Table::Align::kLeft);
  const double tick = report.setting.tick_ms();
  for (const BoundaryRow& r : report.boundary) {
    table.row({fmt::format("{}", r.x_ticks), fmt::format("{:.3f} ms", r.x_ms), y_text(r.full_ms, tick),
               y_text(r.host_ms, tick), y_text(r.simple_ms, tick), y_text(r.authors_ms, tick), r.decides});
  }
  say("\n{}", table.lines());
  for (const law::ExperimentResult& e : report.experiments) {
    say("\n{}\n", e.experiment.title);
    if (!e.experiment.changes.empty()) say("  {}\n", e.experiment.changes);
    say("  {}\n", experiment_sentence(e));
    const DeviceTiming v = device_timing(e.experiment.setting.device);
    say("  law: share over {:.1f} %, gap up to {:.3f} ms; longest Y in ticks:\n", 100 * v.share(), v.longest_gap_ms());
    Table limits;
    limits.column("X ticks");
    limits.column("law");
    limits.column("authors' rule");
    limits.column("simulated");
    for (std::size_t i = 0; i < e.simulated_limit.size(); ++i) {
      limits.row({fmt::format("{}", i + 1), fmt::format("{}", e.law_limit[i]), fmt::format("{}", e.authors_limit[i]),
                  fmt::format("{}", e.simulated_limit[i])});
    }
    say("{}", limits.lines());
  }
  if (!report.phases.empty()) {
    say("\nSuccess by starting phase, with equal crystals (# nothing lost, . samples lost)\n");
    for (const law::PhaseResult& p : report.phases) {
      std::string strip;
      for (const auto& [phase, success] : p.success) strip += success ? '#' : '.';
      say("  {:>6} {} {}\n", fmt::format("{}/{}", p.reservation.x, p.reservation.y), strip,
          p.law ? "granted by the law" : "");
    }
  }
}

std::optional<hostsim::Scenario> scenario_of(const LawOptions& options) {
  if (options.scenario.empty()) return {};
  config::ScenarioBuilder builder;
  builder.apply_file(options.scenario);
  hostsim::Scenario scenario = builder.finish();
  expect_device_pump(scenario, options.scenario);
  if (scenario.device.pump.empty() && scenario.line_kind == hostsim::LineKind::kSubscriberLoop &&
      options.seconds < kLeastLoopS)
    throw config::Error(fmt::format("--seconds {}: expected at least {}, for a DMT pump's start-up and some data",
                                    options.seconds, kLeastLoopS));
  return scenario;
}

/// @return false if interrupted
bool confirm(const LawOptions& options, const OutputFolder& folder, LawReport& report) {
  law::Options how;
  const std::optional<hostsim::Scenario> scenario = scenario_of(options);
  how.folder = &folder;
  how.line = scenario ? &*scenario : nullptr;
  how.x_max = options.x_max;
  how.phases = options.phases;
  how.seconds = options.seconds;
  how.threads = options.threads;
  how.stop = interrupted;
  how.run = run_row;
  Progress progress("law",
                    options.json.alone() || options.csv.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
  how.progress = [&](std::size_t done, std::size_t runs, const std::string& title) {
    if (!progress.due()) return;
    progress.update(static_cast<double>(done) / static_cast<double>(runs),
                    fmt::format("{}: {} of {} runs", title, done, runs));
  };
  for (const law::Experiment& experiment : law::experiments(report.setting)) {
    law::ExperimentResult result;
    if (!run_experiment(experiment, how, result)) return false;
    report.findings.push_back(experiment.title + ": " + experiment_sentence(result));
    report.experiments.push_back(std::move(result));
    if (scenario) return true;  // a real pump is slow, so only the unchanged device is tested
  }
  return run_phases(report.setting, how, kPhaseSteps, report.phases);
}

using law::CheckedDevice;
using CheckedDeviceKeys = record::Written<CheckedDevice>;
constexpr record::Row kCheckedRows[] = {
    CheckedDeviceKeys::of<&CheckedDevice::index>("index", "", "number of a device for which law and simulation differ"),
    CheckedDeviceKeys::of("why", "", "kind of the difference",
                          [](const CheckedDevice& c) { return to_string(c.agreement); }),
    CheckedDeviceKeys::of("explained", "", "whether it is explained",
                          [](const CheckedDevice& c) { return law::explained(c.agreement); }),
    CheckedDeviceKeys::of("rate_hz", "Hz", "sample rate", [](const CheckedDevice& c) { return c.device.rate_hz; }),
    CheckedDeviceKeys::of("plan_samples", "samples", "lengths of the blocks",
                          [](const CheckedDevice& c) { return c.device.block_plan; }),
    CheckedDeviceKeys::of("lead_samples", "samples", "queued ahead",
                          [](const CheckedDevice& c) { return c.device.lead(); }),
    CheckedDeviceKeys::of("cost_ns", "ns", "cost of a block", [](const CheckedDevice& c) { return c.device.cost_ns; }),
    CheckedDeviceKeys::of("phi", "", "share of the work after which the output is ready",
                          [](const CheckedDevice& c) { return c.device.output_fraction; }),
    CheckedDeviceKeys::of<&CheckedDevice::tick_hz>("tick_hz", "Hz", "rate of the host's clock interrupts"),
    CheckedDeviceKeys::of<&CheckedDevice::x_ticks>("x_ticks", "ticks", "X"),
    CheckedDeviceKeys::of<&CheckedDevice::y_ticks>("y_ticks", "ticks", "longest Y that the law grants"),
    CheckedDeviceKeys::of<&CheckedDevice::margin_ms>("margin_ms", "ms", "margin of the law at that boundary"),
    CheckedDeviceKeys::of(
        "beyond_ms", "ms", "margin one tick beyond; null: the share is too small",
        [](const CheckedDevice& c) { return std::isfinite(c.beyond_ms) ? std::optional(c.beyond_ms) : std::nullopt; })
        .or_null(),
};
constexpr record::Table kChecked{kCheckedRows};

/// Random devices, by the law and by simulation.
struct LawCheck {
  std::uint64_t seed = 0;
  std::size_t devices = 0, none = 0, unexplained = 0;
  std::map<law::Agreement, std::size_t> kinds{};
  std::vector<CheckedDevice> differing{};

  std::vector<std::pair<std::string, std::uint64_t>> counts() const {
    std::vector<std::pair<std::string, std::uint64_t>> all;
    for (const auto& [kind, n] : kinds) all.emplace_back(to_string(kind), n);
    return all;
  }
};
using LawCheckKeys = record::Written<LawCheck>;
constexpr record::Row kCountRows[] = {
    LawCheckKeys::of("", "", "number of devices for each kind of agreement",
                     [](const LawCheck& c) { return c.counts(); })
        .as_keys(),
};
constexpr record::Table kCounts{kCountRows};
constexpr record::Row kLawCheckRows[] = {
    LawCheckKeys::of("offhook_law_check", "", "version of this document", [](const LawCheck&) { return 1; }),
    LawCheckKeys::of<&LawCheck::seed>("seed", "", "random seed of the devices"),
    LawCheckKeys::of<&LawCheck::devices>("devices", "", "number of devices"),
    LawCheckKeys::of<&LawCheck::none>("no_reservation", "", "devices for which no reservation is sufficient"),
    LawCheckKeys::of<&LawCheck::unexplained>("unexplained", "", "devices that differ without an explanation"),
    LawCheckKeys::part("counts", kCounts, [](const LawCheck& c) { return &c; }).always(),
    LawCheckKeys::part<&LawCheck::differing>("differing", kChecked).absent("none differ"),
};

/// @return exit status
int check(const LawOptions& options) {
  catch_interrupts();
  law::CheckOptions how;
  how.seed = options.seed;
  how.devices = options.check;
  how.threads = options.threads;
  how.stop = interrupted;
  std::vector<law::CheckedDevice> devices;
  {
    Progress progress("law",
                      options.json.alone() || options.csv.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    how.progress = [&](std::size_t done) {
      if (!progress.due()) return;
      progress.update(static_cast<double>(done) / static_cast<double>(how.devices),
                      fmt::format("{} of {} devices", done, how.devices));
    };
    devices = check_devices(how);
  }
  if (interrupted()) return interrupt_status();
  LawCheck result{.seed = options.seed, .devices = devices.size()};
  for (const law::CheckedDevice& c : devices) {
    ++result.kinds[c.agreement];
    result.none += c.y_ticks == 0;
    result.unexplained += !law::explained(c.agreement);
    if (c.agreement != law::Agreement::kEqual) result.differing.push_back(c);
  }
  options.json.write(record::json_text(kLawCheck, &result, 1));
  if (!options.json.alone()) {
    say("{} random devices, seed {}: the longest period that the law grants, and one tick more, by simulation\n",
        result.devices, options.seed);
    for (const auto& [kind, n] : result.kinds) say("  {:>6}  {}\n", n, to_string(kind));
    say("  (no reservation with that X is sufficient for {} of them)\n", result.none);
    for (const law::CheckedDevice& d : result.differing) say("  {}\n", Lines(record::json_text(kChecked, &d)));
  }
  return result.unexplained == 0 ? kOk : kInsufficient;
}

int run(const LawOptions& options) {
  if ((options.check > 0) == !options.device.empty()) throw config::Error("expected either a device or --check N");
  expect_one_alone({&options.csv, &options.json});
  if (!options.scenario.empty() && !options.confirm) throw config::Error("--scenario requires --confirm");
  if (options.check > 0 && options.csv.asked()) throw config::Error("--check writes no table; expected --json");
  if (options.check > 0) return check(options);
  LawReport report = report_of(options);
  const fs::path folder = !options.out.empty() ? fs::path(options.out)
                          : options.confirm    ? fs::path("out") / ("law-" + fs::path(options.device).stem().string())
                                               : fs::path();
  std::optional<OutputFolder> output;
  if (!folder.empty()) output.emplace(folder);
  if (options.confirm) {
    catch_interrupts();
    if (!confirm(options, *output, report)) {
      say(stderr, "offhook: interrupted; completed runs are kept in {}; rerun the command to resume\n",
          folder.string());
      return interrupt_status();
    }
  }
  if (output) {
    output->write("law.csv", csv(report));
    output->write("law.json", record::json_text(kLaw, &report, 1) + "\n");
    output->write(kReportName, law_page(report));
  }
  if (output) {
    write_figures(folder / kReportName, options.figures);
  } else {
    write_page(law_page(report), "", options.figures);
  }
  options.csv.write(csv(report));
  options.json.write(record::json_text(kLaw, &report, 1));
  if (options.csv.alone() || options.json.alone()) return kOk;
  print(report);
  if (!folder.empty()) say("report: {}\n", (folder / kReportName).string());
  return kOk;
}

}  // namespace

constexpr record::Table kLaw{kLawRows}, kLawCheck{kLawCheckRows};

void add_law(App& advise, Action& action) {
  App* sub = advise.add_subcommand(
      "law", "Compute which reservations (X every Y) are sufficient for a device, and confirm them by experiment");
  auto options = std::make_shared<LawOptions>();
  sub->add_option("device", options->device, "Device: a name from traces/data/devices, or a device file")
      ->type_name("DEVICE.toml");
  sub->add_option("--tick-hz", options->tick_hz, "Clock ticks per second, the unit of X and Y")
      ->type_name("HZ")
      ->check(in_range(100, 10000));
  sub->add_option("--x-max", options->x_max, "Largest X in ticks")->type_name("N")->check(in_range(1, 64));
  sub->add_option("--buffers", options->buffers, "Use N output buffers instead of the number in the description")
      ->type_name("N")
      ->check(in_range(1u, 512u));
  sub->add_flag("--confirm", options->confirm,
                "Confirm the law by simulation: the device unchanged, with one more block of lead, with short blocks, "
                "with another tick, and from every starting phase");
  sub->add_option("--scenario", options->scenario,
                  "With --confirm: also run the device's real pump on the line of this scenario")
      ->type_name("SCENARIO.toml");
  sub->add_option("--phases", options->phases, "Number of starting phases per reservation")
      ->type_name("N")
      ->check(in_range(1u, 10000u));
  sub->add_option("--seconds", options->seconds, "Simulated time per run")->type_name("S")->check(in_range(1.0, 1e6));
  sub->add_option("--threads", options->threads,
                  "Number of parallel runs (default: all cores); does not affect results")
      ->type_name("N")
      ->check(in_range(1u, 1024u));
  sub->add_option("-o,--out", options->out,
                  "Folder for law.csv, law.json and report.html (default with --confirm: out/law-DEVICE)")
      ->type_name("DIR");
  add_figures(*sub, options->figures);
  sub->add_option("--check", options->check,
                  "Validate the law on N random devices instead, each at the boundary and one tick beyond")
      ->type_name("N")
      ->check(in_range(1u, 10'000'000u));
  sub->add_option("--seed", options->seed, "Random seed of --check; runs with the same seed are identical")
      ->type_name("N")
      ->check(seed());
  add_text_output(*sub, kCsvOption, options->csv, "Boundary as CSV");
  add_text_output(*sub, kJsonOption, options->json, "Results as JSON");
  sub->footer(R"(Examples:
  offhook advise law g-lite --buffers 2
  offhook advise law vendor-modem --confirm --out out/law
  offhook advise law g-lite --buffers 2 --confirm --scenario examples/g-lite.toml --phases 1 --seconds 2.5 --x-max 4 --out out/real
  offhook advise law bluetooth --tick-hz 10000 --csv
  offhook advise law --check 2000
  offhook sweep examples/device-map.toml     # the whole plane by simulation

Exit status: 0 done, 1 error, 2 --check found a case that the law does not explain, 130 interrupted.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
