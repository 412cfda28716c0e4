// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "driver/base/output.h"
#include "src/lab/advice/advice.h"
#include "src/lab/advice/explanation.h"
#include "src/lab/advice/kept_runs.h"
#include "src/lab/reproduce/results.h"
#include "src/page/page.h"
#include "src/program/command/call_run.h"
#include "src/program/command/program.h"
#include "driver/base/colour.h"
#include "driver/base/prose.h"
#include "src/program/command/run_folder.h"
#include "driver/base/terminal.h"
#include "src/report/advice_report.h"
#include "src/report/report.h"
#include "traces/scenario/data.h"
#include "driver/base/file.h"
#include "traces/scenario/device.h"
#include "traces/scenario/host_source.h"
#include "traces/scenario/scenario.h"
#include "driver/base/csv.h"
#include "driver/base/json.h"

namespace offhook::command {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string device, host, trace, out, memo;
  std::vector<std::string> set;
  std::uint32_t repeats = 3;
  double seconds = 60, between_hours = advice::kWeekS / 3600, verify_hours = 0, slot_us = 0;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  TextOutput json, csv;

  /// Standard output is not for people.
  bool alone() const { return json.alone() || csv.alone(); }
};

constexpr std::uint32_t kVerifyRuns = 5;

/// A host by its name, with a spinner for a load; or a file: the keys of a scenario's host and load, or a host alone.
config::ScenarioBuilder host_and_load(const std::string& host) {
  config::ScenarioBuilder builder;
  builder.set("load.spinner=true");
  if (!host.ends_with(".toml")) {
    (void)config::load_host(host);  // what is wrong with the name is said of what was typed
    builder.set("host.name=" + host);
    return builder;
  }
  config::Document document = config::Document::read_file(host);
  const bool placed = document.has("context.cpu") || document.has("context.interrupt_cpu") ||
                      document.has("context.dpc_cpu") || document.has("context.dpc_importance");
  if (document.has("context.kind") || (document.has("context") && !placed)) {
    throw config::Error(document.position("context") +
                        ": a host has no context; expected host.* and load.*, and --set context=... to try one only");
  }
  if (document.has("host") || document.has("load")) {
    builder.apply(std::move(document));
    return builder;
  }
  if (document.has("latency")) {  // what `measure host-profile` writes, and traces/data/hosts has
    builder.set("host.name=" + host);
    return builder;
  }
  hostsim::Scenario alone = builder.scenario();
  (void)config::take_host_source(document);
  document.apply(config::host_keys(), &alone.host);
  alone.host.name = fs::path(host).stem().string();
  return config::ScenarioBuilder(alone);
}

/// Where interrupt, DPC and thread are, of a host's CPUs; the rest of context.* says which context.
bool places(std::string_view assignment) {
  constexpr std::string_view kPlaces[] = {"context.cpu", "context.interrupt_cpu", "context.dpc_cpu",
                                          "context.dpc_importance"};
  const std::string_view key = assignment.substr(0, assignment.find('='));
  return std::find(std::begin(kPlaces), std::end(kPlaces), key) != std::end(kPlaces);
}

/// What --set has to say about the context: only that one is tried then.
std::optional<hostsim::ContextScenario> only_context(const Options& options, const hostsim::Scenario& base) {
  const bool given = std::any_of(options.set.begin(), options.set.end(), [](const std::string& s) {
    return (s.starts_with("context.") && !places(s)) || s.starts_with("context=");
  });
  return given ? std::optional(base.context) : std::nullopt;
}

/// Of the file that was given, or of the host that it begins with.
std::string host_source_of(const Options& options, const hostsim::Scenario& base) {
  if (options.host.ends_with(".toml")) {
    config::Document document = config::Document::read_file(options.host);
    if (document.has("source")) return config::in_words(config::take_host_source(document));
    if (!document.has("host.name")) return config::in_words({});
  }
  return config::in_words(config::load_host_source(base.host.name));
}

