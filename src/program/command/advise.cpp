// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <thread>

#include "driver/base/colour.h"
#include "driver/base/file.h"
#include "driver/base/output.h"
#include "driver/base/prose.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "hostsim/call/host_policies.h"
#include "src/lab/advice/advice.h"
#include "src/lab/advice/explanation.h"
#include "src/lab/advice/kept_runs.h"
#include "src/lab/advice/recipe.h"
#include "src/lab/reproduce/results.h"
#include "src/measure/host_profile.h"
#include "src/page/page.h"
#include "src/program/command/call_run.h"
#include "src/program/command/figures.h"
#include "src/program/command/host_and_load.h"
#include "src/program/command/program.h"
#include "src/program/command/results.h"
#include "src/program/command/run_folder.h"
#include "src/report/advice_report.h"
#include "src/report/report.h"
#include "traces/import/import.h"
#include "traces/scenario/data.h"
#include "traces/scenario/device.h"
#include "traces/scenario/host_source.h"
#include "traces/scenario/latency.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

namespace fs = std::filesystem;

struct AdviseOptions {
  std::string device, host, trace, out, memo, figures;
  std::vector<std::string> set;
  std::uint32_t repeats = 3;
  double seconds = 60, between_hours = 0, verify_hours = 0, slot_us = 0, measured_s = 0;
  std::string measured_at;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  TextOutput json, csv;

  /// Standard output is not for people.
  bool alone() const { return json.alone() || csv.alone(); }
};

constexpr std::uint32_t kVerifyRuns = 5;

/// CPUs of interrupt, DPC and thread; the other keys of context.* select the context.
bool places(std::string_view assignment) {
  constexpr std::string_view kPlaces[] = {"context.cpu", "context.interrupt_cpu", "context.dpc_cpu",
                                          "context.dpc_importance"};
  const std::string_view key = assignment.substr(0, assignment.find('='));
  return std::find(std::begin(kPlaces), std::end(kPlaces), key) != std::end(kPlaces);
}

/// The context of --set, if any; then only that one is tried.
std::optional<hostsim::ContextScenario> only_context(const AdviseOptions& options, const hostsim::Scenario& base) {
  const bool given = std::any_of(options.set.begin(), options.set.end(), [](const std::string& s) {
    return (s.starts_with("context.") && !places(s)) || s.starts_with("context=");
  });
  return given ? std::optional(base.context) : std::nullopt;
}

/// A Linux host for the kernel that was recorded or measured; its name is added to `notes`.
hostsim::HostScenario linux_by_kernel(const std::string& kernel, std::vector<std::string>& notes) {
  hostsim::HostScenario host = config::load_host("linux-hz250");
  const bool real_time = kernel.find("PREEMPT_RT") != std::string::npos || kernel.find("-rt") != std::string::npos;
  host.scheduler = kernel.empty() ? "linux-6.12" : measure::scheduler_of_kernel(kernel, real_time);
  host.name = host.scheduler;
  if (real_time) {
    const hostsim::HostScenario threaded = config::load_host("linux-rt");
    host.threaded_interrupts = true;
    host.hard_irq_ns = threaded.hard_irq_ns;
    if (!host.scheduler.ends_with("-rt")) host.name += "-rt";
  }
  notes.push_back(kernel.empty() ? "the file does not name its kernel: the scheduler of Linux 6.12 and a tick of 250 "
                                   "Hz are assumed. Name a host to choose others."
                                 : fmt::format("the simulated scheduler is {}; a tick of 250 Hz is assumed.", kernel));
  return host;
}

/// A recorded host: the recording includes the costs of interrupts and switches.
hostsim::HostScenario host_of_trace(const std::string& trace, std::vector<std::string>& notes) {
  hostsim::HostScenario host = linux_by_kernel(traces::recorded_kernel(trace), notes);
  host.clock_isr_ns = 0;
  host.dispatch_ns = config::load_host("linux").dispatch_ns;
  return host;
}

