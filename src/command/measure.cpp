// SPDX-License-Identifier: MIT
//
// `offhook measure`: this machine, as the papers measured theirs.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "src/command/program.h"
#include "src/config/published.h"
#include "src/measure/cause.h"
#include "src/measure/cost.h"
#include "src/measure/hgrm.h"
#include "src/measure/host_description.h"
#include "src/measure/kernel.h"
#include "src/measure/kernel_trace.h"
#include "src/measure/latency.h"
#include "src/measure/stages.h"
#include "src/measure/stolen.h"
#include "src/output/file.h"
#include "src/output/terminal.h"

namespace offhook::command {
namespace {

using Json = nlohmann::ordered_json;
using measure::now_ns;

struct Options {
  std::string context = "FIFO 80", hgrm, out, pump = "v22bis";
  double interval_us = 1000, seconds = 10, threshold_us = 0, gap_us = 2.2;
  std::optional<int> cpu;
  int repetitions = 10'000;
  bool best_effort = false, json = false, stages = false, top = false;
  int samples_hz = 4'000;
};

double us(double ns) {
  return ns * 1e-3;
}

Json to_json(const LogLinearHistogram& h) {
  Json bars = Json::array();
  for (const HistogramBar& bar : h.bars()) bars.push_back({us(double(bar.low)), us(double(bar.high)), bar.count});
  return {{"unit", "us"},
          {"count", h.count()},
          {"min", us(double(h.min()))},
          {"mean", us(h.mean())},
          {"p50", us(double(h.quantile(0.5)))},
          {"p99", us(double(h.quantile(0.99)))},
          {"p99.9", us(double(h.quantile(0.999)))},
          {"p99.99", us(double(h.quantile(0.9999)))},
          {"max", us(double(h.max()))},
          {"bars", bars}};
}

ContextSpec context_of(const Options& options) {
  ContextSpec spec = ContextSpec::parse(options.context);
  spec.cpu = options.cpu;
  spec.best_effort = options.best_effort;
  return spec;
}

void say_without(const std::vector<std::string>& without) {
  for (const std::string& w : without) fmt::print(stderr, "offhook: going on without: {}\n", w);
}

void print_quantiles(const char* what, const LogLinearHistogram& h) {
  fmt::print("{}, us: min {:.1f}  mean {:.1f}  50 % {:.1f}  99 % {:.1f}  99.9 % {:.1f}  99.99 % {:.1f}  max {:.1f}\n",
             what, us(double(h.min())), us(h.mean()), us(double(h.quantile(0.5))), us(double(h.quantile(0.99))),
             us(double(h.quantile(0.999))), us(double(h.quantile(0.9999))), us(double(h.max())));
}

void print_bars(const LogLinearHistogram& h) {
  constexpr double kWidth = 50;
  const auto bars = h.bars(1);
  for (const HistogramBar& bar : bars) {
    const double share = double(bar.count) / double(h.count());
    fmt::print("{:>12.1f} us {:>10} {}\n", us(double(bar.low)), bar.count,
               std::string(std::size_t(share * kWidth + 0.999), '#'));
  }
}

int finish(const Options& options, const Json& result) {
  if (!options.out.empty()) write_file(options.out, result.dump(1) + "\n");
  if (options.json) fmt::print("{}\n", result.dump(1));
  return interrupted() ? interrupt_status() : kOk;
}

measure::LatencyConfig latency_config(const Options& options) {
  measure::LatencyConfig config;
  config.context = context_of(options);
  config.interval_ns = std::int64_t(options.interval_us * 1e3);
  config.duration_ns = std::int64_t(options.seconds * 1e9);
  config.threshold_ns = std::int64_t(options.threshold_us * 1e3);
  return config;
}

/// The stages of a wake-up in the order they come, each since the timer was due.
struct Stage {
  const char* name;
  const char* key;
  const LogLinearHistogram measure::StageHistograms::*histogram;
};
constexpr Stage kStages[] = {{"timer interrupt", "interrupt", &measure::StageHistograms::interrupt},
                             {"thread runnable", "waking", &measure::StageHistograms::waking},
                             {"switched to thread", "switched", &measure::StageHistograms::switched},
                             {"thread runs", "thread", &measure::StageHistograms::thread},
                             {"softirq raised to begun", "softirq", &measure::StageHistograms::softirq}};

std::string latency_table(const measure::LatencyResult& r, const measure::StageHistograms* stages) {
  Table table;
  table.column("us since the timer was due");
  for (const char* title : {"count", "min", "mean", "50 %", "99 %", "99.9 %", "max"}) table.column(title);
  const auto row = [&](const char* name, const LogLinearHistogram& h) {
    std::vector<std::string> cells{name, fmt::format("{}", h.count())};
    if (h.count() == 0) {
      cells.resize(8, "-");
    } else {
      for (const double ns : {double(h.min()), h.mean(), double(h.quantile(0.5)), double(h.quantile(0.99)),
                              double(h.quantile(0.999)), double(h.max())})
        cells.push_back(fmt::format("{:.1f}", us(ns)));
    }
    table.row(std::move(cells));
  };
  if (stages != nullptr) {
    for (const Stage& stage : kStages) row(stage.name, stages->*stage.histogram);
  }
  row("timer to thread, all", r.latency);
  row("the probe itself", r.own_cost);
  return table.str();
}

/// The table over itself, twice a second; below each other where the output is no terminal.
class TopView {
 public:
  explicit TopView(std::string title) : title_(std::move(title)) {}
  void show(const measure::LatencyResult& r, const measure::StageHistograms* stages, double seconds) {
    if (seconds < next_) return;
    next_ = seconds + 0.5;
    const std::string text =
        fmt::format("{}  {:.0f} s, {} skipped\n{}", title_, seconds, r.missed, latency_table(r, stages));
    if (lines_ > 0 && isatty(STDOUT_FILENO) != 0) fmt::print("\x1b[{}A\x1b[J", lines_);
    lines_ = std::count(text.begin(), text.end(), '\n');
    fmt::print("{}", text);
    std::fflush(stdout);
  }