hostsim::Scenario base_of(const Options& options) {
  if (options.host.empty() && options.trace.empty()) {
    throw std::runtime_error(
        "HOST.toml is missing; expected a host (offhook hosts lists them), or --trace with a recorded one");
  }
  config::ScenarioBuilder builder = host_and_load(options.host.empty() ? "linux" : options.host);
  if (!options.trace.empty()) {
    builder.set("load.spinner=false");  // what competes is in the trace
    builder.apply(config::Document::setting("load.trace", options.trace, "--trace"));
  }
  hostsim::Scenario base = builder.scenario();
  base.device = config::load_device(options.device);
  base.pump = hostsim::PumpKind::kDevice;
  base.name = "advice";
  config::ScenarioBuilder with_device(std::move(base));
  for (const std::string& assignment : options.set) with_device.set(assignment);
  return with_device.finish();
}

Figures run_figures(const hostsim::Scenario& scenario) {
  Analyzer analyzer;
  CallSinks sinks;
  sinks.events = [&](std::span<const oh_event> events, std::uint64_t) {
    for (const oh_event& event : events) analyzer.add(event);
  };
  sinks.progress = [](const CallProgress&) { return !interrupted(); };
  (void)run_call(scenario, {}, sinks);
  return analyzer.finish();
}

void print(const advice::Advice& a) {
  const Tone tone = !a.suffices ? Tone::kBad : a.with_reserve() ? Tone::kDoubtful : Tone::kGood;
  say("{} on {}\n\n{}\n", a.device, a.host, Coloured(stdout, tone, a.headline));
  for (const std::string& warning : a.warnings) say("{}", prose("Warning: " + warning, 2));
  for (const std::string& reason : a.reasons) say("{}", prose(reason, 2));
  const auto others = advice::passed_over(a);
  if (!others.empty()) say("\nPassed over:\n");
  for (const advice::PassedOver& p : others)
    say("{}", prose(fmt::format("{}: {}", fmt::join(p.contexts, "; "), p.because), 2));
  say("\n");
  Table table;
  table.column("context");
  table.column("loses", Table::Align::kLeft);
  table.column("between losses", Table::Align::kLeft);
  if (a.slot_s > 0) table.column("slots missed");
  for (const char* title : {"margin ms", "buffers", "ISR us", "DPC us", "CPU %", "before threads %", "timer late ms"}) {
    table.column(title);
  }
  for (const advice::Trial& t : a.trials) {
    if (!t.refusal.empty()) continue;
    std::vector<std::string> row{
        t.name,
        t.samples_lost == 0 ? "nothing" : fmt::format("{} of {} blocks", t.blocks_lost(), t.blocks_that_came()),
        fmt::format("{} ({})", advice::span(t.expectation.interval_s.low), to_string(t.expectation.evidence)),
        fmt::format("{:.3f}{}", t.margin_ms, t.loses_nothing() && t.thin() ? "!" : ""),
        t.swamped ? "-" : fmt::format("{}", t.buffers_needed),
        fmt::format("{:.0f}{}", t.isr_max_us, t.isr_max_us > advice::kPc99InterruptUs ? "!" : ""),
        fmt::format("{:.0f}{}", t.dpc_max_us, t.dpc_max_us > advice::kPc99DpcUs ? "!" : ""),
        fmt::format("{:.1f}", 100 * t.share),
        fmt::format("{:.2f}", 100 * t.stolen_share),
        fmt::format("{:.3f}", t.timer_late_max_ms)};
    if (a.slot_s > 0) row.insert(row.begin() + 3, fmt::format("{:.2g}", a.miss_ratio_at_most(t)));
    table.row(std::move(row));
  }
  say("\n{}{}", table.lines(),
      prose(fmt::format("(between losses: at least, and the evidence; losses and tail with 95 % confidence, law and "
                        "latencies if their assumptions hold; !: over the PC 99 limit, or a margin not to rely on; "
                        "without the device the timer is at most {:.3f} ms late)",
                        a.control_late_max_ms)));
}