/// A host from a histogram of cyclictest or rtla. Its header or the options give class, priority and
/// duration.
hostsim::HostScenario host_of_histogram(const AdviseOptions& options, const config::LatencyHistogram& h,
                                        std::vector<std::string>& notes, std::string& source) {
  if ((h.scheduling == "OTHER" || h.scheduling == "DEADLINE") && options.measured_at.empty())
    throw config::Error(
        fmt::format("{}: {} measured a thread of SCHED_{}, whose waits are not those of a real-time thread; expected a "
                    "measurement at a priority, such as cyclictest -p 80",
                    options.host, h.tool, h.scheduling));
  std::string at = h.priority > 0 ? fmt::format("{} {}", h.scheduling, h.priority) : options.measured_at;
  if (!options.measured_at.empty()) at = options.measured_at;
  const double seconds = options.measured_s > 0 ? options.measured_s : h.seconds;
  if (at.empty() || seconds <= 0)
    throw config::Error(fmt::format("{}: the header of {} lacks {}; expected {}", options.host, h.tool,
                                    at.empty() && seconds <= 0 ? "the class, priority and duration of the measurement"
                                    : at.empty()               ? "the class and priority of the measurement"
                                                               : "the duration of the measurement",
                                    at.empty() && seconds <= 0 ? "--measured-at \"FIFO 80\" and --measured-seconds S"
                                    : at.empty()               ? "--measured-at \"FIFO 80\""
                                                               : "--measured-seconds S"));
  const ContextSpec context = ContextSpec::parse(at);
  if (context.kind != OH_CONTEXT_FIFO && context.kind != OH_CONTEXT_ROUND_ROBIN)
    throw config::Error(fmt::format("--measured-at is \"{}\"; expected FIFO 1..99 or RR 1..99", at));
  const std::string kernel =
      h.kernel.empty() && !options.trace.empty() ? traces::recorded_kernel(options.trace) : h.kernel;
  hostsim::HostScenario host = linux_by_kernel(kernel, notes);
  host.dispatch_ns = 0;  // part of the measurement
  host.name = fs::path(options.host).filename().string();
  host.latencies = fmt::format("{} ({}, {:g} s)", options.host, context.str(), seconds);
  config::register_latencies(host.latencies, {.interrupt = h.latency,
                                              .dpc = std::nullopt,
                                              .thread = h.latency,
                                              .high_thread = h.latency,
                                              .high_priority = static_cast<int>(context.priority),
                                              .waits_per_s = 1 / h.latency.rarest() / seconds,
                                              .measured_priority = static_cast<int>(context.priority)});
  source = fmt::format(
      "measured: {}, {:.0f} waits of {} in {}; no source for the latency of an interrupt, clock_isr_us, "
      "clock_ppm_spread",
      h.tool, h.waits, context.str(), advice::span(seconds));
  return host;
}

/// A histogram, recognised by its contents. @return nothing if it is not a histogram or not a file
std::optional<config::LatencyHistogram> histogram_of(const std::string& host) {
  std::error_code error;
  if (host.empty() || host.ends_with(".toml") || !fs::is_regular_file(host, error)) return std::nullopt;
  const std::string text = read_file(host, kMostTextBytes);
  if (!config::is_histogram(text))
    throw config::Error(
        fmt::format("{}: expected a host's .toml, or a histogram of cyclictest (-h, --json) or rtla (timerlat hist); "
                    "give a trace with --trace",
                    host));
  return config::parse_histogram(text, host);
}

/// The source and the grade of a host's numbers.
struct HostBasis {
  std::string source;              ///< in words
  bool assumed = false;            ///< they were not measured
  std::vector<std::string> notes;  ///< assumptions for values that a file does not have
};

/// The basis of the given file, or of its base host.
HostBasis basis_of(const AdviseOptions& options, const hostsim::Scenario& base) {
  config::HostSource source;
  if (options.host.ends_with(".toml")) {
    config::Document document = config::Document::read_file(options.host);
    if (document.has("source")) {
      source = config::take_host_source(document);
      return {config::in_words(source), source.grade == config::HostGrade::kAssumed, {}};
    }
    if (!document.has("host.name")) return {config::in_words({}), true, {}};
  }
  source = config::load_host_source(base.host.name);
  return {config::in_words(source), source.grade == config::HostGrade::kAssumed, {}};
}

/// "linux" is only for traces: a kernel without a version has no scheduler.
void expect_host(const AdviseOptions& options) {
  if (options.host.empty() && options.trace.empty())
    throw std::runtime_error(
        "HOST.toml is missing; expected a host (offhook hosts lists them), or --trace with a recorded host");
  if (options.host == "linux" && options.trace.empty())
    throw config::Error(
        "\"linux\" names no version. Expected --trace with a recording, or a host with a version: linux-hz250 (6.1; "
        "6.12 with --set host.scheduler=linux-6.12), linux-rt, linux-6.12-rt-am64x, or the profile of your machine "
        "from offhook measure host-profile");
}

