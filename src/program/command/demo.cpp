// SPDX-License-Identifier: MIT
//
// The main task: the real pump in every context, then the twelve reservations of Table 3, compared with the
// publication.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <thread>

#include "driver/base/output.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "src/lab/reproduce/published.h"
#include "src/lab/sweep/parallel.h"
#include "src/page/page.h"
#include "src/program/command/call_run.h"
#include "src/program/command/folder.h"
#include "src/program/command/program.h"
#include "src/program/command/results.h"
#include "src/program/command/run_folder.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

struct DemoOptions {
  std::string out = "out/demo";
  std::uint64_t bytes = 6000;
  unsigned repeats = 10;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  TextOutput json;
};

/// One call of the demo and its result. Jobs run in parallel. All output is made from these, in order.
struct Job {
  hostsim::Scenario scenario;
  std::string folder;  ///< folder in the demo's; empty: none
  RunOutcome outcome = {};
  std::uint32_t pending_max_samples = 0;
  std::uint64_t blocks_late = 0, frames_retransmitted = 0;
};

/// A context of the paper's section 6, and its published result.
struct PublishedContext {
  std::string context;
  bool spinner = false;
  Verdict verdict = Verdict::kInsufficient;
  std::string note;
  reproduce::Provenance provenance = reproduce::Provenance::kInput;
};

/// The contexts of Table 2, and THR 8 with the spinner (Figure 7). Classes are relative to INT.
std::vector<PublishedContext> published_contexts() {
  const reproduce::Published table = reproduce::load_published("jones.table2");
  const reproduce::Published pending = reproduce::load_published("jones.fig5.pending");
  const auto rows = table.rows("rows");
  const double int_s = rows.at(0).number("mean");
  std::vector<PublishedContext> contexts;
  for (const char* name : {"INT", "DPC", "THR 24", "THR 8", "RES 2/8"}) {
    std::string config = name;
    if (config.starts_with("THR ")) config.erase(3, 1);  // name in the table
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.text("config") == config; });
    std::vector<RunOutcome> runs(static_cast<std::size_t>(row->number("of")));
    const auto ok = static_cast<std::size_t>(row->number("ok"));
    std::fill_n(runs.begin(), ok, RunOutcome{true, row->number("mean")});
    const bool without = config == "THR8";
    contexts.push_back({name, !without, classify(runs, int_s).verdict, fmt::format("{} of {}", ok, runs.size()),
                        table.judgement(fmt::format("{}, complete transfers", name)).provenance});
    if (without) {
      contexts.push_back({name, true, Verdict::kInsufficient, pending.text("thr8_with_spinner"),
                          pending.judgement("THR 8 with the spinner").provenance});
    }
  }
  return contexts;
}

hostsim::Scenario real_pump(const PublishedContext& published, const DemoOptions& options) {
  config::ScenarioBuilder builder;
  builder.set("context=" + published.context);
  hostsim::Scenario s = builder.finish();
  s.name = published.context + (published.spinner ? " + spinner" : "");
  s.load.spinner = published.spinner;
  s.bytes = options.bytes;
  // Ten times the time that V.22bis needs for the file, so that a call without progress ends.
  s.time_limit_s = 60 + 10 * static_cast<double>(8 * options.bytes) / 2400;
  return s;
}

hostsim::Scenario table3_base() {
  config::ScenarioBuilder builder;
  builder.set("pump.kind=cost-profile");
  builder.set("load.spinner=true");
  return builder.finish();
}

std::string folder_name(std::string name) {
  for (char& c : name) c = c == ' ' || c == '/' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  name.erase(std::remove(name.begin(), name.end(), '+'), name.end());
  if (const auto twice = name.find("--"); twice != std::string::npos) name.erase(twice, 1);
  return name;
}

