// SPDX-License-Identifier: MIT
#include "src/lab/advice/mttf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <span>
#include <thread>

#include "driver/base/file.h"
#include "driver/base/output.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "hostsim/call/host_policies.h"
#include "src/lab/advice/advice.h"
#include "src/lab/advice/computations.h"
#include "src/lab/advice/schedulability.h"
#include "src/lab/sweep/parallel.h"
#include "src/program/command/figures.h"
#include "src/program/command/program.h"
#include "src/program/command/results.h"
#include "src/report/mttf_report.h"
#include "traces/scenario/device.h"
#include "traces/scenario/latency.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

using hostsim::LatencyDistribution;
using hostsim::Modality;

struct MttfOptions {
  std::string source, tasks, device, context = "DPC", html, figures;
  TextOutput json, csv;
  std::vector<int> buffers = {2, 3, 4, 6};
  std::vector<double> buffer_ms = {4, 6, 8, 10, 12, 16};
  double unit_us = 1, compute_share = 0.25, hours = 100, slot_us = 0;
  std::uint64_t seed = 1, enough = 400;
  bool virus_scanner = false, quiet = false;
};

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string time_text(double seconds) {
  return std::isfinite(seconds) ? duration_text(seconds) : "never";
}

/// @param rows  key of the rows for the CSV
void deliver(const MttfOptions& options, const record::Table& table, const void* result, const char* rows) {
  options.json.write(record::json_text(table, result, 2));
  options.csv.write(record::csv_table(table, result, rows));
  if (!options.html.empty() || !options.figures.empty())
    write_page(mttf_page(table, result), options.html, options.figures);
}

bool to_people(const MttfOptions& options) {
  return !options.json.alone() && !options.csv.alone();
}

struct LatencySource {
  LatencyDistribution latency;
  std::string name;
  double waits_per_s = 0;  ///< duration of the measurement; 0: unknown
};

LatencySource load_source(const MttfOptions& options) {
  const std::filesystem::path path(options.source);
  const auto text = [&] { return read_file(path, kMostTextBytes); };
  if (path.extension() == ".hgrm")
    return {config::parse_hgrm(text(), options.source, options.unit_us * 1e-3), options.source};
  if (path.extension() == ".csv") return {config::parse_latency_csv(text(), options.source), options.source};
  std::error_code no_file;
  if (path.extension() != ".toml" && std::filesystem::is_regular_file(path, no_file)) {
    const std::string all = text();
    if (!config::is_histogram(all))
      throw config::Error(
          fmt::format("{}: expected a latency distribution: HdrHistogram's .hgrm, .csv, the output of "
                      "cyclictest -h or --json or of rtla timerlat hist, or a host's .toml",
                      options.source));
    config::LatencyHistogram h = config::parse_histogram(all, options.source);
    return {std::move(h.latency), options.source, h.seconds > 0 ? h.waits / h.seconds : 0};
  }
  const hostsim::HostLatencies host = config::load_latencies(options.source, options.virus_scanner);
  const ContextSpec context = ContextSpec::parse(options.context);
  if (context.kind == OH_CONTEXT_RESERVATION)
    throw config::Error(
        "a host described by latencies has no data about reservations; expected INT, DPC or THR PRIORITY");
  // Linux also accepts the words of Windows, for the same kinds of wait.
  static constexpr oh_context_kind kKnown[] = {OH_CONTEXT_INTERRUPT, OH_CONTEXT_DPC,  OH_CONTEXT_THREAD,
                                               OH_CONTEXT_SOFTIRQ,   OH_CONTEXT_FIFO, OH_CONTEXT_ROUND_ROBIN};
  constexpr std::size_t kOfWindows = 3;
  const bool is_linux = hostsim::has_linux_classes(config::load_host(options.source));
  const auto known = std::span(kKnown).first(is_linux ? std::size(kKnown) : kOfWindows);
  if (std::find(known.begin(), known.end(), context.kind) == known.end())
    throw config::Error(not_of_this_host(context, options.source, known));
  const bool deferred = context.kind == OH_CONTEXT_DPC || context.kind == OH_CONTEXT_SOFTIRQ;
  const Modality modality = context.kind == OH_CONTEXT_INTERRUPT ? Modality::kInterrupt
                            : deferred                           ? Modality::kDpc
                                                                 : Modality::kThread;
  try {
    return {host.to(modality, context.priority),
            fmt::format("{}{}, {}", options.source, options.virus_scanner ? " with virus scanner" : "", context.str()),
            host.waits_per_s};
  } catch (const std::invalid_argument& e) {
    throw config::Error(fmt::format("{}: {}", options.source, e.what()));
  }
}

