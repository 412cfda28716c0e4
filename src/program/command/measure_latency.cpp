// SPDX-License-Identifier: MIT
//
// `offhook measure latency`: one context, under each of the requested loads, one after the other.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "src/measure/hgrm.h"
#include "src/measure/kernel_latency.h"
#include "src/measure/kernel_trace.h"
#include "src/measure/latency.h"
#include "src/measure/loads.h"
#include "src/measure/stages.h"
#include "src/program/command/kernel_run.h"
#include "src/program/command/measure.h"
#include "src/program/command/results.h"
#include "src/program/command/times.h"

namespace offhook::command {

measure::LatencyConfig latency_config(const MeasureOptions& options) {
  measure::LatencyConfig config;
  config.context = options.context_spec();
  config.interval_ns = std::int64_t(options.interval_us * 1e3);
  config.duration_ns = std::int64_t(options.seconds * 1e9);
  config.threshold_ns = options.threshold_ns();
  return config;
}

void add_load(App* sub, MeasureOptions& options, const std::string& more) {
  sub->add_option("--load", options.loads, "Load during the measurement; 'help' lists the loads" + more)
      ->type_name("NAME")
      ->allow_extra_args(false);
}

bool list_loads(const MeasureOptions& options) {
  if (std::find(options.loads.begin(), options.loads.end(), "help") == options.loads.end()) return false;
  Table table;
  table.column("load");
  table.column("what", Table::Align::kLeft);
  table.column("here", Table::Align::kLeft);
  for (const measure::LoadKind& kind : measure::load_kinds()) {
    const std::string missing = kind.missing();
    table.row({std::string(kind.name), std::string(kind.what), missing.empty() ? "yes" : missing});
  }
  say("{}", table.lines());
  return true;
}

std::unique_ptr<measure::LoadProcess> start_load(const measure::LoadKind& kind) {
  return kind.make == nullptr ? nullptr : std::make_unique<measure::LoadProcess>(kind.make);
}

void say_load_failed(const measure::LoadKind& kind, const measure::LoadProcess* load) {
  if (load != nullptr && !load->failure().empty())
    throw std::runtime_error(fmt::format("load {}: {}", kind.name, load->failure()));
}

namespace {

using measure::now_ns;

/// The stages of a wake-up in order, each relative to the timer's due time.
struct Stage {
  const char* name;
  const LogLinearHistogram measure::StageHistograms::*histogram;
};
constexpr Stage kStages[] = {{"timer interrupt", &measure::StageHistograms::interrupt},
                             {"thread runnable", &measure::StageHistograms::waking},
                             {"switched to thread", &measure::StageHistograms::switched},
                             {"thread runs", &measure::StageHistograms::thread},
                             {"softirq raised to softirq entered", &measure::StageHistograms::softirq}};

/// Words for the measured object: a timer of this process, or the card of the kernel's driver.
struct Words {
  const char *since, *all, *own, *one, *missed;
};
constexpr Words kTimer{"us after the timer was due", "timer to thread, total", "the measurement itself", "wake-ups",
                       "skipped because an earlier wake-up was late"};
constexpr Words kKernel{"us after the interrupt handler", "interrupt to service, total", "service run", "blocks",
                        "interrupts merged with another"};

const Words& words(const MeasureOptions& options) {
  return options.kernel_host.empty() ? kTimer : kKernel;
}

std::string latency_table(const Words& words, const measure::LatencyResult& r, const measure::StageHistograms* stages) {
  Table table;
  table.column(words.since);
  for (const char* title : {"count", "min", "mean", "50 %", "99 %", "99.9 %", "max"}) table.column(title);
  const auto row = [&](const char* name, const LogLinearHistogram& h) {
    std::vector<std::string> cells{name, fmt::format("{}", h.count())};
    if (h.count() == 0) {
      cells.resize(8, "-");
    } else {
      for (const double ns : {double(h.min()), h.mean(), double(h.quantile(0.5)), double(h.quantile(0.99)),
                              double(h.quantile(0.999)), double(h.max())})
        cells.push_back(fmt::format("{:.1f}", us_of(ns)));
    }
    table.row(std::move(cells));
  };
  if (stages != nullptr) {
    for (const Stage& stage : kStages) row(stage.name, stages->*stage.histogram);
  }
  row(words.all, r.latency);
  row(words.own, r.own_cost);
  return table.str();
}

/// Overwrites the table twice per second. If the output is not a terminal, the tables follow each other.
class TopView {
 public:
  TopView(const Words& words, std::string title) : words_(words), title_(std::move(title)) {}
  void show(const measure::LatencyResult& r, const measure::StageHistograms* stages, double seconds) {
    if (seconds < next_) return;
    next_ = seconds + 0.5;
    const std::string text =
        fmt::format("{}  {:.0f} s, {} skipped\n{}", title_, seconds, r.missed, latency_table(words_, r, stages));
    if (lines_ > 0 && isatty(STDOUT_FILENO) != 0) put_text(stdout, fmt::format("\x1b[{}A\x1b[J", lines_));
    lines_ = std::count(text.begin(), text.end(), '\n');
    say("{}", Lines(text));
    flush_output();
  }