/// The part of the reservation law (src/lab/advice/law.h) that decides, in words. The worst case is over all starting
/// phases. If a row's runs differ or are better than it, their phase decides.
std::string mechanism(const DeviceTiming& device, const DeviceTiming& training, double x_ms, double y_ms,
                      const VerdictResult& result) {
  const double share = x_ms / y_ms, gap = y_ms - x_ms;
  const bool enough = share > device.share(), short_enough = gap <= device.longest_gap_ms();
  const bool law = full_law_of_call(training, device, x_ms, y_ms).sufficient;
  std::string decides = "enough of both";
  if (!enough || !short_enough) {
    decides = enough ? "gap" : short_enough ? "share" : "share and gap";
  } else if (!law) {
    decides = "backlog";  // there is time for each, but one slot leaves work for the next
  }
  if (result.verdict == Verdict::kMarginal || law != (result.verdict == Verdict::kSufficient)) decides += ", phase";
  return fmt::format("{}: {:.1f} of {:.1f} %, {:.2f} of {:.2f} ms", decides, 100 * share, 100 * device.share(), gap,
                     device.longest_gap_ms());
}

/// Verdicts compared with published ones of one provenance.
struct Count {
  std::size_t rows = 0, agreeing = 0;
};

struct Results {
  std::string report;
  std::vector<SweepRow> contexts, table3;
  std::map<std::string, Count, std::greater<>> counts;  ///< by provenance
  std::string sentence;

  const Count* count(std::string_view provenance) const {
    const auto found = counts.find(std::string(provenance));
    return found == counts.end() ? nullptr : &found->second;
  }
};

using SweepKeys = record::Written<SweepRow>;
constexpr record::Row kRowRows[] = {
    SweepKeys::of<&SweepRow::name>("name", "", "context and load, or reservation"),
    SweepKeys::of("verdict", "", "simulated verdict", [](const SweepRow& r) { return to_string(r.result.verdict); }),
    SweepKeys::of("published", "", "published verdict",
                  [](const SweepRow& r) { return to_string(*r.published->verdict); }),
    SweepKeys::of<&SweepRow::published, &SweepRow::Published::provenance>("provenance", "",
                                                                          "kind of evidence that an agreement gives")
        .always(),
    SweepKeys::of<&SweepRow::result, &VerdictResult::complete>("complete", "", "complete runs"),
    SweepKeys::of<&SweepRow::result, &VerdictResult::runs>("runs", "", "runs"),
    SweepKeys::of<&SweepRow::result, &VerdictResult::mean_s>("mean_s", "s", "mean transfer time of the complete runs"),
    SweepKeys::of("published_mean_s", "s", "published mean; 0: none",
                  [](const SweepRow& r) { return r.published->mean_s.value_or(0); }),
    SweepKeys::of<&SweepRow::pending_max_samples>("pending_max_samples", "samples",
                                                  "greatest number of samples that waited for service"),
    SweepKeys::of<&SweepRow::blocks_late>("blocks_late", "", "blocks that were late"),
    SweepKeys::of<&SweepRow::decides>("decides", "", "deciding quantity, in words"),
};
constexpr record::Table kRow{kRowRows};
using CountKeys = record::Written<Count>;
constexpr record::Row kBlockCountRows[] = {
    CountKeys::of<&Count::rows>("rows", "", "rows of this provenance"),
    CountKeys::of<&Count::agreeing>("agreeing", "", "rows with the published verdict"),
};
constexpr record::Table kCount{kBlockCountRows};
using ResultsKeys = record::Written<Results>;
constexpr record::Row kDemoRows[] = {
    ResultsKeys::of("offhook_demo", "", "version of this document", [](const Results&) { return 1; }),
    ResultsKeys::of<&Results::report>("report", "", "path of the page"),
    ResultsKeys::part<&Results::contexts>("contexts", kRow),
    ResultsKeys::part<&Results::table3>("table3", kRow),
    ResultsKeys::part("counts.input", kCount, [](const Results& r) { return r.count("input"); }),
    ResultsKeys::part("counts.independent", kCount, [](const Results& r) { return r.count("independent"); }),
    ResultsKeys::part("counts.derived", kCount, [](const Results& r) { return r.count("derived"); }),
    ResultsKeys::part("counts.calibrated", kCount, [](const Results& r) { return r.count("calibrated"); }),
    ResultsKeys::of<&Results::sentence>("sentence", "", "summary in one sentence"),
};