/// Device, host and load, and the source of the host's numbers.
struct Question {
  hostsim::Scenario base;
  HostBasis basis;
};

Question question_of(const AdviseOptions& options) {
  expect_host(options);
  const bool own_host = !options.host.empty() && options.host != "linux";
  HostBasis basis;
  config::ScenarioBuilder builder;
  const auto histogram = histogram_of(own_host ? options.host : "");
  if (histogram || !own_host) {
    hostsim::Scenario alone = config::ScenarioBuilder().scenario();
    alone.host = histogram ? host_of_histogram(options, *histogram, basis.notes, basis.source)
                           : host_of_trace(options.trace, basis.notes);
    alone.load.spinner = true;
    builder = config::ScenarioBuilder(alone);
  } else {
    builder = host_and_load(options.host);
  }
  if (!options.trace.empty()) {
    builder.set("load.spinner=false");  // the trace contains the competing load
    builder.apply(config::Document::setting("load.trace", options.trace, "--trace"));
  }
  hostsim::Scenario base = builder.scenario();
  base.device = config::load_device(options.device);
  base.pump = hostsim::PumpKind::kDevice;
  base.name = "advice";
  config::ScenarioBuilder with_device(std::move(base));
  for (const std::string& assignment : options.set) with_device.set(assignment);
  base = with_device.finish();
  if (own_host && !histogram) basis = basis_of(options, base);
  if (!options.trace.empty()) {
    basis.source = fmt::format("{}measured: the recording {}; rules of the scheduler by kernel/sched{}",
                               base.host.latency ? basis.source + "; and " : "", options.trace,
                               own_host && !histogram ? fmt::format(" as of {}", base.host.name) : "");
    basis.assumed = false;
  }
  return {std::move(base), std::move(basis)};
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

/// Program and date, and the files named in the question, with their hashes.
std::string made_by(const AdviseOptions& options) {
  const std::time_t now = std::time(nullptr);
  std::tm day{};
  gmtime_r(&now, &day);
  char date[16];
  (void)std::strftime(date, sizeof date, "%Y-%m-%d", &day);
  std::string text = fmt::format("Offhook {}, {}", OFFHOOK_VERSION, date);
  for (const std::string& file : {options.device, options.host, options.trace}) {
    std::error_code error;
    if (!file.empty() && fs::is_regular_file(file, error))
      text += fmt::format(", {} {}", file, fnv1a_hex(read_file(file)));
  }
  return text;
}

void print(const advice::Advice& a) {
  const Tone tone = !a.suffices ? Tone::kBad : a.with_reserve() ? Tone::kDoubtful : Tone::kGood;
  say("{} on {}\n\n{}\n", a.device, a.host, Coloured(stdout, tone, a.headline));
  for (const std::string& warning : a.warnings) say("{}", prose("Warning: " + warning, 2));
  for (const std::string& reason : a.reasons) say("{}", prose(reason, 2));
  const auto others = advice::passed_over(a);
  if (!others.empty()) say("\nRejected:\n");
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
  std::vector<std::string> evidence;  // the kinds in the table, in words
  for (const advice::Trial& t : a.trials) {
    if (!t.refusal.empty()) continue;
    const std::string kind = fmt::format("{}: {}", to_string(t.expectation.evidence), in_words(t.expectation.evidence));
    if (std::ranges::find(evidence, kind) == evidence.end()) evidence.push_back(kind);
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
      prose(fmt::format("(Between losses: the least time, and its evidence. {}. !: {}, or an unreliable margin. "
                        "Without the device the timer is at most {:.3f} ms late.)",
                        fmt::join(evidence, "; "),
                        hostsim::has_linux_classes(a.base.host) ? "100 us of interrupt routine or 500 us of softirq"
                                                                : "over the PC 99 limit",
                        a.control_late_max_ms)));
  const auto order = advice::order_of_priorities(a);
  if (!order.empty()) say("\nPriority order on this host:\n");
  for (const std::string& line : order) say("  {}\n", line);
  const auto lines = advice::recipe(a);
  if (!lines.empty()) say("\nTo copy:\n");
  for (const std::string& line : lines) say("  {}\n", line);
}

void print(const advice::Advice& a, const advice::Verification& v, double hours) {
  say("verified: {} lost samples in {} of {} blocks, {} runs of {:g} h with other seeds: {}\n",
      a.trials[*a.chosen].name, v.seen.losses(), v.seen.blocks, kVerifyRuns, hours,
      v.safer ? "MORE than the advice allows" : "no more than the advice allows");
}

/// The question for advice::advise(), without its runs and its progress.
advice::Options asked(const AdviseOptions& options, const Question& question) {
  const hostsim::Scenario& base = question.base;
  advice::Options how;
  how.repeats = options.repeats;
  how.seconds = options.seconds;
  how.required_s = options.between_hours * 3600;
  how.slot_s = 1e-6 * options.slot_us;
  const double block_s = static_cast<double>(base.device.buffer()) / base.device.rate_hz;
  if (how.slot_s > 0 && block_s > how.slot_s)
    throw config::Error(
        fmt::format("--slot-us: a block of {} lasts {:g} ms, longer than a slot; expected {:g} us or more",
                    base.device.name, 1e3 * block_s, 1e6 * block_s));
  how.threads = options.threads;
  how.stop = interrupted;
  how.only = only_context(options, base);
  how.host_source = question.basis.source;
  how.assumed = question.basis.assumed;
  how.notes = question.basis.notes;
  return how;
}

/// The advice, and the results of --verify.
struct Advised {
  const advice::Advice& advice;
  const std::optional<advice::Verification>& verified;
};

using VerificationKeys = record::Written<advice::Verification>;
using Seen = advice::Verification;
constexpr record::Row kVerifiedRows[] = {
    VerificationKeys::of<&Seen::seen, &advice::Lost::seconds>("seconds", "s", "simulated time"),
    VerificationKeys::of<&Seen::seen, &advice::Lost::blocks>("blocks", "", "simulated blocks"),
    VerificationKeys::of("losses", "", "losses", [](const Seen& v) { return v.seen.losses(); }),
    VerificationKeys::of<&Seen::interval_s, &Interval::low>("low_s", "s",
                                                            "least time between losses, with 95 % confidence"),
    VerificationKeys::of<&Seen::safer>("advice_is_safer", "", "whether the advice relies on more than was seen"),
};
constexpr record::Table kVerified{kVerifiedRows};
using AdvisedKeys = record::Written<Advised>;
constexpr record::Row kAdviseRows[] = {
    AdvisedKeys::part("", kAdvice, [](const Advised& a) -> decltype(auto) { return a.advice; }),
    AdvisedKeys::part("verified", kVerified, [](const Advised& a) -> decltype(auto) { return a.verified; })
        .absent("without --verify, or if no context was chosen"),
};

/// Writes and prints the requested outputs. @param folder  null: none
void give(const AdviseOptions& options, const advice::Advice& advice,
          const std::optional<advice::Verification>& verified, const OutputFolder* folder) {
  const Advised advised{advice, verified};
  options.json.write(record::json_text(kAdvised, &advised, 1));
  options.csv.write(record::csv_table(kAdvised, &advised, "trials"));
  if (!options.alone()) print(advice);
  if (verified && !options.alone()) print(advice, *verified, options.verify_hours);
  if (options.verify_hours > 0 && !verified && !options.alone())
    say("verified: no run was made, because no context is sufficient\n");
  if (!options.memo.empty()) write_file(options.memo, advice_memo(advice, made_by(options)));
  if (folder != nullptr) {
    folder->write("advice.json", record::json_text(kAdvised, &advised, 1) + "\n");
    folder->write(kReportName, advice_page(advice));
    write_figures(*folder / kReportName, options.figures);
    if (!options.alone()) say("report: {}\n", (*folder / kReportName).string());
  } else if (!options.figures.empty()) {
    write_page(advice_page(advice), "", options.figures);
  }
}

int run(const AdviseOptions& options) {
  expect_one_alone({&options.json, &options.csv});
  const Question question = question_of(options);
  const hostsim::Scenario& base = question.base;
  if (!options.memo.empty()) expect_writable(options.memo);
  catch_interrupts();
  advice::Options how = asked(options, question);
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
    say(stderr, "offhook: interrupted{}\n", kept ? "; completed runs are kept; rerun the command to resume" : "");
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
  give(options, *advice, verified, folder ? &*folder : nullptr);
  if (verified && verified->safer) return kError;
  return advice->suffices ? kOk : kInsufficient;
}

constexpr const char* kExamples = R"(Examples:
  offhook advise vendor-modem nt2000-p2-450 --out out/advice
  offhook advise rt-audio win98-games --seconds 600 --set host.virus_scanner=true
  offhook advise g-lite --trace examples/board.load --set load.trace_cpu=1
  offhook advise g-lite nt2000-p2-450 --set device.buffers.count=2 --json
  offhook advise g-lite nt2000-p2-450 --set "context=THR 20"
  offhook advise g-lite nt2000-p2-450 --memo memo.html
  offhook advise g-lite win98-games --verify 2
  offhook advise soft-radio linux-6.12-rt-am64x --slot-us 625 --seconds 10
  offhook advise rt-audio cyclictest.hist --measured-at "FIFO 80" --measured-seconds 1200
  offhook advise rt-audio cyclictest.json --trace trace.dat     # hours of histogram, seconds of trace

Exit status: 0 a context is sufficient, 1 error, or --verify found more losses than the advice allows, 2 no context is
sufficient, 130 interrupted.)";

}  // namespace

