// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "driver/base/json.h"
#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "src/lab/advice/check.h"
#include "src/lab/advice/experiment.h"
#include "src/page/page.h"
#include "src/program/command/call_run.h"
#include "src/program/command/figures.h"
#include "src/program/command/program.h"
#include "src/program/command/run_folder.h"
#include "src/report/law_report.h"
#include "traces/scenario/device.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Options {
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
constexpr double kLeastLoopS = 2;  ///< start-up and some data

/// Which face of the law ends the row at this X.
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

LawReport report_of(const Options& options) {
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

Json as_json(const std::optional<TickReservation>& r, const law::Setting& setting) {
  if (!r) return {};
  const LawResult law = full_law(device_timing(setting.device), r->x * setting.tick_ms(), r->y * setting.tick_ms());
  return {{"x_ticks", r->x}, {"y_ticks", r->y}, {"share", r->share()}, {"margin_ms", law.margin_ms}};
}

Json as_json(const LawReport& report) {
  const DeviceTiming d = device_timing(report.setting.device);
  Json out{{"device", report.setting.device.name},
           {"period_ms", d.mean_period_ms()},
           {"cost_ms", d.cost_ms},
           {"phi", d.output_fraction},
           {"lead_samples", d.transmit_lead_samples},
           {"slack_ms", d.least_slack_ms()},
           {"share", d.share()},
           {"longest_gap_ms", d.longest_gap_ms()},
           {"authors_gap_ms", d.mean_period_ms()},
           {"tick_hz", report.setting.tick_hz},
           {"recommended", as_json(report.any_period, report.setting)},
           {"recommended_power_of_two", as_json(report.power_of_two, report.setting)},
           {"boundary", Json::array()},
           {"experiments", Json::array()},
           {"phases", Json::array()}};
  for (const BoundaryRow& r : report.boundary) {
    out["boundary"].push_back({{"x_ticks", r.x_ticks},
                               {"x_ms", r.x_ms},
                               {"full_law_y_ms", r.full_ms},
                               {"on_host_y_ms", r.host_ms},
                               {"simple_law_y_ms", r.simple_ms},
                               {"authors_rule_y_ms", r.authors_ms},
                               {"decided_by", r.decides}});
  }
  for (const law::ExperimentResult& e : report.experiments) {
    Json cells = Json::array();
    for (const law::CellOutcome& c : e.cells) {
      cells.push_back({{"x_ticks", c.reservation.x},
                       {"y_ticks", c.reservation.y},
                       {"law", c.law},
                       {"simple_law", c.simple},
                       {"authors_rule", c.authors},
                       {"simulated", std::string(to_string(c.simulated.verdict))},
                       {"complete", c.simulated.complete},
                       {"runs", c.simulated.runs}});
    }
    const DeviceTiming v = device_timing(e.experiment.setting.device);
    out["experiments"].push_back({{"id", e.experiment.id},
                                  {"title", e.experiment.title},
                                  {"share", v.share()},
                                  {"longest_gap_ms", v.longest_gap_ms()},
                                  {"tick_hz", e.experiment.setting.tick_hz},
                                  {"law_agrees", e.law_agrees},
                                  {"authors_agree", e.authors_agree},
                                  {"law_limit_ticks", e.law_limit},
                                  {"authors_limit_ticks", e.authors_limit},
                                  {"simulated_limit_ticks", e.simulated_limit},
                                  {"cells", std::move(cells)}});
  }
  for (const law::PhaseResult& p : report.phases) {
    std::size_t ok = 0;
    for (const auto& [phase, success] : p.success) ok += success;
    out["phases"].push_back({{"x_ticks", p.reservation.x},
                             {"y_ticks", p.reservation.y},
                             {"law", p.law},
                             {"phases", p.success.size()},
                             {"successful", ok}});
  }
  return out;
}

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
    say("\nSuccess against starting phase, crystals equal (# nothing lost, . samples lost)\n");
    for (const law::PhaseResult& p : report.phases) {
      std::string strip;
      for (const auto& [phase, success] : p.success) strip += success ? '#' : '.';
      say("  {:>6} {} {}\n", fmt::format("{}/{}", p.reservation.x, p.reservation.y), strip,
          p.law ? "granted by the law" : "");
    }
  }
}