/// The time of a reference; none if it did not complete.
std::optional<double> time_of(const RunOutcome& run) {
  return run.complete ? std::optional(run.transfer_s) : std::nullopt;
}

void keep_run(const RunSummary& run, Job& job) {
  job.outcome = {run.complete, run.transfer_s};
  job.pending_max_samples = run.figures->total.pending_max;
  job.blocks_late = run.figures->total.losses.blocks_late;
  for (const Figures::End& end : run.figures->ends) job.frames_retransmitted += end.frames_retransmitted;
}

void keep_row(const sweep::RunRow& row, Job& job) {
  job.outcome = row;
  job.pending_max_samples = row.pending_max_samples;
  job.blocks_late = row.blocks_late;
  job.frames_retransmitted = row.frames_retransmitted;
}

class Demo {
 public:
  explicit Demo(const DemoOptions& options)
      : options_(options),
        base_(table3_base()),
        device_(device_timing(base_)),
        training_(device_timing(base_, hostsim::Phase::kConnecting)) {
    tick_ms_ = 1000.0 / base_.host.tick_hz;
    report_.title = "Offhook demo";
    report_.tick_ms = tick_ms_;
    report_.device = device_;
    report_.training = training_;
    report_.cpu_share_published = map_.number("model_share_percent") / 100;
    report_.gap_ms_published = map_.number("model_gap_ms");
    for (const config::Key& key : config::scenario_keys())
      if (config::is_written(key, &base_)) report_.settings.emplace_back(key.path, config::write_value(key, &base_));
    make_jobs();
  }
  int run();

 private:
  void make_jobs();
  void run_jobs();
  Lines context_table();
  Lines reservation_table();
  /// @param published verdict and provenance in the paper
  void add(SweepRow row, SweepRow::Published published, std::vector<SweepRow>& where, std::string decides);
  /// The runs of reservation `r` of Table 3.
  std::span<const Job> repeats(std::size_t r) const {
    return std::span(jobs_).subspan(contexts_.size() + r * options_.repeats, options_.repeats);
  }

  const DemoOptions& options_;
  const OutputFolder folder_{options_.out};
  const std::vector<PublishedContext> contexts_ = published_contexts();
  const reproduce::Published map_ = reproduce::load_published("jones.table3");
  const std::vector<reproduce::Published> reservations_ = map_.rows("rows");
  const hostsim::Scenario base_;
  const DeviceTiming device_, training_;
  double tick_ms_;
  std::vector<Job> jobs_;  ///< contexts, repeats of each reservation, and INT, their reference
  SweepReport report_;
  Results results_{
      .report = (folder_ / kReportName).string(), .contexts = {}, .table3 = {}, .counts = {}, .sentence = {}};
};

// The long calls come first, so that no core has only one left at the end.
void Demo::make_jobs() {
  for (const PublishedContext& context : contexts_) {
    Job job{.scenario = real_pump(context, options_), .folder = {}};
    job.folder = folder_name(job.scenario.name);
    jobs_.push_back(std::move(job));
  }
  for (const reproduce::Published& row : reservations_) {
    for (unsigned repeat = 0; repeat < options_.repeats; ++repeat) {
      hostsim::Scenario s = base_;
      s.context = ContextSpec::parse(fmt::format("RES {}/{} strict", row.number("x_ms"), row.number("y_ms")));
      s.seed += repeat;  // determines the starting phase
      jobs_.push_back({.scenario = std::move(s), .folder = {}});
    }
  }
  jobs_.push_back({.scenario = base_, .folder = {}});
}