/// The missed slots of a radio. Each missed buffer is a missed slot.
struct SlotsMissed {
  double slot_us = 0, slots = 0, ratio = 0, at_most = 0;  ///< at_most with 95 % confidence, if misses are independent
  SlotsMissed(const UnderrunRun& run, double us)
      : slot_us(us),
        slots(run.simulated_s * 1e6 / us),
        ratio(std::min(1.0, static_cast<double>(run.missed) / slots)),
        at_most(std::min(1.0, poisson_interval(run.missed).high / slots)) {}
  std::string verdict() const {
    return at_most <= advice::kSlotsMissed ? "in time" : ratio > advice::kSlotsMissed ? "too many" : "undecided";
  }
};

struct Cell {
  Buffering b;
  UnderrunRun run;
  double longer_than_slack = 0, formula_s = 0, every_s = 0;  ///< a time may be infinite
  std::optional<SlotsMissed> slots{};

  bool any() const { return run.underruns > 0; }
};

using CellKeys = record::Written<Cell>;
constexpr record::Row kMttfCellRows[] = {
    CellKeys::of<&Cell::b, &Buffering::buffers>("buffers", "", "number n of buffers"),
    CellKeys::of<&Cell::b, &Buffering::buffer_ms>("buffer_ms", "ms", "length t of a buffer"),
    CellKeys::of<&Cell::b, &Buffering::compute_ms>("compute_ms", "ms", "CPU time per buffer"),
    CellKeys::of<&Cell::b, &Buffering::tolerance_ms>("tolerance_ms", "ms",
                                                     "latency that all buffers together bridge, (n - 1) t"),
    CellKeys::of<&Cell::b, &Buffering::slack_ms>("slack_ms", "ms", "tolerance_ms less compute_ms"),
    CellKeys::of<&Cell::longer_than_slack>("longer_than_slack", "", "share of latencies above the slack, 0 to 1"),
    CellKeys::of("formula_s", "s", "mean time to an underrun, (n - 1) t / longer_than_slack; none: never",
                 [](const Cell& c) { return finite(c.formula_s); })
        .or_null(),
    CellKeys::of("every_buffer_s", "s", "mean time to an underrun, t / longer_than_slack; none: never",
                 [](const Cell& c) { return finite(c.every_s); })
        .or_null(),
    CellKeys::of("simulated_s", "s", "mean time to an underrun by simulation; none: no underrun",
                 [](const Cell& c) { return c.any() ? std::optional(c.run.mttf_s()) : std::nullopt; })
        .or_null(),
    CellKeys::of("low_s", "s", "lower bound of the mean time, 95 % confidence",
                 [](const Cell& c) { return c.run.mttf_interval_s().low; }),
    CellKeys::of("high_s", "s", "upper bound of the mean time, 95 % confidence; none: unbounded",
                 [](const Cell& c) { return finite(c.run.mttf_interval_s().high); })
        .or_null(),
    CellKeys::of<&Cell::run, &UnderrunRun::underruns>("underruns", "",
                                                      "simulated underruns; consecutive missed buffers count as one"),
    CellKeys::of<&Cell::run, &UnderrunRun::missed>("missed", "",
                                                   "buffers that were not ready when all earlier ones had been played"),
    CellKeys::of("simulated_hours", "h", "simulated time", [](const Cell& c) { return c.run.simulated_s / 3600; }),
    CellKeys::of<&Cell::slots, &SlotsMissed::slot_us>("slot_us", "us", "length of a radio's slot, --slot-us"),
    CellKeys::of<&Cell::slots, &SlotsMissed::ratio>("miss_ratio", "", "share of missed slots, 0 to 1"),
    CellKeys::of<&Cell::slots, &SlotsMissed::at_most>("miss_ratio_at_most", "",
                                                      "upper bound of that share, 95 % confidence"),
};

using Point = std::decay_t<decltype(std::declval<LatencyDistribution>().points()[0])>;
constexpr record::Row kPointRows[] = {
    record::Written<Point>::of<&Point::longer>("longer", "", "share of latencies above latency_ms, 0 to 1"),
    record::Written<Point>::of<&Point::latency_ms>("latency_ms", "ms", "a latency"),
};
constexpr record::Table kPoint{kPointRows};

