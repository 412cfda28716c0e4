// SPDX-License-Identifier: MIT
//
// `offhook measure cause`: the code that ran while a thread was late.
#include <fmt/format.h>

#include <stdexcept>

#include "driver/base/terminal.h"
#include "src/measure/cause.h"
#include "src/measure/host_description.h"
#include "src/measure/loads.h"
#include "src/program/command/measure.h"

namespace offhook::command {
namespace {

Json cause_json(const measure::CauseConfig& config, const measure::LoadKind& kind, const measure::CauseResult& r) {
  Json json{{"measure", "cause"},
            {"host", measure::host_description()},
            {"context", config.latency.context.str()},
            {"load", kind.name},
            {"threshold_us", us_of(double(config.latency.threshold_ns))},
            {"found", r.found},
            {"latency", to_json(r.latency.latency)},
            {"verdict", r.verdict},
            {"lost_events", r.lost_events}};
  if (r.found) {
    const auto& s = r.stages;
    json["stages_us"] = {{"interrupt", us_of(double(s.interrupt))},
                         {"waking", us_of(double(s.waking))},
                         {"switched", us_of(double(s.switched))},
                         {"ran", us_of(double(s.ran))},
                         {"cpu", s.cpu}};
    for (const auto& c : r.culprits)
      json["had_the_cpu"].push_back({{"name", c.name}, {"as", c.as}, {"us", us_of(double(c.ns))}});
    for (const auto& f : r.samples)
      json["samples"].push_back({{"function", f.name}, {"thread", f.thread}, {"count", f.samples}});
    json["timeline"] = r.timeline;
  }
  return json;
}

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
  const Json json = cause_json(config, kind, r);
  write_hgrm(options, r.latency.latency);
  if (!options.json.alone()) say_cause(config, r);
  return finish_measure(options, json, r.found ? r.latency.over_threshold_ns : 0);
}

}  // namespace

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

Exit status: 0 no wake-up reached the threshold, 1 error, 2 one did, and its cause is printed, 130 interrupted.)");
  cause->final_callback([&action, options] { action = [options] { return run_cause(*options); }; });
}

}  // namespace offhook::command