void Demo::run_jobs() {
  std::atomic<std::size_t> done{0};
  std::mutex mutex;
  Progress progress("demo", options_.json.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
  sweep::parallel(
      jobs_.size(), options_.threads,
      [&](std::size_t i) {
        Job& job = jobs_[i];
        if (job.folder.empty()) {
          keep_row(run_row(job.scenario), job);
        } else {
          const OutputFolder folder = folder_.sub(job.folder);
          const CallOutcome outcome = record_call(
              job.scenario, folder, [](const CallProgress&) { return !interrupted(); }, simulated({}));
          if (!outcome.stopped) keep_run(summarise(job.scenario, outcome, folder), job);
        }
        ++done;
        const std::lock_guard lock(mutex);
        if (progress.due()) {
          progress.update(static_cast<double>(done) / static_cast<double>(jobs_.size()),
                          fmt::format("{} of {} calls", done.load(), jobs_.size()));
        }
      },
      interrupted);
}

void Demo::add(SweepRow row, SweepRow::Published published, std::vector<SweepRow>& where, std::string decides) {
  const bool agrees = row.result.verdict == published.verdict;
  Count& count = results_.counts[published.provenance];
  ++count.rows;
  if (agrees) ++count.agreeing;
  row.published = std::move(published);
  row.decides = std::move(decides);
  report_.rows.push_back(row);
  where.push_back(std::move(row));
}

Lines Demo::context_table() {
  Table table;
  table.column("context, real pump");
  table.column("verdict", Table::Align::kLeft);
  table.column("published", Table::Align::kLeft);
  table.column("transfer s");
  table.column("pending max");
  table.column("blocks late");
  table.column("frames again");
  const std::optional<double> int_s = time_of(jobs_[0].outcome);
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    const PublishedContext& published = contexts_[i];
    const RunOutcome& run = jobs_[i].outcome;
    SweepRow row;
    row.name = jobs_[i].scenario.name;
    row.group = "Real pump";
    row.result = classify({&run, 1}, int_s);
    row.pending_max_samples = jobs_[i].pending_max_samples;
    row.blocks_late = jobs_[i].blocks_late;
    row.frames_retransmitted = jobs_[i].frames_retransmitted;
    row.link = jobs_[i].folder + "/" + kReportName;
    table.row({row.name, std::string(to_string(row.result.verdict)), std::string(to_string(published.verdict)),
               run.complete ? fmt::format("{:.3f}", run.transfer_s) : "not complete",
               fmt::format("{}", row.pending_max_samples), fmt::format("{}", row.blocks_late),
               fmt::format("{}", row.frames_retransmitted)});
    add(std::move(row), {published.verdict, {}, published.note, std::string(to_string(published.provenance))},
        results_.contexts, "");
  }
  return table.lines();
}

Lines Demo::reservation_table() {
  Table table;
  table.column("reservation, Table 3");
  table.column("verdict", Table::Align::kLeft);
  table.column("published", Table::Align::kLeft);
  table.column("complete");
  table.column("mean s");
  table.column("published s");
  table.column("pending max");
  table.column("blocks late");
  table.column("deciding quantity (share of the required share, gap of the allowed gap)", Table::Align::kLeft);
  const std::optional<double> reference_s = time_of(jobs_.back().outcome);
  for (std::size_t r = 0; r < reservations_.size(); ++r) {
    const reproduce::Published& p = reservations_[r];
    const double x = p.number("x_ms"), y = p.number("y_ms"), mean_s = p.has("mean") ? p.number("mean") : 0;
    const Verdict expected = verdict_named(p.text("class")).value_or(Verdict::kMarginal);
    std::vector<RunOutcome> runs;
    SweepRow row;
    for (const Job& job : repeats(r)) {
      runs.push_back(job.outcome);
      row.pending_max_samples = std::max(row.pending_max_samples, job.pending_max_samples);
      row.blocks_late += job.blocks_late;
      row.frames_retransmitted += job.frames_retransmitted;
    }
    row.name = fmt::format("RES {}/{}", x, y);
    row.group = "Table 3";
    row.reservation = SweepRow::Reservation{x, y};
    row.result = classify(runs, reference_s);
    const std::string decides = mechanism(device_, training_, x * tick_ms_, y * tick_ms_, row.result);
    table.row({row.name, std::string(to_string(row.result.verdict)), std::string(to_string(expected)),
               fmt::format("{}/{}", row.result.complete, row.result.runs),
               row.result.complete != 0 ? fmt::format("{:.3f}", row.result.mean_s) : "-",
               mean_s > 0 ? fmt::format("{:.3f}", mean_s) : "-", fmt::format("{}", row.pending_max_samples),
               fmt::format("{}", row.blocks_late), decides});
    const auto provenance = map_.judgement(fmt::format("{}, class", row.name)).provenance;
    add(std::move(row),
        {expected, mean_s > 0 ? std::optional(mean_s) : std::nullopt,
         fmt::format("{} of {}", p.number("ok"), map_.number("of")), std::string(to_string(provenance))},
        results_.table3, decides);
  }
  return table.lines();
}