void print(const advice::Advice& a, const advice::Verification& v, double hours) {
  say("verified: {} lost something in {} of {} blocks, {} runs of {:g} h on other seeds: {}\n",
      a.trials[*a.chosen].name, v.seen.losses(), v.seen.blocks, kVerifyRuns, hours,
      v.safer ? "MORE than the advice allows" : "no more than the advice allows");
}

/// What is asked of advice::advise(), but its runs and its progress.
advice::Options asked(const Options& options, const hostsim::Scenario& base) {
  advice::Options how;
  how.repeats = options.repeats;
  how.seconds = options.seconds;
  how.required_s = options.between_hours * 3600;
  how.slot_s = 1e-6 * options.slot_us;
  const double block_s = static_cast<double>(base.device.buffer()) / base.device.rate_hz;
  if (how.slot_s > 0 && block_s > how.slot_s)
    throw config::Error(fmt::format("--slot-us: a block of {} is {:g} ms, longer than a slot; expected {:g} us or more",
                                    base.device.name, 1e3 * block_s, 1e6 * block_s));
  how.threads = options.threads;
  how.stop = interrupted;
  how.only = only_context(options, base);
  how.host_source = host_source_of(options, base);
  return how;
}

int run(const Options& options) {
  expect_one_alone({&options.json, &options.csv});
  const hostsim::Scenario base = base_of(options);
  if (!options.memo.empty()) expect_writable(options.memo);
  catch_interrupts();
  advice::Options how = asked(options, base);
  std::optional<OutputFolder> folder;
  std::optional<advice::KeptRuns> kept, kept_counts;
  if (!options.out.empty()) {
    folder.emplace(options.out);
    kept.emplace(*folder, "runs.jsonl", reproduce::program_and_data());
    kept_counts.emplace(*folder, "verified.jsonl", reproduce::program_and_data());
  }
  how.run = [&](const hostsim::Scenario& scenario) {
    if (const auto known = kept ? kept->find<advice::Measured>(scenario) : std::nullopt) return *known;
    advice::Measured run = advice::measure(run_figures(scenario), scenario);
    if (kept && !interrupted()) kept->keep(scenario, run);
    return run;
  };
  how.count = [&](const hostsim::Scenario& scenario) {
    if (const auto known = kept_counts ? kept_counts->find<advice::Lost>(scenario) : std::nullopt) return *known;
    const LossCount count = count_losses(scenario);
    const advice::Lost lost(count.service, count.simulated_s);
    if (kept_counts && !count.stopped) kept_counts->keep(scenario, lost);
    return lost;
  };
  std::optional<advice::Advice> advice;
  {
    Progress progress("advise", options.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    how.progress = [&](std::size_t done, std::size_t of) {
      if (!progress.due()) return;
      progress.update(static_cast<double>(done) / static_cast<double>(of), fmt::format("{} of {} runs", done, of));
    };
    advice = advice::advise(base, how);
  }
  const auto say_interrupted = [&] {
    say(stderr, "offhook: interrupted{}\n",
        kept ? "; what is done is kept, and the same command goes on from there" : "");
    return interrupt_status();
  };
  if (!advice) return say_interrupted();
  std::optional<advice::Verification> verified;
  if (options.verify_hours > 0 && advice->chosen) {
    Progress progress("verify", options.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    how.progress = [&](std::size_t done, std::size_t of) {
      progress.update(static_cast<double>(done) / static_cast<double>(of), fmt::format("{} of {} runs", done, of));
    };
    verified = advice::verify(*advice, options.verify_hours * 3600, kVerifyRuns, how);
    if (!verified) return say_interrupted();
  }
  auto out = advice_json(*advice);
  if (verified) {
    out["verified"] = {{"seconds", verified->seen.seconds},
                       {"blocks", verified->seen.blocks},
                       {"losses", verified->seen.losses()},
                       {"low_s", verified->interval_s.low},
                       {"advice_is_safer", verified->safer}};
  }
  options.json.write(json_text(out, 1));
  options.csv.write(csv_table(out.at("trials")));
  if (!options.alone()) print(*advice);
  if (verified && !options.alone()) print(*advice, *verified, options.verify_hours);
  if (options.verify_hours > 0 && !verified && !options.alone())
    say("verified: nothing was run, for no context comes close and so nothing is promised\n");
  if (!options.memo.empty()) write_file(options.memo, advice_memo(*advice, "Offhook " OFFHOOK_VERSION));
  if (folder) {
    folder->write("advice.json", json_text(out, 1) + "\n");
    folder->write(kReportName, advice_page(*advice));
    if (!options.alone()) say("report: {}\n", (*folder / kReportName).string());
  }
  if (verified && verified->safer) return kError;
  return advice->suffices ? kOk : kInsufficient;
}

}  // namespace

void add_advise(CLI::App& app, Action& action) {
  CLI::App* sub =
      app.add_subcommand("advise", "Where a device's work should run on a host, with what buffers, and why");
  auto options = std::make_shared<Options>();
  sub->add_option("device", options->device, "The device: a name from traces/data/devices, or a file of one's own")
      ->required()
      ->type_name("DEVICE.toml");
  sub->add_option(
         "host", options->host,
         "The host: a name from traces/data/hosts, beside a spinning thread; or a file with the keys host.* and load.* "
         "of a scenario")
      ->type_name("HOST.toml");
  sub->add_option("--trace", options->trace,
                  "A recorded host beside the device: trace-cmd's .dat, perf sched's text, a load (see offhook trace); "
                  "the host is then linux unless told")
      ->type_name("FILE");
  sub->add_option("--set", options->set,
                  "Any key of a scenario over these: device.buffers.count=2; with a context, no other is tried")
      ->type_name("KEY=VALUE");
  sub->add_option("--repeats", options->repeats, "Runs a context, each from another seed")
      ->type_name("N")
      ->check(in_range(1u, 1000u));
  sub->add_option("--seconds", options->seconds, "Simulated time a run")->type_name("S")->check(in_range(1.0, 1e6));
  sub->add_option("--between-losses", options->between_hours,
                  "Hours between losses that are asked for, a week at most (default: a week)")
      ->type_name("H")
      ->check(in_range(1e-3, advice::kWeekS / 3600));
  sub->add_option(
         "--slot-us", options->slot_us,
         "Length of a radio's slot. The context is chosen for 99.999 % of the slots in time, as its makers ask")
      ->type_name("US")
      ->check(in_range(1.0, 1e6))
      ->excludes("--between-losses");
  sub->add_option("--verify", options->verify_hours,
                  "Then run what was chosen so many hours on five other seeds, counting what is lost; it is an error "
                  "if the advice "
                  "promised more than that")
      ->type_name("H")
      ->check(in_range(1e-3, 1e5));
  sub->add_option("--threads", options->threads, "Runs at a time (default: all cores); changes no byte of the result")
      ->type_name("N")
      ->check(in_range(1u, 1024u));
  sub->add_option(
         "-o,--out", options->out,
         "Folder for advice.json, report.html and the runs that are done: interrupted, the same command goes on")
      ->type_name("DIR");
  sub->add_option("--memo", options->memo,
                  "Write one A4 sheet for a meeting: the verdict, what it rests on, what was passed over")
      ->type_name("FILE.html");
  add_text_output(*sub, kJsonOption, options->json, "The advice as JSON");
  add_text_output(*sub, kCsvOption, options->csv, "The contexts that were tried, as CSV");
  sub->footer(R"(Examples:
  offhook advise vendor-modem nt2000-p2-450 --out out/advice
  offhook advise rt-audio win98-games --seconds 600 --set host.virus_scanner=true
  offhook advise g-lite --trace examples/board.load --set load.trace_cpu=1
  offhook advise g-lite nt2000-p2-450 --set device.buffers.count=2 --json
  offhook advise g-lite nt2000-p2-450 --set "context=THR 20"
  offhook advise g-lite nt2000-p2-450 --memo memo.html
  offhook advise g-lite win98-games --verify 2
  offhook advise soft-radio linux --slot-us 625 --seconds 10

Exit status: 0 a context suffices, 1 error, or --verify saw more losses than the advice allows, 2 no context suffices,
130 interrupted.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