std::optional<hostsim::Scenario> scenario_of(const Options& options) {
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

/// @return false when interrupted
bool confirm(const Options& options, const OutputFolder& folder, LawReport& report) {
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
    if (scenario) return true;  // a real pump is slow: the unchanged device
  }
  return run_phases(report.setting, how, kPhaseSteps, report.phases);
}

/// Random devices by law and by simulation. @return exit status
int check(const Options& options) {
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
  std::map<law::Agreement, std::size_t> kinds;
  Json differing = Json::array();
  std::size_t none = 0, unexplained = 0;
  for (const law::CheckedDevice& c : devices) {
    ++kinds[c.agreement];
    none += c.y_ticks == 0;
    unexplained += !law::explained(c.agreement);
    if (c.agreement == law::Agreement::kEqual) continue;
    differing.push_back({{"index", c.index},
                         {"why", std::string(to_string(c.agreement))},
                         {"explained", law::explained(c.agreement)},
                         {"rate_hz", c.device.rate_hz},
                         {"plan_samples", c.device.block_plan},
                         {"lead_samples", c.device.lead()},
                         {"cost_ns", c.device.cost_ns},
                         {"phi", c.device.output_fraction},
                         {"tick_hz", c.tick_hz},
                         {"x_ticks", c.x_ticks},
                         {"y_ticks", c.y_ticks},
                         {"margin_ms", c.margin_ms},
                         {"beyond_ms", std::isfinite(c.beyond_ms) ? Json(c.beyond_ms) : Json()}});
  }
  Json counts;
  for (const auto& [kind, n] : kinds) counts[std::string(to_string(kind))] = n;
  const Json out{{"offhook_law_check", 1}, {"seed", options.seed},       {"devices", devices.size()},
                 {"no_reservation", none}, {"unexplained", unexplained}, {"counts", counts},
                 {"differing", differing}};
  options.json.write(json_text(out, 1));
  if (!options.json.alone()) {
    say("{} random devices, seed {}: the longest period that the law grants, and one tick more, by simulation\n",
        devices.size(), options.seed);
    for (const auto& [kind, n] : kinds) say("  {:>6}  {}\n", n, to_string(kind));
    say("  (no reservation with that X is sufficient for {} of them)\n", none);
    for (const Json& d : differing) say("  {}\n", Lines(d.dump()));
  }
  return unexplained == 0 ? kOk : kInsufficient;
}

int run(const Options& options) {
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
    output->write("law.json", json_text(as_json(report), 1) + "\n");
    output->write(kReportName, law_page(report));
  }
  if (output) {
    write_figures(folder / kReportName, options.figures);
  } else {
    write_page(law_page(report), "", options.figures);
  }
  options.csv.write(csv(report));
  options.json.write(json_text(as_json(report), 1));
  if (options.csv.alone() || options.json.alone()) return kOk;
  print(report);
  if (!folder.empty()) say("report: {}\n", (folder / kReportName).string());
  return kOk;
}

}  // namespace

void add_law(App& app, Action& action) {
  App* sub = app.add_subcommand(
      "law", "Compute which reservations (X every Y) are sufficient for a device, and confirm them by experiment");
  auto options = std::make_shared<Options>();
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
  offhook law g-lite --buffers 2
  offhook law vendor-modem --confirm --out out/law
  offhook law g-lite --buffers 2 --confirm --scenario examples/g-lite.toml --phases 1 --seconds 2.5 --x-max 4 --out out/real
  offhook law bluetooth --tick-hz 10000 --csv
  offhook law --check 2000
  offhook sweep examples/device-map.toml     # the whole plane by simulation

Exit status: 0 done, 1 error, 2 --check found a case that the law does not explain, 130 interrupted.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