struct Underruns {
  LatencySource source;
  std::vector<Cell> cells;
};
using UnderrunsKeys = record::Written<Underruns>;
constexpr record::Row kUnderrunRows[] = {
    UnderrunsKeys::of<&Underruns::source, &LatencySource::name>("source", "", "host and context, or the file"),
    UnderrunsKeys::of<&Underruns::source, &LatencySource::latency, &LatencyDistribution::mean_ms>("mean_ms", "ms",
                                                                                                  "mean latency"),
    UnderrunsKeys::of<&Underruns::source, &LatencySource::latency, &LatencyDistribution::worst_ms>("worst_ms", "ms",
                                                                                                   "worst latency"),
    UnderrunsKeys::part(
        "points", kPoint, [](const Underruns& u) -> const auto& { return u.source.latency.points(); }),
    UnderrunsKeys::part<&Underruns::cells>("bufferings", kMttfCell),
};

/// Simulates every cell. @return false if interrupted
bool simulate(const MttfOptions& options, const LatencyDistribution& latency, std::vector<Cell>& cells) {
  catch_interrupts();
  Progress progress("mttf", options.quiet ? Progress::Style::kQuiet : Progress::Style::kAuto);
  std::atomic<std::size_t> done{0};
  std::mutex mutex;
  sweep::parallel(
      cells.size(), std::max(1u, std::thread::hardware_concurrency()),
      [&](std::size_t i) {
        cells[i].run = simulate_underruns(latency, cells[i].b, options.hours * 3600, options.enough, options.seed,
                                          [](void*, double) { return !interrupted(); });
        const std::size_t n = ++done;
        const std::lock_guard lock(mutex);
        progress.update(static_cast<double>(n) / static_cast<double>(cells.size()),
                        fmt::format("{} of {} bufferings", n, cells.size()));
      },
      interrupted);
  return !interrupted();
}

/// The bufferings to try: the device's own, or those of the options.
std::vector<Cell> bufferings(const MttfOptions& options) {
  std::vector<Cell> cells;
  if (!options.device.empty()) {
    const hostsim::SoftDevice d = config::load_device(options.device);
    if (d.buffers < 2)
      throw config::Error(
          fmt::format("{}: {} buffer; expected 2 or more, because one is played while the next is computed",
                      options.device, d.buffers));
    const double buffer_ms = 1e3 * d.buffer() / d.rate_hz;
    cells.push_back({{buffer_ms, static_cast<int>(d.buffers), 1e-6 * static_cast<double>(d.cost_ns)}, {}});
    return cells;
  }
  for (const int n : options.buffers)
    for (const double t : options.buffer_ms) cells.push_back({{t, n, t * options.compute_share}, {}});
  return cells;
}

/// The formulas assume that all work of a buffer is done, but a device may queue its output earlier.
void say_when_in_time(const hostsim::SoftDevice& device) {
  if (device.output_fraction >= 1) return;
  say("A buffer is on time here if all of its work is done. The output of {} is ready after {:.0f} % of its work. "
      "`offhook advise` uses that and may promise more.\n",
      device.name, 100 * device.output_fraction);
}

void print_slots(const std::vector<Cell>& cells, double slot_us) {
  Table table;
  for (const char* title : {"buffers", "t, ms", "slots", "missed", "share", "at most, 95 %", "99.999 % of them"})
    table.column(title);
  for (const Cell& cell : cells) {
    const SlotsMissed& s = *cell.slots;
    table.row({fmt::format("{}", cell.b.buffers), fmt::format("{:g}", cell.b.buffer_ms), fmt::format("{:.0f}", s.slots),
               fmt::format("{}", cell.run.missed), fmt::format("{:.2g}", s.ratio), fmt::format("{:.2g}", s.at_most),
               s.verdict()});
  }
  say("\nSlots of {:g} ms; a missed buffer is a missed slot:\n{}", slot_us * 1e-3, table.lines());
}

/// The measurement of the source, if it has few points.
void print_source(const LatencySource& source) {
  const LatencyDistribution& latency = source.latency;
  say("{}: mean {:.3g} ms, worst {:.4g} ms\n\n", source.name, latency.mean_ms(), latency.worst_ms());
  if (source.waits_per_s <= 0 || latency.points().size() >= 10) return;
  Table fit;
  for (const char* title : {"longer than, ms", "once in", "waits: time under the load"}) fit.column(title);
  for (const auto& p : latency.points())
    fit.row({fmt::format("{:g}", p.latency_ms), fmt::format("{:.0f}", 1 / p.longer),
             duration_text(1 / p.longer / source.waits_per_s)});
  say("{}\n", fit.lines());
}