 private:
  std::string title_;
  double next_ = 0;
  std::ptrdiff_t lines_ = 0;
};

int run_latency(const Options& options) {
  measure::LatencyConfig config = latency_config(options);
  catch_interrupts();
  std::unique_ptr<measure::KernelTrace> trace;
  std::unique_ptr<measure::StageCollector> collector;
  if (options.stages) {
    trace = std::make_unique<measure::KernelTrace>(
        std::vector<measure::KernelTrace::Wanted>{{"sched/sched_switch", ""},
                                                  {"sched/sched_waking", ""},
                                                  {"timer/hrtimer_expire_entry", ""},
                                                  {"irq/softirq_raise", ""},
                                                  {"irq/softirq_entry", ""},
                                                  {"irq_vectors/local_timer_entry", "", true},
                                                  {"irq_vectors/local_timer_exit", "", true}},
        4096);
    config.begin = [&](int tid) {
      collector = std::make_unique<measure::StageCollector>(tid);
      trace->on();
    };
    config.on_wakeups = [&](std::span<const measure::Wakeup> wakeups) {
      if (!collector) return;
      std::vector<traces::KernelEvent> events;
      trace->read(events);
      collector->add(std::move(events), wakeups);
    };
  }
  const auto stages = [&] { return collector ? &collector->histograms() : nullptr; };
  measure::LatencyResult result;
  {
    Progress progress("latency", options.json || options.top ? Progress::Style::kQuiet : Progress::Style::kAuto);
    TopView top(config.context.str());
    const std::int64_t begin = now_ns();
    result = measure::measure_latency(config, [&](const measure::LatencyResult& r) {
      const double seconds = double(now_ns() - begin) * 1e-9;
      if (options.top) top.show(r, stages(), seconds);
      if (progress.due()) {
        progress.update(seconds / options.seconds,
                        fmt::format("{} wake-ups, 99 % {:.1f} us, max {:.1f} us", r.latency.count(),
                                    us(double(r.latency.quantile(0.99))), us(double(r.latency.max()))));
      }
      return !interrupted();
    });
  }
  if (collector) collector->finish();
  say_without(result.without);
  const bool over = result.over_threshold_ns > 0;
  Json json{{"measure", "latency"},
            {"host", measure::host_description()},
            {"context", config.context.str()},
            {"interval_us", options.interval_us},
            {"latency", to_json(result.latency)},
            {"own_cost", to_json(result.own_cost)},
            {"missed", result.missed},
            {"over_threshold_us", us(double(result.over_threshold_ns))},
            {"over_at_ns", result.over_at_ns},
            {"without", result.without}};
  if (collector) {
    for (const Stage& stage : kStages) json["stages"][stage.key] = to_json(collector->histograms().*stage.histogram);
    json["stages"]["unmatched"] = collector->histograms().unmatched;
    json["stages"]["lost_events"] = trace->lost();
  }
  if (!options.hgrm.empty()) write_file(options.hgrm, measure::to_hgrm(result.latency, 1e3));
  if (!options.json) {
    if (!options.top) print_bars(result.latency);
    fmt::print("{}\n{}", config.context.str(), latency_table(result, stages()));
    fmt::print("{} wake-ups, {} skipped because an earlier one came too late\n", result.latency.count(), result.missed);
    if (collector && collector->histograms().unmatched + trace->lost() > 0) {
      fmt::print("{} of them without all their events; {} events had no room in the rings\n",
                 collector->histograms().unmatched, trace->lost());
    }
    if (over)
      fmt::print("threshold: {:.1f} us at {} ns (CLOCK_MONOTONIC)\n", us(double(result.over_threshold_ns)),
                 result.over_at_ns);
  }
  const int status = finish(options, json);
  return status == kOk && over ? kInsufficient : status;
}

int run_cause(const Options& options) {
  measure::CauseConfig config;
  config.latency = latency_config(options);
  config.samples_hz = options.samples_hz;
  catch_interrupts();
  measure::CauseResult r;
  {
    Progress progress("cause", options.json ? Progress::Style::kQuiet : Progress::Style::kAuto);
    const std::int64_t begin = now_ns();
    r = measure::measure_cause(config, [&](const measure::LatencyResult& l) {
      if (progress.due()) {
        progress.update(double(now_ns() - begin) / double(config.latency.duration_ns),
                        fmt::format("{} wake-ups, max {:.1f} us", l.latency.count(), us(double(l.latency.max()))));
      }
      return !interrupted();
    });
  }
  say_without(r.latency.without);
  say_without(r.without);
  Json json{{"measure", "cause"},
            {"host", measure::host_description()},
            {"context", config.latency.context.str()},
            {"threshold_us", options.threshold_us},
            {"found", r.found},
            {"latency", to_json(r.latency.latency)},
            {"verdict", r.verdict},
            {"lost_events", r.lost_events}};
  if (r.found) {
    const auto& s = r.stages;
    json["stages_us"] = {{"interrupt", us(double(s.interrupt))},
                         {"waking", us(double(s.waking))},
                         {"switched", us(double(s.switched))},
                         {"ran", us(double(s.ran))},
                         {"cpu", s.cpu}};
    for (const auto& c : r.culprits)
      json["had_the_cpu"].push_back({{"name", c.name}, {"as", c.as}, {"us", us(double(c.ns))}});
    for (const auto& f : r.samples)
      json["samples"].push_back({{"function", f.name}, {"thread", f.thread}, {"count", f.samples}});
    json["timeline"] = r.timeline;
  }
  if (!options.hgrm.empty()) write_file(options.hgrm, measure::to_hgrm(r.latency.latency, 1e3));
  if (!options.json) {
    if (!r.found) {
      fmt::print("no wake-up of {} was {:.1f} us late: of {} the latest was {:.1f} us\n", config.latency.context.str(),
                 options.threshold_us, r.latency.latency.count(), us(double(r.latency.latency.max())));
    } else {
      fmt::print("{}\n\n", r.verdict);
      Table had;
      had.column("had the CPU");
      had.column("as", Table::Align::kLeft);
      had.column("us");
      for (const auto& c : r.culprits) had.row({c.name, c.as, fmt::format("{:.1f}", us(double(c.ns)))});
      fmt::print("{}\n", had.str());
      if (!r.samples.empty()) {
        Table where;
        where.column("samples");
        where.column("function", Table::Align::kLeft);
        where.column("of", Table::Align::kLeft);
        for (const auto& f : r.samples) where.row({fmt::format("{}", f.samples), f.name, f.thread});
        fmt::print("{}\n", where.str());
      }
      for (const std::string& line : r.timeline) fmt::print("{}\n", line);
      if (r.lost_events > 0) fmt::print("{} events had no room in the rings\n", r.lost_events);
    }
  }
  const int status = finish(options, json);
  return status == kOk && r.found ? kInsufficient : status;
}

int run_stolen(const Options& options) {
  measure::StolenConfig config;
  config.context = context_of(options);
  config.duration_ns = std::int64_t(options.seconds * 1e9);
  config.gap_ns = std::int64_t(options.gap_us * 1e3);
  if (config.context.kind != ContextSpec::Kind::kReservation) {
    config.budget_ns = 4'000'000;  // the paper's 4 ms of every 20
    config.period_ns = 20'000'000;
  }
  const measure::StolenResult r = measure::measure_stolen(config);
  say_without(r.without);
  const double share = 100 * double(r.stolen_ns) / std::max(1.0, double(r.stolen_ns + r.running_ns));
  const Json json{{"measure", "stolen"},
                  {"host", measure::host_description()},
                  {"context", config.context.str()},
                  {"stolen", to_json(r.stolen)},
                  {"stolen_percent", share},
                  {"deadline_hits", r.hits},
                  {"deadline_misses", r.misses},
                  {"gap_us", us(double(r.gap_ns))},
                  {"poll_us", us(double(r.poll_ns))},
                  {"without", r.without}};
  if (!options.hgrm.empty()) write_file(options.hgrm, measure::to_hgrm(r.stolen, 1e3));
  if (!options.json) {
    fmt::print("{}: {} of {} periods had their whole budget; {:.2f} % of the time was stolen\n", config.context.str(),
               r.hits, r.hits + r.misses, share);
    fmt::print("a poll takes {:.3f} us; longer than {:.1f} us is stolen\n", us(double(r.poll_ns)),
               us(double(r.gap_ns)));
    if (r.stolen.count() > 0) {
      print_bars(r.stolen);
      print_quantiles("stolen intervals", r.stolen);
    }
  }
  return finish(options, json);
}

int run_kernel(const Options& options) {
  catch_interrupts();
  std::vector<std::string> without;
  std::vector<measure::KernelRow> rows;
  {
    Progress progress("kernel", options.json ? Progress::Style::kQuiet : Progress::Style::kAuto);
    rows = measure::measure_kernel(
        options.repetitions, [&](double share) { progress.update(share, ""); }, without);
  }
  if (!without.empty() && !options.best_effort)
    throw std::runtime_error(without.front() + "; or go on without by --best-effort");
  say_without(without);
  const double mix = measure::measure_integer_mix();
  Json json{{"measure", "kernel"},
            {"host", measure::host_description()},
            {"rows", Json::array()},
            {"integer_mix_per_s", mix}};
  Table table;
  table.column("operation");
  table.column("here, by", Table::Align::kLeft);
  for (const char* title : {"min us", "mean us", "max us"}) table.column(title);
  for (const measure::KernelRow& row : rows) {
    json["rows"].push_back({{"call", row.name},
                            {"equivalent", row.equivalent},
                            {"count", row.count},
                            {"min_us", row.min_us},
                            {"mean_us", row.mean_us},
                            {"max_us", row.max_us}});
    table.row({row.name, row.equivalent, fmt::format("{:.2f}", row.min_us), fmt::format("{:.2f}", row.mean_us),
               fmt::format("{:.1f}", row.max_us)});
  }
  if (!options.json) {
    fmt::print("{}", table.str());
    fmt::print("strings, records and integers in the manner of Dhrystone (not its source): {:.0f} runs a second\n",
               mix);
    fmt::print("each time has one clock_gettime in it; see GetSystemTime\n");
  }
  return finish(options, json);
}

int run_cost(const Options& options) {
  measure::CostConfig config;
  for (const config::ModemType& modem : config::kModemTypes) {
    if (modem.name == options.pump) config.modem = modem;
  }
  config.data_s = options.seconds;
  catch_interrupts();
  measure::CostResult result;
  {
    Progress progress("cost", options.json ? Progress::Style::kQuiet : Progress::Style::kAuto);
    result = measure::measure_cost(config, [&](double share) {
      if (progress.due()) progress.update(share, "");
      return !interrupted();
    });
  }
  if (!result.connected && !interrupted()) throw std::runtime_error("the pumps did not connect over a clean line");
  Json json{{"measure", "cost"},
            {"host", measure::host_description()},
            {"pump", config.modem.name},
            {"state_bytes", result.state_bytes}};
  for (const measure::CostPhase& p : result.phases) {
    json[p.name] = {{"blocks", p.blocks}, {"cost", to_json(p.cost)}, {"ns_per_sample", p.ns_per_sample}};
    if (!options.json) {
      print_quantiles(p.name.c_str(), p.cost);
      fmt::print("  {} blocks, {:.0f} ns a sample at the median: {:.2f} % of this CPU\n", p.blocks, p.ns_per_sample,
                 p.ns_per_sample * 8000 * 1e-7);
    }
  }
  const std::string profile = measure::to_profile(config, result, json.at("host").value("cpu", "this machine"));
  if (!options.hgrm.empty()) write_file(options.hgrm, profile);
  return finish(options, json);
}

}  // namespace

void add_measure(CLI::App& app, Action& action) {
  CLI::App* sub =
      app.add_subcommand("measure", "Measure this machine: latency, stolen time, kernel calls, cost of a pump");
  sub->require_subcommand(1);
  auto options = std::make_shared<Options>();
  const auto common = [options](CLI::App* s) {
    s->add_option("-o,--out", options->out, "Write the result as JSON")->type_name("FILE");
    s->add_flag("--json", options->json, "Print the result as JSON, nothing else");
    s->add_flag("--best-effort", options->best_effort, "Go on without the privileges that are missing");
  };
  const auto context = [options](CLI::App* s) {
    s->add_option("--context", options->context, "\"FIFO 80\", \"RR 10\", \"RES 2/8\" or OTHER")->type_name("CONTEXT");
    s->add_option("--cpu", options->cpu, "Keep the thread to this CPU")->type_name("N");
    s->add_option("--hgrm", options->hgrm, "Write the histogram as HdrHistogram's tools read it")->type_name("FILE");
  };
  const auto seconds = [options](CLI::App* s) {
    s->add_option("--seconds", options->seconds, "For so long")->type_name("S")->check(CLI::Range(0.01, 1e7));
  };

  CLI::App* latency = sub->add_subcommand("latency", "Timer interrupt to thread, as cyclictest");
  context(latency);
  seconds(latency);
  latency->add_option("--interval-us", options->interval_us, "Between two wake-ups")
      ->type_name("US")
      ->check(CLI::Range(10.0, 1e6));
  latency->add_option("--on-threshold", options->threshold_us, "End with status 2 at the first latency of so much")
      ->type_name("US");
  latency->add_flag("--stages", options->stages,
                    "Interrupt, softirq and scheduling apart, from the kernel's trace (root; adds its cost)");
  latency->add_flag("--top", options->top, "Show the table while it runs");
  common(latency);
  latency->footer(R"(Examples:
  offhook measure latency --context "FIFO 80" --seconds 60 --hgrm latency.hgrm
  offhook measure latency --context "RES 2/8" --on-threshold 5000
  sudo offhook measure latency --stages --top --seconds 600
)");
  latency->final_callback([&action, options] { action = [options] { return run_latency(*options); }; });

  CLI::App* cause =
      sub->add_subcommand("cause", "What ran while a thread was late (Cota-Robles and Held's cause tool)");
  context(cause);
  seconds(cause);
  cause->add_option("--interval-us", options->interval_us, "Between two wake-ups")
      ->type_name("US")
      ->check(CLI::Range(10.0, 1e6));
  cause->add_option("--on-threshold", options->threshold_us, "The latency to explain")
      ->required()
      ->type_name("US")
      ->check(CLI::Range(0.001, 1e7));
  cause
      ->add_option(
          "--samples-hz", options->samples_hz,
          "Samples of the instruction pointer a second and CPU; each is an interrupt of some us (default: 4000)")
      ->type_name("HZ")
      ->check(CLI::Range(1, 100'000));
  common(cause);
  cause->footer(R"(Examples:
  sudo offhook measure cause --on-threshold 500 --seconds 600
  sudo offhook measure cause --context "FIFO 80" --on-threshold 200 --json

Exit status 2: a wake-up was later, and this is why.)");
  cause->final_callback([&action, options] { action = [options] { return run_cause(*options); }; });

  CLI::App* stolen = sub->add_subcommand("stolen", "What others steal from a reservation (Regehr and Stankovic)");
  context(stolen);
  seconds(stolen);
  stolen->add_option("--gap-us", options->gap_us, "A longer gap between two polls was stolen")->type_name("US");
  common(stolen);
  stolen->footer(R"(Examples:
  offhook measure stolen --context "RES 4/20" --seconds 10
  offhook measure stolen --context "FIFO 50" --json
)");
  stolen->final_callback([&action, options] { action = [options] { return run_stolen(*options); }; });

  CLI::App* kernel =
      sub->add_subcommand("kernel", "The 14 operations of the Windows CE report, by their Linux equivalents");
  kernel->add_option("--repetitions", options->repetitions, "Of each")
      ->type_name("N")
      ->check(CLI::Range(10, 10'000'000));
  common(kernel);
  kernel->footer(R"(Examples:
  offhook measure kernel
  offhook measure kernel --repetitions 1000 --json
)");
  kernel->final_callback([&action, options] { action = [options] { return run_kernel(*options); }; });

  CLI::App* cost = sub->add_subcommand("cost", "What a pump costs on this CPU, as a cost profile");
  std::vector<std::string> names;
  for (const config::ModemType& modem : config::kModemTypes) names.emplace_back(modem.name);
  cost->add_option("--pump", options->pump, "v22bis, v34 (default: v22bis)")
      ->type_name("NAME")
      ->check(CLI::IsMember(names));
  cost->add_option("--profile", options->hgrm, "Write the profile for traces/profiles")->type_name("FILE");
  seconds(cost);
  common(cost);
  cost->footer(R"(Examples:
  offhook measure cost --seconds 20
  offhook measure cost --pump v34 --profile this-machine.toml
)");
  cost->final_callback([&action, options] { action = [options] { return run_cost(*options); }; });

  sub->footer(R"(Examples:
  offhook measure latency --context "FIFO 80" --seconds 60
  offhook measure stolen --context "RES 4/20"
  offhook measure kernel
  offhook measure cost --profile this-machine.toml
)");
}

}  // namespace offhook::command
