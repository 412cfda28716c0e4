// SPDX-License-Identifier: MIT
//
// `offhook measure cause`: the code that ran while a thread was late.
#include <fmt/format.h>

#include <stdexcept>

#include "driver/base/terminal.h"
#include "src/measure/cause.h"
#include "src/measure/loads.h"
#include "src/program/command/measure.h"
#include "src/program/command/results.h"
#include "src/program/command/times.h"

namespace offhook::command {
namespace {

struct Cause {
  Measured measured{"cause"};
  std::string context;
  std::string_view load;
  std::int64_t threshold_ns = 0;
  measure::CauseResult result;

  /// Null: there was no such wake-up.
  const measure::CauseResult* found() const { return result.found ? &result : nullptr; }
};

using measure::WakeupStages;
using WakeupStagesKeys = record::Written<WakeupStages>;
constexpr record::Row kWakeupStagesRows[] = {
    WakeupStagesKeys::of<&WakeupStages::interrupt>("interrupt", "us",
                                                   "due to timer interrupt; below 0: not in the trace")
        .scale(1e-3),
    WakeupStagesKeys::of<&WakeupStages::waking>("waking", "us", "due to thread runnable; below 0: not in the trace")
        .scale(1e-3),
    WakeupStagesKeys::of<&WakeupStages::switched>("switched", "us",
                                                  "due to switched to thread; below 0: not in the trace")
        .scale(1e-3),
    WakeupStagesKeys::of<&WakeupStages::ran>("ran", "us", "due to thread running").scale(1e-3),
    WakeupStagesKeys::of<&WakeupStages::cpu>("cpu", "", "CPU of that wake-up"),
};
using CulpritKeys = record::Written<measure::Culprit>;
constexpr record::Row kCulpritRows[] = {
    CulpritKeys::of<&measure::Culprit::name>("name", "", "thread or interrupt that had the CPU meanwhile"),
    CulpritKeys::of<&measure::Culprit::as>("as", "", "kind of the culprit"),
    CulpritKeys::of<&measure::Culprit::ns>("us", "us", "duration").scale(1e-3),
};
using SampledFunctionKeys = record::Written<measure::SampledFunction>;
constexpr record::Row kFunctionRows[] = {
    SampledFunctionKeys::of<&measure::SampledFunction::name>("function", "",
                                                             "function of the sampled instruction pointer"),
    SampledFunctionKeys::of<&measure::SampledFunction::thread>("thread", "", "thread that ran it"),
    SampledFunctionKeys::of<&measure::SampledFunction::samples>("count", "", "number of samples"),
};
constexpr record::Table kWakeupStages{kWakeupStagesRows}, kFunction{kFunctionRows};
using CauseResultKeys = record::Written<measure::CauseResult>;
constexpr record::Row kFoundRows[] = {
    CauseResultKeys::part<&measure::CauseResult::stages>("stages_us", kWakeupStages),
    CauseResultKeys::part<&measure::CauseResult::culprits>("had_the_cpu", kCulprit).absent_if_0(),
    CauseResultKeys::part<&measure::CauseResult::samples>("samples", kFunction).absent_if_0(),
    CauseResultKeys::of<&measure::CauseResult::timeline>("timeline", "", "events of that time, one line each"),
};
constexpr record::Table kFound{kFoundRows};
using CauseKeys = record::Written<Cause>;
constexpr record::Row kCauseRows[] = {
    CauseKeys::part<&Cause::measured>("", kMeasured),
    CauseKeys::of<&Cause::context>("context", "", "context of the thread"),
    CauseKeys::of<&Cause::load>("load", "", "load during the measurement"),
    CauseKeys::of<&Cause::threshold_ns>("threshold_us", "us", "latency threshold").scale(1e-3),
    CauseKeys::of<&Cause::result, &measure::CauseResult::found>("found", "",
                                                                "whether a wake-up exceeded the threshold"),
    CauseKeys::part("latency", kTimes,
                    [](const Cause& c) -> const LogLinearHistogram& { return c.result.latency.latency; })
        .described_apart("latencies of all wake-ups"),
    CauseKeys::of<&Cause::result, &measure::CauseResult::verdict>("verdict", "",
                                                                  "cause in a sentence; empty: no wake-up was late"),
    CauseKeys::of<&Cause::result, &measure::CauseResult::lost_events>("lost_events", "",
                                                                      "lost events of the kernel's trace"),
    CauseKeys::part("", kFound, [](const Cause& c) { return c.found(); }),
};

void say_cause(const measure::CauseConfig& config, const measure::CauseResult& r) {
  if (!r.found) {
    say("no wake-up of {} was {:.1f} us late: of {} wake-ups the latest was {:.1f} us late\n",
        config.latency.context.str(), us_of(double(config.latency.threshold_ns)), r.latency.latency.count(),
        us_of(double(r.latency.latency.max())));
  } else {
    say("{}\n\n", r.verdict);
    Table had;
    had.column("had the CPU");
    had.column("as", Table::Align::kLeft);
    had.column("us");
    for (const auto& c : r.culprits) had.row({c.name, c.as, fmt::format("{:.1f}", us_of(double(c.ns)))});
    say("{}\n", had.lines());
    if (!r.samples.empty()) {
      Table where;
      where.column("samples");
      where.column("function", Table::Align::kLeft);
      where.column("of", Table::Align::kLeft);
      for (const auto& f : r.samples) where.row({fmt::format("{}", f.samples), f.name, f.thread});
      say("{}\n", where.lines());
    }
    for (const std::string& line : r.timeline) say("{}\n", line);
    if (r.lost_events > 0) say("{} events did not fit into the rings\n", r.lost_events);
  }
}

int run_cause(const MeasureOptions& options) {
  measure::CauseConfig config;
  config.latency = latency_config(options);
  config.samples_hz = options.samples_hz;
  if (list_loads(options)) return kOk;
  if (options.loads.size() > 1) throw std::runtime_error("measure cause: one --load at a time");
  const measure::LoadKind& kind = measure::load_kind(options.loads.empty() ? "none" : options.loads.front());
  catch_interrupts();
  const std::unique_ptr<measure::LoadProcess> load = start_load(kind);  // before there are threads
  measure::CauseResult r;
  {
    Progress progress("cause", options.json.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    const std::int64_t begin = measure::now_ns();
    r = measure::measure_cause(config, [&](const measure::LatencyResult& l) {
      if (progress.due()) {
        progress.update(double(measure::now_ns() - begin) / double(config.latency.duration_ns),
                        fmt::format("{} wake-ups, max {:.1f} us", l.latency.count(), us_of(double(l.latency.max()))));
      }
      return !interrupted();
    });
  }
  say_load_failed(kind, load.get());
  say_without(r.latency.without);
  say_without(r.without);
  write_hgrm(options, r.latency.latency);
  if (!options.json.alone()) say_cause(config, r);
  const std::int64_t over_ns = r.found ? r.latency.over_threshold_ns : 0;
  const Cause cause{.context = config.latency.context.str(),
                    .load = kind.name,
                    .threshold_ns = config.latency.threshold_ns,
                    .result = std::move(r)};
  return finish_measure(options, kMeasureCause, &cause, over_ns);
}

}  // namespace

constexpr record::Table kMeasureCause{kCauseRows}, kCulprit{kCulpritRows};

void add_measure_cause(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& options) {
  App* cause = measure.add_subcommand(
      "cause", "Find the code that ran while a thread was late (Cota-Robles and Held's cause tool)");
  add_context(cause, *options);
  add_seconds(cause, *options);
  cause->add_option("--interval-us", options->interval_us, "Time between two wake-ups")
      ->type_name("US")
      ->check(in_range(10.0, 1e6));
  add_load(cause, *options, "");
  add_threshold(cause, *options, "latency");
  cause->get_option("--on-threshold")->required();
  cause
      ->add_option("--samples-hz", options->samples_hz,
                   "Samples of the instruction pointer per second and CPU; each sample costs an interrupt of some us")
      ->type_name("HZ")
      ->check(in_range(1, 100'000));
  add_common(cause, *options);
  cause->footer(R"(Examples:
  sudo offhook measure cause --on-threshold 500 --seconds 600
  sudo offhook measure cause --context "FIFO 80" --load compile --on-threshold 200

Exit status: 0 no wake-up reached the threshold, 1 error, 2 a wake-up reached it (its cause is printed),
130 interrupted.)");
  cause->final_callback([&action, options] { action = [options] { return run_cause(*options); }; });
}

}  // namespace offhook::command