std::string interval_text(const Interval& s) {
  return std::isfinite(s.high) ? fmt::format("{} to {}", duration_text(s.low), duration_text(s.high))
                               : fmt::format("over {}", duration_text(s.low));
}

void print_cells(const std::vector<Cell>& cells) {
  Table table;
  for (const char* title : {"buffers", "t, ms", "buffered, ms", "slack, ms", "formula", "every t", "simulated",
                            "95 % confidence", "underruns", "missed"})
    table.column(title);
  for (const Cell& cell : cells) {
    table.row({fmt::format("{}", cell.b.buffers), fmt::format("{:g}", cell.b.buffer_ms),
               fmt::format("{:g}", cell.b.tolerance_ms()), fmt::format("{:g}", cell.b.slack_ms()),
               time_text(cell.formula_s), time_text(cell.every_s),
               cell.any() ? duration_text(cell.run.mttf_s()) : "none", interval_text(cell.run.mttf_interval_s()),
               fmt::format("{}", cell.run.underruns), fmt::format("{}", cell.run.missed)});
  }
  say("Mean time to an underrun; a buffer costs {:.3g} % of its length:\n{}",
      100 * cells.front().b.compute_ms / cells.front().b.buffer_ms, table.lines());
  say("formula: (n - 1) t / share of latencies above the slack; every t: t / that share. never: the slack exceeds the "
      "longest measured latency.\n");
}

int run_buffers(const MttfOptions& options) {
  Underruns result{load_source(options), bufferings(options)};
  for (const Cell& cell : result.cells) {
    if (options.slot_us > 0 && 1e3 * cell.b.buffer_ms > options.slot_us)
      throw config::Error(
          fmt::format("--slot-us: a buffer of {:g} ms is longer than a slot of {:g} ms; expected --buffer-ms or a "
                      "--device of at most a slot",
                      cell.b.buffer_ms, 1e-3 * options.slot_us));
  }
  const LatencyDistribution& latency = result.source.latency;
  if (!simulate(options, latency, result.cells)) return interrupt_status();
  for (Cell& cell : result.cells) {
    cell.longer_than_slack = latency.longer_than(cell.b.slack_ms());
    cell.formula_s = published_mttf_s(latency, cell.b);
    cell.every_s = mttf_s(latency, cell.b);
    if (options.slot_us > 0) cell.slots.emplace(cell.run, options.slot_us);
  }
  deliver(options, kMttf, &result, "bufferings");
  if (!to_people(options)) return kOk;
  print_source(result.source);
  print_cells(result.cells);
  if (!options.device.empty()) say_when_in_time(config::load_device(options.device));
  if (options.slot_us > 0) print_slots(result.cells, options.slot_us);
  return kOk;
}

struct Task {
  Computation computation;
  ResponseTime time;
  DeadlineRun run;

  Interval drop_interval_s() const {  ///< 95 % confidence; the upper end may be infinite
    const Interval rate = run.drops_per_s();
    return {1 / rate.high, rate.low > 0 ? 1 / rate.low : INFINITY};
  }
  const char* verdict() const {
    const Interval rate = run.drops_per_s();
    const double permitted = 1 / computation.interval_s;
    return rate.high <= permitted ? "meets it" : rate.low > permitted ? "fails" : "undecided";
  }
};
struct Tasks {
  std::string host;
  double hours = 0;
  std::vector<Task> tasks{};
};

