// SPDX-License-Identifier: MIT
//
// `offhook measure`: this machine, as the papers measured theirs.
#include "src/program/command/measure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "driver/base/output.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "src/lab/advice/law.h"
#include "src/lab/reproduce/published.h"
#include "src/measure/cost.h"
#include "src/measure/device_cost.h"
#include "src/measure/hgrm.h"
#include "src/measure/kernel.h"
#include "src/measure/stolen.h"
#include "src/program/command/call_run.h"
#include "src/program/command/results.h"
#include "src/program/command/times.h"
#include "traces/scenario/device.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {

LiveContextConfig MeasureOptions::context_spec() const {
  LiveContextConfig spec = LiveContextConfig::parse(context);
  spec.cpu = cpu;
  spec.best_effort = best_effort;
  return spec;
}

std::int64_t MeasureOptions::threshold_ns() const {
  if (threshold.empty()) return 0;
  double us = 0;
  const std::string& text = threshold.front();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), us);
  if (error != std::errc{} || end != text.data() + text.size() || !(us >= 0.001 && us <= 1e10))
    throw std::runtime_error(fmt::format("--on-threshold {}: expected a time in us, 0.001 or more", text));
  return static_cast<std::int64_t>(us * 1e3);
}

void add_common(App* sub, MeasureOptions& options) {
  add_text_output(*sub, kJsonOption, options.json, "Result as JSON");
  sub->add_flag("--best-effort", options.best_effort, "Continue without missing privileges");
}

void add_context(App* sub, MeasureOptions& options) {
  sub->add_option("--context", options.context, "\"FIFO 80\", \"RR 10\", \"RES 2ms/8ms\" or OTHER")
      ->type_name("CONTEXT");
  sub->add_option("--cpu", options.cpu, "Pin the thread to this CPU")->type_name("N");
  sub->add_option("--hgrm", options.hgrm, "Write the histogram in the format of HdrHistogram's tools")
      ->type_name("FILE");
}

void add_seconds(App* sub, MeasureOptions& options) {
  sub->add_option("--seconds", options.seconds, "Duration of the measurement, in seconds")
      ->type_name("S")
      ->check(in_range(0.01, 1e7));
}

void add_threshold(App* sub, MeasureOptions& options, const std::string& what) {
  sub->add_option("--on-threshold", options.threshold,
                  fmt::format("End with status 2 at the first {} of US microseconds or more; then run COMMAND by sh, "
                              "with OFFHOOK_US set",
                              what))
      ->type_name("US [COMMAND]")
      ->expected(1, 2);
}

void say_without(const std::vector<std::string>& without) {
  for (const std::string& w : without) say(stderr, "offhook: continuing without: {}\n", w);
}

void print_quantiles(const char* what, const LogLinearHistogram& h) {
  say("{}, us: min {:.1f}  mean {:.1f}  50 % {:.1f}  99 % {:.1f}  99.9 % {:.1f}  99.99 % {:.1f}  max {:.1f}\n", what,
      us_of(double(h.min())), us_of(h.mean()), us_of(double(h.quantile(0.5))), us_of(double(h.quantile(0.99))),
      us_of(double(h.quantile(0.999))), us_of(double(h.quantile(0.9999))), us_of(double(h.max())));
}

void print_bars(const LogLinearHistogram& h) {
  constexpr double kWidth = 50;
  const auto bars = h.bars(1);
  for (const HistogramBar& bar : bars) {
    const double share = double(bar.count) / double(h.count());
    say("{:>12.1f} us {:>10} {}\n", us_of(double(bar.low)), bar.count,
        std::string(std::size_t(share * kWidth + 0.999), '#'));
  }
}

void write_hgrm(const MeasureOptions& options, const LogLinearHistogram& h) {
  if (!options.hgrm.empty()) write_file(options.hgrm, measure::to_hgrm(h, 1e3));
}

void write_hgrm_into_folder(const MeasureOptions& options, const std::string& name, const LogLinearHistogram& h) {
  if (options.hgrm.empty()) return;
  std::string file;
  for (const char c : name)
    file += std::isalnum(static_cast<unsigned char>(c)) != 0 ? static_cast<char>(std::tolower(c)) : '-';
  OutputFolder(options.hgrm).write(file + ".hgrm", measure::to_hgrm(h, 1e3));
}