int Demo::run() {
  catch_interrupts();
  const auto begin = std::chrono::steady_clock::now();
  run_jobs();
  if (interrupted()) return interrupt_status();
  const Lines contexts = context_table(), reservations = reservation_table();
  std::vector<std::string> counted;
  for (const auto& [provenance, count] : results_.counts)
    counted.push_back(fmt::format("{}, {} of {}", provenance, count.agreeing, count.rows));
  const std::string& headline = results_.sentence =
      fmt::format("Verdicts that match the publication: {}", fmt::join(counted, "; "));
  report_.findings.push_back(headline +
                             ". Calibrated: a constant was fitted with these rows; independent: no constant was.");
  const std::string json = record::json_text(kDemo, &results_, 1);
  folder_.write(kSummaryName, json + "\n");
  folder_.write(kReportName, sweep_page(report_));
  options_.json.write(json);
  if (options_.json.alone()) return kOk;
  say("One call in each context: the real V.22bis pump under V.42 transfers {} bytes (the paper: 200,000, with "
      "a\nfaster modem). Use --bytes N for a longer file.\n\n{}\n",
      options_.bytes, contexts);
  say("Reservations, never outside their slots, {} runs each with another starting phase: cost profile \"{}\",\n{} "
      "bytes. The law requires {:.1f} % of the CPU and gaps of at most {:.2f} ms (transmit lead minus phi x "
      "cost).\n\n{}\n",
      options_.repeats, base_.cost_profile, base_.bytes, 100 * device_.share(), device_.longest_gap_ms(), reservations);
  say("pending max: greatest number of samples that waited for service. The ring holds {}: samples beyond that "
      "were\noverwritten before they were read.\n\n",
      OH_MODEM_RING_SAMPLES);
  say("{}\n{} calls in {:.1f} s of wall time\nreport: {}\n", headline, jobs_.size(),
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
      (folder_ / kReportName).string());
  return kOk;
}

}  // namespace

constexpr record::Table kDemo{kDemoRows};

void add_demo(App& app, Action& action) {
  App* sub = app.add_subcommand(
      "demo", "Run a modem call in every context and 12 reservations; compare with published results");
  auto options = std::make_shared<DemoOptions>();
  sub->add_option("-o,--out", options->out, "Output folder")->type_name("DIR");
  sub->add_option("--bytes", options->bytes, "Bytes to transfer in each modem call")
      ->type_name("N")
      ->check(in_range(1u, 100000000u));
  sub->add_option("--repeats", options->repeats, "Runs per reservation")->type_name("N")->check(in_range(1u, 10000u));
  sub->add_option("--threads", options->threads,
                  "Number of parallel calls (default: all cores); does not affect results")
      ->type_name("N")
      ->check(in_range(1u, 1024u));
  add_text_output(*sub, kJsonOption, options->json, "The results as JSON");
  sub->footer("Examples:\n  offhook demo\n  offhook demo --out out/demo --bytes 200000");
  sub->final_callback([&action, options] { action = [options] { return Demo(*options).run(); }; });
}

}  // namespace offhook::command
