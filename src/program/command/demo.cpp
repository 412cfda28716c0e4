// SPDX-License-Identifier: MIT
//
// The main job: the real pump in every context, then the twelve reservations of Table 3, beside what was published.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "src/lab/sweep/parallel.h"
#include "src/page/page.h"
#include "src/program/command/call_run.h"
#include "src/program/command/folder.h"
#include "src/program/command/program.h"
#include "src/program/config/published.h"
#include "src/program/output/run_folder.h"
#include "src/program/output/terminal.h"
#include "traces/file/file.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Options {
  std::string out = "out/demo";
  std::uint64_t bytes = 6000;
  unsigned repeats = 10;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  bool json = false;
};

/// One call of the demo and what it came to. Jobs run in parallel; everything printed is made from these, in order.
struct Job {
  hostsim::Scenario scenario;
  fs::path folder;  ///< empty: only a row is kept
  Json row;
};

hostsim::Scenario real_pump(const config::PublishedContext& published, const Options& options) {
  config::ScenarioBuilder builder;
  builder.apply(config::Document::setting("context", published.context, "jones.toml"));
  hostsim::Scenario s = builder.finish();
  s.name = published.context + (published.spinner ? " + spinner" : "");
  s.load.spinner = published.spinner;
  s.bytes = options.bytes;
  // Ten times what V.22bis needs for the file, so that a call that gets nowhere ends.
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

/// Which part of the reservation law (src/lab/law/law.h) decides, in words. Its worst case is over all starting
/// phases; when a row's runs differ, or do better than the worst case, their phase has decided.
std::string mechanism(const DeviceTiming& device, double x_ms, double y_ms, const VerdictResult& result) {
  const double share = x_ms / y_ms, gap = y_ms - x_ms;
  const bool enough = share > device.share(), short_enough = gap <= device.longest_gap_ms();
  const bool law = full_law(device, x_ms, y_ms).sufficient;
  std::string decides = "enough of both";
  if (!enough || !short_enough) {
    decides = enough ? "gap" : short_enough ? "share" : "share and gap";
  } else if (!law) {
    decides = "backlog";  // each alone would do, but one slot leaves work over for the next
  }
  if (result.verdict == Verdict::kMarginal || law != (result.verdict == Verdict::kSufficient)) decides += ", phase";
  return fmt::format("{}: {:.1f} of {:.1f} %, {:.2f} of {:.2f} ms", decides, 100 * share, 100 * device.share(), gap,
                     device.longest_gap_ms());
}

RunOutcome outcome_of(const Json& row) {
  return {row.at("complete").get<bool>(), row.at("transfer_s").get<double>()};
}

int demo(const Options& options) {
  const config::Published published = config::load_published();
  const fs::path folder = options.out;
  make_folder(folder);
  catch_interrupts();
  const auto begin = std::chrono::steady_clock::now();

  // Everything that is to be run. The long calls come first, so that no core is left with one at the end.
  std::vector<Job> jobs;
  for (const auto& context : published.contexts) {
    Job job{real_pump(context, options), {}, {}};
    job.folder = folder / folder_name(job.scenario.name);
    jobs.push_back(std::move(job));
  }
  const std::size_t first_row = jobs.size();
  const hostsim::Scenario base = table3_base();
  for (const auto& reservation : published.table3) {
    for (unsigned repeat = 0; repeat < options.repeats; ++repeat) {
      hostsim::Scenario s = base;
      s.context = config::parse_context(fmt::format("RES {}/{} strict", reservation.x_ms, reservation.y_ms));
      s.seed += repeat;  // the starting phase is drawn from it
      jobs.push_back({std::move(s), {}, {}});
    }
  }
  const std::size_t reference = jobs.size();
  jobs.push_back({base, {}, {}});  // in INT, what the rows are measured against

  std::atomic<std::size_t> done{0};
  std::mutex mutex;
  {
    Progress progress("demo", options.json ? Progress::Style::kQuiet : Progress::Style::kAuto);
    sweep::parallel(
        jobs.size(), options.threads,
        [&](std::size_t i) {
          Job& job = jobs[i];
          if (job.folder.empty()) {
            job.row = Json::parse(run_row(job.scenario));
          } else {
            const CallOutcome outcome =
                record_call(job.scenario, {}, job.folder, [](const CallProgress&) { return !interrupted(); });
            if (!outcome.stopped) job.row = summarise(job.scenario, outcome, job.folder);
          }
          ++done;
          const std::lock_guard lock(mutex);
          if (progress.due()) {
            progress.update(static_cast<double>(done) / static_cast<double>(jobs.size()),
                            fmt::format("{} of {} calls", done.load(), jobs.size()));
          }
        },
        interrupted);
  }
  if (interrupted()) return interrupt_status();

  const DeviceTiming device = device_timing(base);
  const double tick_ms = 1000.0 / base.host.tick_hz;
  SweepReport report;
  report.title = "Offhook demo";
  report.tick_ms = tick_ms;
  report.device = device;
  report.cpu_share_published = published.share_percent / 100;
  report.gap_ms_published = published.gap_ms;
  for (const config::Key& key : config::scenario_keys())
    report.settings.emplace_back(key.path, config::write_value(key, &base));

  Json json{{"offhook_demo", 1},
            {"report", (folder / kReportName).string()},
            {"contexts", Json::array()},
            {"table3", Json::array()}};
  std::size_t agreeing = 0;
  const auto add = [&](SweepRow row, Verdict expected, double mean_s, std::string note, const char* where,
                       std::string decides) {
    agreeing += row.result.verdict == expected ? 1 : 0;
    json[where].push_back({{"name", row.name},
                           {"verdict", std::string(to_string(row.result.verdict))},
                           {"published", std::string(to_string(expected))},
                           {"complete", row.result.complete},
                           {"runs", row.result.runs},
                           {"mean_s", row.result.mean_s},
                           {"published_mean_s", mean_s},
                           {"pending_max_samples", row.pending_max_samples},
                           {"blocks_late", row.blocks_late},
                           {"decides", decides}});
    row.published = SweepRow::Published{expected, mean_s > 0 ? std::optional(mean_s) : std::nullopt, std::move(note)};
    report.rows.push_back(std::move(row));
  };

  Table contexts;
  contexts.column("context, real pump");
  contexts.column("verdict", Table::Align::kLeft);
  contexts.column("published", Table::Align::kLeft);
  contexts.column("transfer s");
  contexts.column("pending max");
  contexts.column("blocks late");
  contexts.column("frames again");
  const RunOutcome int_run = outcome_of(jobs[0].row);
  const std::optional<double> int_s = int_run.complete ? std::optional(int_run.transfer_s) : std::nullopt;
  for (std::size_t i = 0; i < first_row; ++i) {
    const auto& p = published.contexts[i];
    const Json& total = jobs[i].row.at("figures").at("total");
    const RunOutcome run = outcome_of(jobs[i].row);
    SweepRow row;
    row.name = jobs[i].scenario.name;
    row.group = "Real pump";
    row.result = classify({&run, 1}, int_s);
    row.pending_max_samples = total.at("pending_max_samples").get<std::uint32_t>();
    row.blocks_late = total.at("blocks_late").get<std::uint64_t>();
    for (const Json& end : jobs[i].row.at("figures").at("ends")) {
      row.frames_retransmitted += end.at("frames_retransmitted").get<std::uint64_t>();
    }
    row.link = (jobs[i].folder.filename() / kReportName).string();
    contexts.row({row.name, std::string(to_string(row.result.verdict)), std::string(to_string(p.verdict)),
                  run.complete ? fmt::format("{:.3f}", run.transfer_s) : "not complete",
                  fmt::format("{}", row.pending_max_samples), fmt::format("{}", row.blocks_late),
                  fmt::format("{}", row.frames_retransmitted)});
    add(std::move(row), p.verdict, 0, p.of != 0 ? fmt::format("{} of {}", p.ok, p.of) : p.note, "contexts", "");
  }

  Table table3;
  table3.column("reservation, Table 3");
  table3.column("verdict", Table::Align::kLeft);
  table3.column("published", Table::Align::kLeft);
  table3.column("complete");
  table3.column("mean s");
  table3.column("published s");
  table3.column("pending max");
  table3.column("blocks late");
  table3.column("what decides: share of the needed, gap of the lead", Table::Align::kLeft);
  const RunOutcome reference_run = outcome_of(jobs[reference].row);
  const std::optional<double> reference_s =
      reference_run.complete ? std::optional(reference_run.transfer_s) : std::nullopt;
  for (std::size_t r = 0; r < published.table3.size(); ++r) {
    const auto& p = published.table3[r];
    std::vector<RunOutcome> runs;
    SweepRow row;
    for (unsigned repeat = 0; repeat < options.repeats; ++repeat) {
      const Json& one = jobs[first_row + r * options.repeats + repeat].row;
      runs.push_back(outcome_of(one));
      row.pending_max_samples = std::max(row.pending_max_samples, one.at("pending_max_samples").get<std::uint32_t>());
      row.blocks_late += one.at("blocks_late").get<std::uint64_t>();
      row.frames_retransmitted += one.at("frames_retransmitted").get<std::uint64_t>();
    }
    row.name = fmt::format("RES {}/{}", p.x_ms, p.y_ms);
    row.group = "Table 3";
    row.reservation = SweepRow::Reservation{static_cast<double>(p.x_ms), static_cast<double>(p.y_ms)};
    row.result = classify(runs, reference_s);
    const std::string decides = mechanism(device, p.x_ms * tick_ms, p.y_ms * tick_ms, row.result);
    table3.row({row.name, std::string(to_string(row.result.verdict)), std::string(to_string(p.verdict)),
                fmt::format("{}/{}", row.result.complete, row.result.runs),
                row.result.complete != 0 ? fmt::format("{:.3f}", row.result.mean_s) : "-",
                p.mean_s > 0 ? fmt::format("{:.3f}", p.mean_s) : "-", fmt::format("{}", row.pending_max_samples),
                fmt::format("{}", row.blocks_late), decides});
    row.decides = decides;
    add(std::move(row), p.verdict, p.mean_s, fmt::format("{} of {}", p.ok, p.of), "table3", decides);
  }

  json["agreeing"] = agreeing;
  json["of"] = report.rows.size();
  const std::string findings = fmt::format("{} of {} verdicts are the published ones", agreeing, report.rows.size());
  write_file(folder / kSummaryName, json.dump(1) + "\n");
  write_page((folder / kReportName).string(), sweep_page(report));
  if (options.json) {
    fmt::print("{}\n", json.dump(1));
    return kOk;
  }
  fmt::print(
      "One call in each context: the real V.22bis pump under V.42 carries {} bytes (200,000 in the paper, over a\n"
      "faster modem; fewer here so that the demo is short: --bytes N).\n\n{}\n",
      options.bytes, contexts.str());
  fmt::print(
      "Reservations, never outside their slots, {} runs each with another starting phase: cost profile \"{}\",\n"
      "{} bytes. The law wants {:.1f} % of the CPU, and no gap over the lead less phi c, {:.2f} ms.\n\n{}\n",
      options.repeats, base.cost_profile, base.bytes, 100 * device.share(), device.longest_gap_ms(), table3.str());
  fmt::print("{}; {} calls in {:.1f} s of wall time\nreport: {}\n", findings, jobs.size(),
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
             (folder / kReportName).string());
  return kOk;
}

}  // namespace

void add_demo(CLI::App& app, Action& action) {
  CLI::App* sub =
      app.add_subcommand("demo", "Every context with the real pump, then Table 3, beside what was published");
  auto options = std::make_shared<Options>();
  sub->add_option("-o,--out", options->out, "Output folder")->capture_default_str()->type_name("DIR");
  sub->add_option("--bytes", options->bytes, "Length of the file for the real pump")
      ->type_name("N")
      ->check(CLI::Range(1u, 100000000u));
  sub->add_option("--repeats", options->repeats, "Runs of each reservation")
      ->type_name("N")
      ->check(CLI::Range(1u, 10000u));
  sub->add_option("--threads", options->threads, "Calls at a time (default: all cores); changes no byte of the result")
      ->type_name("N")
      ->check(CLI::Range(1u, 1024u));
  sub->add_flag("--json", options->json, "Print the results as JSON, show no progress");
  sub->footer("Examples:\n  offhook demo\n  offhook demo --out out/demo --bytes 200000");
  sub->final_callback([&action, options] { action = [options] { return demo(*options); }; });
}

}  // namespace offhook::command