int finish_measure(const MeasureOptions& options, const record::Table& table, const void* result,
                   std::int64_t over_ns) {
  options.json.write(record::json_text(table, result, 1));
  flush_output();
  if (over_ns > 0 && options.threshold.size() > 1) {
    setenv("OFFHOOK_US", fmt::format("{:.3f}", us_of(double(over_ns))).c_str(), 1);
    const std::string& command = options.threshold[1];
    const int status = std::system(command.c_str());
    if (status != 0) {
      say(stderr, "offhook: the command of --on-threshold, {}, ended with status {}\n", command,
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
  }
  if (interrupted()) return interrupt_status();
  return over_ns > 0 ? kInsufficient : kOk;
}

namespace {

using MeasuredKeys = record::Written<Measured>;
constexpr record::Row kMeasuredRows[] = {
    MeasuredKeys::of<&Measured::measure>("measure", "", "name of the measurement"),
    MeasuredKeys::part<&Measured::host>("host", measure::kHostDescription)
        .described_apart("description of this machine"),
};

struct Stolen {
  Measured measured{"stolen"};
  std::string context;
  measure::StolenResult result{};

  double percent() const {
    return 100 * double(result.stolen_ns) / std::max(1.0, double(result.stolen_ns + result.running_ns));
  }
};

using StolenKeys = record::Written<Stolen>;
using measure::StolenResult;
constexpr record::Row kStolenRows[] = {
    StolenKeys::part<&Stolen::measured>("", kMeasured),
    StolenKeys::of<&Stolen::context>("context", "", "context of the reservation"),
    StolenKeys::part("stolen", kTimes, [](const Stolen& s) -> const LogLinearHistogram& { return s.result.stolen; })
        .described_apart("stolen intervals"),
    StolenKeys::of<&Stolen::percent>("stolen_percent", "%", "stolen share of the time"),
    StolenKeys::of<&Stolen::result, &StolenResult::hits>("deadline_hits", "", "periods with their whole budget"),
    StolenKeys::of<&Stolen::result, &StolenResult::misses>("deadline_misses", "", "periods without it"),
    StolenKeys::of<&Stolen::result, &StolenResult::gap_ns>("gap_us", "us", "shortest gap that counts as stolen")
        .scale(1e-3),
    StolenKeys::of<&Stolen::result, &StolenResult::poll_ns>("poll_us", "us", "time of a poll").scale(1e-3),
    StolenKeys::of<&Stolen::result, &StolenResult::without>("without", "", "missing privileges")
        .absent("there is none"),
};

int run_stolen(const MeasureOptions& options) {
  measure::StolenConfig config;
  config.context = options.context_spec();
  config.duration_ns = std::int64_t(options.seconds * 1e9);
  config.gap_ns = std::int64_t(options.gap_us * 1e3);
  if (config.context.kind != OH_CONTEXT_RESERVATION) {
    config.budget_ns = 4'000'000;  // the paper's 4 ms in every 20
    config.period_ns = 20'000'000;
  }
  config.threshold_ns = options.threshold_ns();
  Stolen stolen{.context = config.context.str()};
  stolen.result = measure::measure_stolen(config);
  const measure::StolenResult& r = stolen.result;
  say_without(r.without);
  write_hgrm(options, r.stolen);
  if (!options.json.alone()) {
    say("{}: {} of {} periods received their whole budget; {:.2f} % of the time was stolen\n", stolen.context, r.hits,
        r.hits + r.misses, stolen.percent());
    say("a poll takes {:.3f} us; a gap longer than {:.1f} us counts as stolen\n", us_of(double(r.poll_ns)),
        us_of(double(r.gap_ns)));
    if (r.stolen.count() > 0) {
      print_bars(r.stolen);
      print_quantiles("stolen intervals", r.stolen);
    }
  }
  return finish_measure(options, kMeasureStolen, &stolen, r.over_threshold_ns);
}

/// Table 2 of the Windows CE report: us per call, for each board.
struct PublishedCalls {
  std::vector<std::string> boards;
  std::map<std::string, std::vector<double>> us;
};

PublishedCalls published_calls() {
  const reproduce::Published claim = reproduce::load_published("siemens.table2");
  PublishedCalls calls{claim.texts("columns"), {}};
  for (const reproduce::Published& row : claim.rows("rows")) calls.us[row.text("call")] = row.numbers("us");
  return calls;
}

using BoardTimes = std::vector<std::pair<std::string, double>>;  ///< us, for each board
struct TimedCall {
  measure::KernelRow row;
  std::optional<BoardTimes> published;
};
struct KernelCalls {
  Measured measured{"kernel"};
  std::vector<TimedCall> rows;
  double mix = 0;
};

constexpr record::Row kBoardRows[] = {
    record::Written<BoardTimes>::of("", "us", "published time for each board", [](const BoardTimes& t) { return t; })
        .as_keys(),
};
constexpr record::Table kBoards{kBoardRows};
using TimedCallKeys = record::Written<TimedCall>;
using measure::KernelRow;
constexpr record::Row kTimedCallRows[] = {
    TimedCallKeys::of<&TimedCall::row, &KernelRow::name>("call", "", "operation"),
    TimedCallKeys::of<&TimedCall::row, &KernelRow::equivalent>("equivalent", "", "equivalent of the call on Linux"),
    TimedCallKeys::of("count", "", "number of timed calls", [](const TimedCall& c) { return c.row.time.count(); }),
    TimedCallKeys::of("min_us", "us", "shortest call",
                      [](const TimedCall& c) { return us_of(double(c.row.time.min())); }),
    TimedCallKeys::of("mean_us", "us", "mean call", [](const TimedCall& c) { return us_of(c.row.time.mean()); }),
    TimedCallKeys::of("max_us", "us", "longest call",
                      [](const TimedCall& c) { return us_of(double(c.row.time.max())); }),
    TimedCallKeys::part("time", kTimes, [](const TimedCall& c) -> const LogLinearHistogram& { return c.row.time; })
        .described_apart("times of all calls"),
    TimedCallKeys::part<&TimedCall::published>("published_us", kBoards),
};
constexpr record::Table kTimedCall{kTimedCallRows};
using KernelCallsKeys = record::Written<KernelCalls>;
constexpr record::Row kKernelRows[] = {
    KernelCallsKeys::part<&KernelCalls::measured>("", kMeasured),
    KernelCallsKeys::part<&KernelCalls::rows>("rows", kTimedCall),
    KernelCallsKeys::of<&KernelCalls::mix>("integer_mix_per_s", "1/s", "runs of a mix in the manner of Dhrystone"),
};

void print(const KernelCalls& calls, const PublishedCalls& published) {
  Table table;
  table.column("operation");
  for (const char* title : {"min us", "mean us", "max us"}) table.column(title);
  for (const std::string& board : published.boards) table.column(board);
  table.column("here, by", Table::Align::kLeft);
  for (const auto& [row, beside] : calls.rows) {
    std::vector<std::string> cells{row.name, fmt::format("{:.2f}", us_of(double(row.time.min()))),
                                   fmt::format("{:.2f}", us_of(row.time.mean())),
                                   fmt::format("{:.1f}", us_of(double(row.time.max())))};
    for (std::size_t board = 0; board < published.boards.size(); ++board)
      cells.push_back(beside ? fmt::format("{:g}", (*beside)[board].second) : "");
    cells.push_back(row.equivalent);
    table.row(std::move(cells));
  }
  say("{}", table.lines());
  say("strings, records and integers in the manner of Dhrystone (other source code): {:.0f} runs per second\n",
      calls.mix);
  if (const auto dhrystones = published.us.find("Dhrystones per second"); dhrystones != published.us.end())
    say("published, Dhrystones per second on {}: {}\n", fmt::format("{}", fmt::join(published.boards, ", ")),
        fmt::format("{}", fmt::join(dhrystones->second, ", ")));
  say("published: Siemens, Windows CE 3.0 in 2000, mean us per call\n");
  say("each time includes one clock_gettime; see GetSystemTime\n");
}

int run_kernel(const MeasureOptions& options) {
  catch_interrupts();
  std::vector<std::string> without;
  std::vector<measure::KernelRow> rows;
  {
    Progress progress("kernel", options.json.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    rows = measure::measure_kernel(
        options.repeats, [&](double share) { progress.update(share, ""); }, without);
  }
  if (!without.empty() && !options.best_effort)
    throw std::runtime_error(without.front() + "; or continue without it by --best-effort");
  say_without(without);
  KernelCalls calls;
  calls.mix = measure::measure_integer_mix();
  const PublishedCalls published = published_calls();
  std::int64_t over_ns = 0;
  for (measure::KernelRow& row : rows) {
    const auto most_ns = static_cast<std::int64_t>(row.time.max());
    if (options.threshold_ns() > 0 && most_ns >= options.threshold_ns()) over_ns = std::max(over_ns, most_ns);
    write_hgrm_into_folder(options, row.name, row.time);
    const auto beside = published.us.find(row.name);
    TimedCall& call = calls.rows.emplace_back();
    call.row = std::move(row);
    if (beside == published.us.end()) continue;
    call.published.emplace();
    for (std::size_t board = 0; board < published.boards.size(); ++board)
      call.published->emplace_back(published.boards[board], beside->second.at(board));
  }
  if (!options.json.alone()) print(calls, published);
  return finish_measure(options, kMeasureKernel, &calls, over_ns);
}

struct DeviceCosts {
  Measured measured{"cost"};
  std::string device;
  double share = 0, worst_over_mean = 0;
  measure::DeviceCost cost;
};

using DeviceCostsKeys = record::Written<DeviceCosts>;
constexpr record::Row kDeviceCostRows[] = {
    DeviceCostsKeys::part<&DeviceCosts::measured>("", kMeasured),
    DeviceCostsKeys::of<&DeviceCosts::device>("device", "", "name of the device"),
    DeviceCostsKeys::of<&DeviceCosts::share>("share", "", "share of this CPU at the median, 0 to 1"),
    DeviceCostsKeys::of<&DeviceCosts::worst_over_mean>("worst_over_mean", "", "longest block of data, in mean blocks"),
    DeviceCostsKeys::of("", "bit/s", "bit rates of both directions",
                        [](const DeviceCosts& d) {
                          std::vector<std::pair<std::string, std::uint64_t>> rates;
                          for (const auto& rate : d.cost.bit_rates) rates.emplace_back(rate.key, rate.bps);
                          return rates;
                        })
        .as_keys(),
    DeviceCostsKeys::part("start-up", kTimes,
                          [](const DeviceCosts& d) -> const LogLinearHistogram& { return d.cost.start_up; })
        .described_apart("cost of a block during start-up"),
    DeviceCostsKeys::part("data", kTimes,
                          [](const DeviceCosts& d) -> const LogLinearHistogram& { return d.cost.in_data; })
        .described_apart("cost of a block in data mode"),
};

/// Cost of a DMT pump or a radio, for a scenario that has it as device on a line.
int run_device_cost(const MeasureOptions& options) {
  config::ScenarioBuilder builder;
  builder.apply_file(options.scenario);
  const hostsim::Scenario scenario = builder.finish();
  expect_device_pump(scenario, options.scenario);
  catch_interrupts();
  DeviceCosts costs;
  measure::DeviceCost& result = costs.cost;
  {
    Progress progress("cost", options.json.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    result = measure::measure_device_cost(scenario, options.seconds, [&](double share) {
      if (progress.due()) progress.update(share, "");
      return !interrupted();
    });
  }
  if (!result.in_data_mode) {
    throw std::runtime_error(interrupted() ? "interrupted before data mode: no measurement"
                                           : "the pumps did not reach data mode");
  }
  const hostsim::SoftDevice device = measure::measured_device(scenario, result);
  costs.device = device.name;
  costs.share = device_timing(device).share();
  costs.worst_over_mean = static_cast<double>(result.in_data.max()) / result.in_data.mean();
  std::vector<std::string> rates;
  for (const auto& rate : result.bit_rates) rates.push_back(fmt::format("{} {} kbit/s", rate.name, rate.bps / 1000));
  std::int64_t over_ns = 0;
  for (const auto& [name, cost] : {std::pair("start-up", &result.start_up), {"data", &result.in_data}}) {
    const auto most_ns = static_cast<std::int64_t>(cost->max());
    if (options.threshold_ns() > 0 && most_ns >= options.threshold_ns()) over_ns = std::max(over_ns, most_ns);
    write_hgrm_into_folder(options, name, *cost);
    if (!options.json.alone()) print_quantiles(name, *cost);
  }
  if (!options.json.alone()) {
    say("{}; {:.2f} % of this CPU at the median; the longest block of data took {:.2f} times the mean\n",
        fmt::format("{}", fmt::join(rates, ", ")), 100 * costs.share, costs.worst_over_mean);
  }
  if (!options.profile.empty()) {
    write_file(
        options.profile,
        // REUSE-IgnoreStart
        fmt::format("# SPDX-License-Identifier: MIT\n# The device of {}, measured by `offhook measure cost` on {}: "
                    "{} blocks of data.\n{}",
                    scenario.name, costs.measured.host.cpu, result.blocks,
                    config::to_toml(device)));  // REUSE-IgnoreEnd
  }
  return finish_measure(options, kMeasureDeviceCost, &costs, over_ns);
}

struct PumpCost {
  Measured measured{"cost"};
  std::string pump;
  measure::CostResult result;

  /// Null: there is no such phase.
  const measure::CostPhase* phase(std::string_view name) const {
    for (const measure::CostPhase& p : result.phases)
      if (p.name == name) return &p;
    return nullptr;
  }
};

using CostPhaseKeys = record::Written<measure::CostPhase>;
constexpr record::Row kCostPhaseRows[] = {
    CostPhaseKeys::of<&measure::CostPhase::blocks>("blocks", "", "measured blocks"),
    CostPhaseKeys::part<&measure::CostPhase::cost>("cost", kTimes).described_apart("cost of a block"),
    CostPhaseKeys::of<&measure::CostPhase::ns_per_sample>("ns_per_sample", "ns", "median cost per sample"),
};
constexpr record::Table kCostPhase{kCostPhaseRows};
using PumpCostKeys = record::Written<PumpCost>;
constexpr record::Row kPumpCostRows[] = {
    PumpCostKeys::part<&PumpCost::measured>("", kMeasured),
    PumpCostKeys::of<&PumpCost::pump>("pump", "", "name of the pump"),
    PumpCostKeys::of<&PumpCost::result, &measure::CostResult::state_bytes>("state_bytes", "bytes",
                                                                           "state of one modem"),
    PumpCostKeys::part("connecting", kCostPhase, [](const PumpCost& c) { return c.phase("connecting"); }),
    PumpCostKeys::part("connected", kCostPhase, [](const PumpCost& c) { return c.phase("connected"); }),
};

int run_cost(const MeasureOptions& options) {
  if (!options.profile.empty()) expect_writable(options.profile);
  if (!options.scenario.empty()) return run_device_cost(options);
  measure::CostConfig config;
  for (const Modulation& modem : kModulations) {
    if (options.pump == modem.name) config.modem = modem;
  }
  config.data_s = options.seconds;
  catch_interrupts();
  PumpCost cost;
  cost.pump = config.modem.name;
  measure::CostResult& result = cost.result;
  {
    Progress progress("cost", options.json.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    result = measure::measure_cost(config, [&](double share) {
      if (progress.due()) progress.update(share, "");
      return !interrupted();
    });
  }
  if (!result.connected && !interrupted()) throw std::runtime_error("the pumps did not connect over a clean line");
  std::int64_t over_ns = 0;
  for (const measure::CostPhase& p : result.phases) {
    const auto most_ns = static_cast<std::int64_t>(p.cost.max());
    if (options.threshold_ns() > 0 && most_ns >= options.threshold_ns()) over_ns = std::max(over_ns, most_ns);
    write_hgrm_into_folder(options, p.name, p.cost);
    if (!options.json.alone()) {
      print_quantiles(p.name.c_str(), p.cost);
      say("  {} blocks, {:.0f} ns per sample at the median: {:.2f} % of this CPU\n", p.blocks, p.ns_per_sample,
          100 * p.share);
    }
  }
  if (!options.json.alone()) say("state: {} bytes per modem\n", result.state_bytes);
  if (!options.profile.empty())
    write_file(options.profile, measure::to_profile(config, result, cost.measured.host.cpu));
  return finish_measure(options, kMeasureCost, &cost, over_ns);
}

void add_measure_stolen(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& options) {
  App* stolen = measure.add_subcommand("stolen", "Measure the time stolen from a reservation (Regehr and Stankovic)");
  add_context(stolen, *options);
  add_seconds(stolen, *options);
  stolen->add_option("--gap-us", options->gap_us, "Shortest gap between two polls that counts as stolen time")
      ->type_name("US");
  add_threshold(stolen, *options, "stolen interval");
  add_common(stolen, *options);
  stolen->footer(R"(Examples:
  offhook measure stolen --context "RES 4ms/20ms" --seconds 10
  offhook measure stolen --context "FIFO 50" --json
)");
  stolen->final_callback([&action, options] { action = [options] { return run_stolen(*options); }; });
}

void add_measure_kernel(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& options) {
  App* kernel =
      measure.add_subcommand("kernel", "Measure the 14 operations of the Windows CE report by their Linux equivalents");
  kernel->add_option("--repeats", options->repeats, "Calls of each operation")
      ->type_name("N")
      ->check(in_range(10, 10'000'000));
  kernel
      ->add_option("--hgrm", options->hgrm,
                   "Folder for one histogram per operation, in the format of HdrHistogram's tools")
      ->type_name("DIR");
  add_threshold(kernel, *options, "call");
  add_common(kernel, *options);
  kernel->footer(R"(Examples:
  offhook measure kernel
  offhook measure kernel --repeats 1000 --json
)");
  kernel->final_callback([&action, options] { action = [options] { return run_kernel(*options); }; });
}

void add_measure_cost(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& options) {
  App* cost = measure.add_subcommand("cost", "Measure the cost of a pump on this CPU, as a cost profile");
  std::vector<std::string> names;
  for (const Modulation& modem : kModulations) {
    if (takes(*modem.type(), kLinear8000)) names.emplace_back(modem.name);  // the two ends of V.90 differ
  }
  cost->add_option("--pump", options->pump, "The pump")->type_name("NAME")->check(one_of(names));
  cost->add_option("--device", options->scenario,
                   "Measure the DMT pump or radio of a scenario, over its line and in its blocks")
      ->type_name("SCENARIO.toml")
      ->excludes("--pump");
  cost->add_option("--profile", options->profile,
                   "Write a profile for traces/data/profiles; with --device, a description for traces/data/devices")
      ->type_name("FILE");
  add_seconds(cost, *options);
  cost->add_option("--hgrm", options->hgrm, "Folder for one histogram per phase, in the format of HdrHistogram's tools")
      ->type_name("DIR");
  add_threshold(cost, *options, "block");
  add_common(cost, *options);
  cost->footer(R"(Examples:
  offhook measure cost --seconds 20
  offhook measure cost --pump v34 --profile this-machine.toml
  offhook measure cost --device examples/g-lite.toml --profile mine.toml
)");
  cost->final_callback([&action, options] { action = [options] { return run_cost(*options); }; });
}

}  // namespace

constexpr record::Table kMeasured{kMeasuredRows}, kMeasureStolen{kStolenRows}, kMeasureKernel{kKernelRows},
    kMeasureDeviceCost{kDeviceCostRows}, kMeasureCost{kPumpCostRows};

void add_measure(App& app, Action& action) {
  App* sub = app.add_subcommand(
      "measure", "Measure this machine: latency, stolen time, kernel calls, the host, the cost of a pump");
  sub->require_subcommand(1);
  auto options = std::make_shared<MeasureOptions>();
  add_measure_latency(*sub, action, options);
  add_measure_bank(*sub, action, options);
  add_measure_batch(*sub, action, options);
  add_measure_device(*sub, action, options);
  add_measure_cause(*sub, action, options);
  add_measure_host(*sub, action, options);
  add_measure_host_profile(*sub, action, options);
  add_measure_stolen(*sub, action, options);
  add_measure_kernel(*sub, action, options);
  add_measure_cost(*sub, action, options);
  sub->footer(R"(Examples:
  offhook measure latency --context "FIFO 80" --seconds 60
  offhook measure stolen --context "RES 4ms/20ms"
  offhook measure kernel
  offhook measure cost --profile this-machine.toml
)");
}

}  // namespace offhook::command