using TaskKeys = record::Written<Task>;
constexpr record::Row kTaskRows[] = {
    TaskKeys::of<&Task::computation, &Computation::name>("name", "", "name in the file"),
    TaskKeys::of<&Task::computation, &Computation::interval_s>("permitted_interval_s", "s",
                                                               "shortest permitted time between drops"),
    TaskKeys::of<&Task::time, &ResponseTime::worst_latency_ms>("worst_latency_ms", "ms",
                                                               "longest latency at the permitted rate"),
    TaskKeys::of<&Task::time, &ResponseTime::beyond_data>("beyond_measurement", "",
                                                          "whether that rate is rarer than the measurement could show"),
    TaskKeys::of<&Task::time, &ResponseTime::mean_latency_ms>("mean_latency_ms", "ms", "mean latency"),
    TaskKeys::of<&Task::time, &ResponseTime::pseudo_worst_ms>(
        "pseudo_worst_ms", "ms", "release jitter, (W + (m - 1) A) / m of worst W, mean A and m buffers"),
    TaskKeys::of<&Task::time, &ResponseTime::blocking_ms>(
        "blocking_ms", "ms", "longest time that a computation of lower priority keeps the CPU"),
    TaskKeys::of("response_ms", "ms", "longest response; none: unbounded",
                 [](const Task& t) { return finite(t.time.response_ms); })
        .or_null(),
    TaskKeys::of<&Task::computation, &Computation::period_ms>("period_ms", "ms", "period of the computation"),
    TaskKeys::of<&Task::time, &ResponseTime::schedulable>("schedulable", "",
                                                          "whether the response is within the period"),
    TaskKeys::of<&Task::run, &DeadlineRun::jobs>("jobs", "", "simulated jobs"),
    TaskKeys::of<&Task::run, &DeadlineRun::missed>("missed", "", "jobs that missed their deadline"),
    TaskKeys::of<&Task::run, &DeadlineRun::drops>("drops", "", "runs of consecutive missed jobs"),
    TaskKeys::of<&Task::run, &DeadlineRun::longest_ms>("longest_ms", "ms", "longest response in the simulation"),
    TaskKeys::of("drop_interval_low_s", "s", "lower bound of the mean time between drops, 95 % confidence",
                 [](const Task& t) { return t.drop_interval_s().low; }),
    TaskKeys::of("drop_interval_high_s", "s", "upper bound of that time; none: unbounded",
                 [](const Task& t) { return finite(t.drop_interval_s().high); })
        .or_null(),
    TaskKeys::of<&Task::verdict>("simulation", "", "meets it, fails or undecided, against permitted_interval_s"),
};
constexpr record::Row kTasksRows[] = {
    record::Written<Tasks>::of<&Tasks::host>("host", "", "name of the host"),
    record::Written<Tasks>::of<&Tasks::hours>("simulated_hours", "h", "simulated time"),
    record::Written<Tasks>::part<&Tasks::tasks>("computations", kMttfTask),
};

void print_tasks(const MttfOptions& options, const Tasks& result) {
  Table table;
  table.column("computation", Table::Align::kLeft);
  for (const char* title : {"permitted", "worst, ms", "pseudo worst, ms", "blocking, ms", "response, ms", "period, ms"})
    table.column(title);
  table.column("schedulable");
  for (const char* title : {"drops", "one drop in", "95 % confidence", "simulation"}) table.column(title);
  bool beyond = false;
  for (const Task& task : result.tasks) {
    const auto& [c, t, r] = task;
    beyond |= t.beyond_data;
    table.row({c.name, "1 in " + duration_text(c.interval_s),
               fmt::format("{:.3g}{}", t.worst_latency_ms, t.beyond_data ? "*" : ""),
               fmt::format("{:.3g}", t.pseudo_worst_ms), fmt::format("{:.3g}", t.blocking_ms),
               std::isfinite(t.response_ms) ? fmt::format("{:.3g}", t.response_ms) : "unbounded",
               fmt::format("{:g}", c.period_ms), t.schedulable ? "yes" : "no", fmt::format("{}", r.drops),
               r.drops > 0 ? duration_text(r.simulated_s / static_cast<double>(r.drops)) : "none",
               interval_text(task.drop_interval_s()), task.verdict()});
  }
  say("{} on {}, {:g} h simulated\n{}", options.tasks, result.host, options.hours, table.lines());
  if (beyond) say("* rarer than the measurement could show: the longest latency that was measured\n");
}

int run_tasks(const MttfOptions& options) {
  const config::ComputationFile file = config::read_computations(config::Document::read_file(options.tasks));
  const hostsim::HostLatencies host = config::load_latencies(file.host, file.virus_scanner || options.virus_scanner);
  std::vector<ResponseTime> times;
  try {
    times = response_times(file.computations, host);
  } catch (const std::invalid_argument& e) {
    throw config::Error(fmt::format("{}: {}: {}", options.tasks, file.host, e.what()));
  }
  catch_interrupts();
  Tasks result{file.host, options.hours};
  {
    Progress progress("mttf", options.quiet ? Progress::Style::kQuiet : Progress::Style::kAuto);
    const std::vector<DeadlineRun> runs = simulate_deadlines(
        file.computations, host, options.hours * 3600, options.seed,
        [](void* bar, double share) {
          static_cast<Progress*>(bar)->update(share, fmt::format("{:.0f} % of the time", 100 * share));
          return !interrupted();
        },
        &progress);
    for (std::size_t i = 0; i < runs.size(); i++) result.tasks.push_back({file.computations[i], times[i], runs[i]});
  }
  if (interrupted()) return interrupt_status();
  deliver(options, kMttfTasks, &result, "computations");
  if (to_people(options)) print_tasks(options, result);
  return kOk;
}