constexpr record::Table kAdvised{kAdviseRows};

void add_advise(App& app, Action& action) {
  App* sub =
      app.add_subcommand("advise", "Advise where a device's work should run on a host, with how many buffers, and why");
  auto options = std::make_shared<AdviseOptions>();
  sub->add_option("device", options->device, "Device: a name from traces/data/devices, or a device file")
      ->required()
      ->type_name("DEVICE.toml");
  sub->add_option("host", options->host,
                  "Host: a name from traces/data/hosts (a spinning thread competes); a file with the keys host.* and "
                  "load.* of a scenario; or a histogram of cyclictest (-h, --json) or rtla (timerlat hist)")
      ->type_name("HOST.toml");
  sub->add_option("--trace", options->trace,
                  "Recorded host as the competing load: trace-cmd's .dat, perf sched's text, or a load (see offhook "
                  "trace). Without HOST, the rules of its kernel apply")
      ->type_name("FILE");
  sub->add_option("--measured-at", options->measured_at,
                  "Class and priority of a histogram's measurement, if its header lacks them: \"FIFO 80\"")
      ->type_name("CONTEXT");
  sub->add_option("--measured-seconds", options->measured_s,
                  "Duration of a histogram's measurement, if its header lacks it")
      ->type_name("S")
      ->check(in_range(1e-3, 1e9));
  sub->add_option("--set", options->set,
                  "Override any key of a scenario, such as device.buffers.count=2; if a context is given, only that "
                  "one is tried")
      ->type_name("KEY=VALUE");
  sub->add_option("--repeats", options->repeats, "Runs per context, each with another seed")
      ->type_name("N")
      ->check(in_range(1u, 1000u));
  sub->add_option("--seconds", options->seconds, "Simulated time per run")->type_name("S")->check(in_range(1.0, 1e6));
  sub->add_option("--between-losses", options->between_hours,
                  "Hours between losses that the evidence must support, up to a week (default: as many as it supports)")
      ->type_name("H")
      ->check(in_range(1e-3, advice::kWeekS / 3600));
  sub->add_option("--slot-us", options->slot_us,
                  "Length of a radio's slot. The advised context is on time in 99.999 % of the slots, the share that "
                  "radio makers require")
      ->type_name("US")
      ->check(in_range(1.0, 1e6))
      ->excludes("--between-losses");
  sub->add_option("--verify", options->verify_hours,
                  "Verify the advice: run the advised context for H hours with each of five other seeds and count "
                  "losses. More losses than the advice allows are an error")
      ->type_name("H")
      ->check(in_range(1e-3, 1e5));
  sub->add_option("--threads", options->threads,
                  "Number of parallel runs (default: all cores); does not affect results")
      ->type_name("N")
      ->check(in_range(1u, 1024u));
  sub->add_option("-o,--out", options->out, "Folder for advice.json, report.html and completed runs (resumable)")
      ->type_name("DIR");
  sub->add_option("--memo", options->memo,
                  "Write a one-page summary (A4): the verdict, its evidence and the rejected contexts")
      ->type_name("FILE.html");
  add_figures(*sub, options->figures);
  add_text_output(*sub, kJsonOption, options->json, "Advice as JSON");
  add_text_output(*sub, kCsvOption, options->csv, "Contexts that were tried, as CSV");
  sub->footer(kExamples);
  sub->require_subcommand(0, 1);
  add_law(*sub, action);
  add_admit(*sub, action);
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