 private:
  const Words& words_;
  std::string title_;
  double next_ = 0;
  std::ptrdiff_t lines_ = 0;
};

ContextSpec context_of(const MeasureOptions& options) {
  return options.kernel_host.empty() ? options.context_spec() : ContextSpec::parse(options.context);
}

}  // namespace

UnderLoad measure_under(const MeasureOptions& options, const measure::LoadKind& kind, KernelDevice* device) {
  UnderLoad under;
  under.load = kind.name;
  const std::unique_ptr<measure::LoadProcess> load = start_load(kind);  // before there are threads
  measure::LatencyConfig config;
  if (options.kernel_host.empty()) config = latency_config(options);
  if (options.stages) {
    under.trace = std::make_unique<measure::KernelTrace>(
        std::vector<measure::KernelTrace::Wanted>{{"sched/sched_switch", ""},
                                                  {"sched/sched_waking", ""},
                                                  {"timer/hrtimer_expire_entry", ""},
                                                  {"irq/softirq_raise", ""},
                                                  {"irq/softirq_entry", ""},
                                                  {"irq_vectors/local_timer_entry", "", true},
                                                  {"irq_vectors/local_timer_exit", "", true}},
        4096);
    config.begin = [&](int tid) {
      under.collector = std::make_unique<measure::StageCollector>(tid);
      under.trace->on();
    };
    config.on_wakeups = [&](std::span<const measure::Wakeup> wakeups) {
      if (!under.collector) return;
      std::vector<traces::KernelEvent> events;
      under.trace->read(events);
      under.collector->add(std::move(events), wakeups);
    };
  }
  Progress progress(options.loads.empty() ? "latency" : under.load,
                    options.json.alone() || options.top ? Progress::Style::kQuiet : Progress::Style::kAuto);
  TopView top(words(options), context_of(options).str());
  const std::int64_t begin = now_ns();
  const auto look = [&](const measure::LatencyResult& r) {
    const double seconds = double(now_ns() - begin) * 1e-9;
    if (options.top) top.show(r, under.stages(), seconds);
    if (progress.due()) {
      progress.update(seconds / options.seconds,
                      fmt::format("{} {}, 99 % {:.1f} us, max {:.1f} us", r.latency.count(), words(options).one,
                                  us_of(double(r.latency.quantile(0.99))), us_of(double(r.latency.max()))));
    }
    return !interrupted();
  };
  under.result = device == nullptr
                     ? measure::measure_latency(config, look)
                     : measure::measure_kernel_latency(*device,
                                                       {.context = context_of(options),
                                                        .interval_ns = std::int64_t(options.interval_us * 1e3),
                                                        .duration_ns = std::int64_t(options.seconds * 1e9),
                                                        .threshold_ns = options.threshold_ns()},
                                                       look);
  if (under.collector) under.collector->finish();
  if (load) under.rounds = load->rounds();
  say_load_failed(kind, load.get());
  return under;
}

std::vector<const measure::LoadKind*> chosen_loads(const MeasureOptions& options) {
  std::vector<const measure::LoadKind*> kinds;
  const bool every = options.loads == std::vector<std::string>{"all"};
  if (every) {
    for (const measure::LoadKind& kind : measure::load_kinds()) {
      if (const std::string why = kind.missing(); why.empty()) {
        kinds.push_back(&kind);
      } else {
        say(stderr, "offhook: load {} is skipped: {}\n", kind.name, why);
      }
    }
  } else {
    for (const std::string& name : options.loads) kinds.push_back(&measure::load_kind(name));
    if (kinds.empty()) kinds.push_back(&measure::load_kind("none"));
  }
  return kinds;
}

namespace {

struct Stages {
  const measure::StageHistograms* histograms;
  std::uint64_t lost_events;
};
using StagesKeys = record::Written<Stages>;
template <auto Stage>
constexpr record::Row stage(std::string_view key, std::string_view what) {
  return StagesKeys::part(key, kTimes,
                          [](const Stages& s) -> const LogLinearHistogram& { return s.histograms->*Stage; })
      .described_apart(what);
}
constexpr record::Row kStagesRows[] = {
    stage<&measure::StageHistograms::interrupt>("interrupt", "due to timer interrupt"),
    stage<&measure::StageHistograms::waking>("waking", "due to thread runnable"),
    stage<&measure::StageHistograms::switched>("switched", "due to switched to thread"),
    stage<&measure::StageHistograms::thread>("thread", "due to thread running"),
    stage<&measure::StageHistograms::softirq>("softirq", "softirq raised to softirq entered"),
    StagesKeys::of("unmatched", "", "wake-ups that lack some of their events",
                   [](const Stages& s) { return s.histograms->unmatched; }),
    StagesKeys::of<&Stages::lost_events>("lost_events", "", "lost events of the kernel's trace"),
};
constexpr record::Table kStagesTable{kStagesRows};

using UnderLoadKeys = record::Written<UnderLoad>;
using measure::LatencyResult;
constexpr record::Row kUnderLoadRows[] = {
    UnderLoadKeys::of<&UnderLoad::load>("load", "", "load during the measurement"),
    UnderLoadKeys::of<&UnderLoad::rounds>("load_rounds", "", "number of its restarts"),
    UnderLoadKeys::part("latency", kTimes,
                        [](const UnderLoad& u) -> const LogLinearHistogram& { return u.result.latency; })
        .described_apart("latencies"),
    UnderLoadKeys::part("own_cost", kTimes,
                        [](const UnderLoad& u) -> const LogLinearHistogram& { return u.result.own_cost; })
        .described_apart("times from wake-up to the next sleep: the cost of the measurement"),
    UnderLoadKeys::of<&UnderLoad::result, &LatencyResult::missed>("missed", "",
                                                                  "wake-ups skipped because an earlier one was late"),
    UnderLoadKeys::of<&UnderLoad::result, &LatencyResult::over_threshold_ns>(
        "over_threshold_us", "us", "latency that ended the measurement; 0: none")
        .scale(1e-3),
    UnderLoadKeys::of<&UnderLoad::result, &LatencyResult::over_at_ns>("over_at_ns", "ns",
                                                                      "time of that latency, on CLOCK_MONOTONIC"),
    UnderLoadKeys::of<&UnderLoad::result, &LatencyResult::without>("without", "", "missing privileges")
        .absent("there is none"),
    UnderLoadKeys::part("stages", kStagesTable,
                        [](const UnderLoad& u) {
                          return u.stages() == nullptr ? std::optional<Stages>() : Stages{u.stages(), u.trace->lost()};
                        }),
};
constexpr record::Table kUnderLoad{kUnderLoadRows};

struct Latency {
  Measured measured{"latency"};
  std::string context;
  double interval_us = 0;
  bool several = false;  ///< loads were requested
  std::span<const UnderLoad> all;
};
using LatencyKeys = record::Written<Latency>;
constexpr record::Row kLatencyRows[] = {
    LatencyKeys::part<&Latency::measured>("", kMeasured),
    LatencyKeys::of<&Latency::context>("context", "", "context of the thread"),
    LatencyKeys::of<&Latency::interval_us>("interval_us", "us", "time between wake-ups"),
    LatencyKeys::part("", kUnderLoad, [](const Latency& l) { return l.several ? nullptr : &l.all.front(); }).always(),
    LatencyKeys::part("loads", kUnderLoad,
                      [](const Latency& l) { return l.several ? l.all : std::span<const UnderLoad>(); })
        .absent_if_0(),
};

void print(const MeasureOptions& options, const UnderLoad& under) {
  const measure::LatencyResult& r = under.result;
  if (!options.top) print_bars(r.latency);
  say("{}{}\n{}", context_of(options).str(), options.loads.empty() ? "" : ", load " + under.load,
      Lines(latency_table(words(options), r, under.stages())));
  say("{} {}, {} {}\n", r.latency.count(), words(options).one, r.missed, words(options).missed);
  if (under.stages() != nullptr && under.stages()->unmatched + under.trace->lost() > 0) {
    say("{} wake-ups lack some of their events; {} events did not fit into the rings\n", under.stages()->unmatched,
        under.trace->lost());
  }
  if (r.over_threshold_ns > 0)
    say("threshold: {:.1f} us at {} ns (CLOCK_MONOTONIC)\n", us_of(double(r.over_threshold_ns)), r.over_at_ns);
}

/// One row per load: its effect on a context.
std::string comparison(const std::vector<UnderLoad>& all) {
  Table table;
  table.column("load");
  for (const char* title : {"wake-ups", "skipped", "min", "mean", "50 %", "99 %", "99.9 %", "max us", "rounds"})
    table.column(title);
  for (const UnderLoad& under : all) {
    const LogLinearHistogram& h = under.result.latency;
    std::vector<std::string> cells{under.load, fmt::format("{}", h.count()), fmt::format("{}", under.result.missed)};
    for (const double ns : {double(h.min()), h.mean(), double(h.quantile(0.5)), double(h.quantile(0.99)),
                            double(h.quantile(0.999)), double(h.max())})
      cells.push_back(h.count() == 0 ? "-" : fmt::format("{:.1f}", us_of(ns)));
    cells.push_back(under.rounds == 0 ? "" : fmt::format("{}", under.rounds));
    table.row(std::move(cells));
  }
  return table.str();
}

int run_latency(const MeasureOptions& options) {
  if (list_loads(options)) return kOk;
  const std::vector<const measure::LoadKind*> kinds = chosen_loads(options);
  std::unique_ptr<KernelDevice> device;
  if (!options.kernel_host.empty()) device = open_kernel_host(options.kernel_host);
  catch_interrupts();
  std::vector<UnderLoad> all;
  for (const measure::LoadKind* kind : kinds) {
    all.push_back(measure_under(options, *kind, device.get()));
    if (all.size() == 1) say_without(all.back().result.without);
    if (!options.json.alone()) print(options, all.back());
    if (interrupted() || all.back().result.over_threshold_ns > 0) break;
  }
  if (kinds.size() == 1) {
    write_hgrm(options, all.front().result.latency);
  } else {
    for (const UnderLoad& under : all) {
      if (options.hgrm.empty()) continue;
      std::filesystem::path file = options.hgrm;
      file.replace_filename(fmt::format("{}-{}{}", file.stem().string(), under.load, file.extension().string()));
      write_file(file, measure::to_hgrm(under.result.latency, 1e3));
    }
    if (!options.json.alone())
      say("\n{}, {}\n{}", context_of(options).str(), words(options).since, Lines(comparison(all)));
  }
  const Latency latency{.context = context_of(options).str(),
                        .interval_us = options.interval_us,
                        .several = kinds.size() > 1,
                        .all = all};
  return finish_measure(options, kMeasureLatency, &latency, all.back().result.over_threshold_ns);
}

}  // namespace

constexpr record::Table kMeasureLatency{kLatencyRows};

void add_measure_latency(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& options) {
  App* latency =
      measure.add_subcommand("latency", "Measure the latency from a timer interrupt to a thread, as cyclictest does");
  add_context(latency, *options);
  add_seconds(latency, *options);
  latency->add_option("--interval-us", options->interval_us, "Time between two wake-ups")
      ->type_name("US")
      ->check(in_range(10.0, 1e6));
  add_load(latency, *options, ", 'all' selects those available here; several are measured one after another");
  add_threshold(latency, *options, "latency");
  Option* host = latency
                     ->add_option("--host", options->kernel_host,
                                  "kernel or kernel:N: measure modem N (0) of the kernel driver instead of a "
                                  "thread here; its contexts are INT, SOFTIRQ, THREADED and WORKER")
                     ->type_name("HOST");
  latency->get_option("--cpu")->excludes(host);
  latency
      ->add_flag("--stages", options->stages,
                 "Measure interrupt, softirq and scheduling separately from the kernel's trace (root; adds overhead)")
      ->excludes(host);
  latency->add_flag("--top", options->top, "Show the table during the measurement");
  add_common(latency, *options);
  latency->footer(R"(Examples:
  offhook measure latency --context "FIFO 80" --seconds 60 --hgrm latency.hgrm
  offhook measure latency --load none --load web --load ghostscript --seconds 60
  offhook measure latency --load help
  offhook measure latency --context "RES 2ms/8ms" --on-threshold 5000 "echo late by $OFFHOOK_US us >&2"
  sudo offhook measure latency --stages --top --seconds 600
  offhook measure latency --host kernel --context SOFTIRQ --load all --seconds 60

The measurement and its load end at the first latency that reaches --on-threshold; then the command runs. With several
loads, --hgrm writes one file per load and inserts the load's name before the extension.

--host kernel measures a call on the card of the kernel module offhook (docs/kernel.md). The latency is taken from the
kernel's event log, from the start of the interrupt handler to the service in its context. An interval of 1000 us is a
block of 8 samples. --seconds counts line time.)");
  latency->final_callback([&action, options] { action = [options] { return run_latency(*options); }; });
}

}  // namespace offhook::command