int run(const MttfOptions& options) {
  if (options.tasks.empty() == options.source.empty())
    throw config::Error("expected either a host or histogram file, or --tasks FILE");
  expect_one_alone({&options.json, &options.csv});
  if (!options.html.empty()) expect_writable(options.html);
  return options.tasks.empty() ? run_buffers(options) : run_tasks(options);
}

void add_outputs(App& sub, MttfOptions& options) {
  add_text_output(sub, kJsonOption, options.json, "All results as JSON");
  add_text_output(sub, kCsvOption, options.csv, "Table as CSV");
  sub.add_option("--html", options.html, "Write a page: times to an underrun by number and length of buffers")
      ->type_name("FILE");
  add_figures(sub, options.figures);
  sub.add_flag("-q,--quiet", options.quiet, "No progress");
}

}  // namespace

constexpr record::Table kMttfCell{kMttfCellRows}, kMttf{kUnderrunRows}, kMttfTask{kTaskRows}, kMttfTasks{kTasksRows};

void add_mttf(App& app, Action& action) {
  App* sub = app.add_subcommand("mttf", "Compute the mean time to a buffer underrun on a host with measured latencies");
  auto options = std::make_shared<MttfOptions>();
  sub->add_option("source", options->source, "Host with latencies (win98-games), or a histogram: .hgrm or .csv")
      ->type_name("HOST|FILE");
  sub->add_option(
         "--tasks", options->tasks,
         "Check the schedulability of the periodic computations in this file, and count the deadlines that they miss")
      ->type_name("FILE.toml");
  sub->add_option("--context", options->context, "Context that waits: INT, DPC or THR PRIORITY")->type_name("CONTEXT");
  sub->add_option("-n,--buffers", options->buffers, "Numbers of buffers")
      ->type_name("N")
      ->delimiter(',')
      ->check(in_range(2, 1000));
  sub->add_option("-t,--buffer-ms", options->buffer_ms, "Lengths of a buffer")
      ->type_name("MS")
      ->delimiter(',')
      ->check(in_range(0.01, 1e5));
  Option* device =
      sub->add_option(
             "--device", options->device,
             "Take number, length and cost of the buffers from a device: a name from traces/data/devices, or a file")
          ->type_name("DEVICE.toml");
  for (const char* given : {"--buffers", "--buffer-ms", "--tasks"}) device->excludes(given);
  sub->add_option(
         "--slot-us", options->slot_us,
         "Length of a radio's slot. The share of missed slots is compared with the 0.001 % that radio makers allow")
      ->type_name("US")
      ->check(in_range(1.0, 1e6))
      ->excludes("--tasks");
  sub->add_option("--compute-share", options->compute_share, "CPU time of a buffer as a share of its length")
      ->type_name("SHARE")
      ->check(in_range(0.0, 1.0))
      ->excludes(device);
  sub->add_flag("--virus-scanner", options->virus_scanner, "Use the latencies with the virus scanner running");
  sub->add_option("--unit-us", options->unit_us, "Unit of the values in an .hgrm file")
      ->type_name("US")
      ->check(in_range(1e-3, 1e6));
  sub->add_option("--hours", options->hours, "Limit of the simulated time, in hours")
      ->type_name("HOURS")
      ->check(in_range(1e-3, 1e6));
  sub->add_option("--enough", options->enough, "Stop earlier, after N underruns per buffering")
      ->type_name("N")
      ->check(in_range(1, 1000000000));
  sub->add_option("--seed", options->seed, "Random seed; runs with the same seed are identical")
      ->type_name("N")
      ->check(seed());
  add_outputs(*sub, *options);
  sub->footer(
      R"(Hosts with latencies: win98-, nt4- with office, workstation, games or web; ce3-sh4, ce3-pentium, ce3-pentium-qfe.

Examples:
  offhook mttf win98-games --context "THR 28" --buffers 4 --buffer-ms 16
  offhook mttf win98-office --context "THR 28" --virus-scanner --csv mttf.csv --html mttf.html
  offhook mttf examples/latency.hgrm --unit-us 1 --buffers 2,3 --buffer-ms 1,2,4
  offhook mttf examples/latency.hgrm --device soft-radio --slot-us 625 --hours 1
  offhook mttf --tasks examples/schedulability.toml --hours 24

`offhook help keys computation` lists the keys of a file for --tasks.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
