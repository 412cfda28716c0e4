// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <thread>

#include "driver/base/file.h"
#include "driver/base/output.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "src/lab/sweep/shard.h"
#include "src/lab/sweep/slurm.h"
#include "src/program/command/call_run.h"
#include "src/program/command/figures.h"
#include "src/program/command/program.h"
#include "src/program/command/results.h"
#include "src/program/command/run_folder.h"
#include "src/program/command/sweep_folder.h"
#include "traces/scenario/key.h"

namespace offhook::command {
namespace {

namespace fs = std::filesystem;

struct SweepOptions {
  std::string grid, out, shard, figures;
  std::uint32_t shards = 0;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  TextOutput json, csv;

  bool quiet() const { return json.alone() || csv.alone(); }
};

fs::path folder_of(const SweepOptions& options) {
  return options.out.empty() ? fs::path("out") / fs::path(options.grid).stem() : fs::path(options.out);
}

/// The grid's plan in its folder: created now, or left there by an earlier start of the same sweep.
sweep::Plan place_plan(const SweepOptions& options, const OutputFolder& output) {
  const fs::path& folder = output.path();
  sweep::Plan plan = sweep::read_grid(options.grid, options.shards);
  if (is_sweep_folder(folder)) {
    sweep::Plan there = load_plan(folder);
    if (there.grid_hash() != plan.grid_hash()) {
      throw config::Error(fmt::format("{}: this folder holds another sweep, \"{}\"; give another --out or remove it",
                                      folder.string(), there.name));
    }
    if (options.shards != 0 && there.shards != plan.shards) {
      throw config::Error(fmt::format("{}: this folder holds this sweep in {} shards; expected {}", folder.string(),
                                      there.shards, plan.shards));
    }
    return there;
  }
  output.write(sweep::kPlanName, to_json(plan));
  return plan;
}

bool run_shards(const OutputFolder& folder, const sweep::Plan& plan, const std::vector<std::uint32_t>& shards,
                const SweepOptions& options) {
  std::size_t runs = 0;
  for (const std::uint32_t shard : shards) runs += plan.last_run(shard) - plan.first_run(shard);
  Progress progress(plan.name, options.quiet() ? Progress::Style::kQuiet : Progress::Style::kAuto);
  return sweep::run_shards(folder, plan, shards, run_row, {options.threads, interrupted, [&](std::size_t done) {
                                                             if (!progress.due()) return;
                                                             progress.update(
                                                                 static_cast<double>(done) / static_cast<double>(runs),
                                                                 fmt::format("{} of {} runs", done, runs));
                                                           }});
}

int say_interrupted(const fs::path& folder) {
  say(stderr, "offhook: interrupted; completed runs are kept in {}; rerun the command to resume\n", folder.string());
  return interrupt_status();
}

struct Printed {
  std::string results, report;
  const sweep::Plan& plan;
  const std::vector<sweep::CellResult>& cells;
};
struct Planned {
  const sweep::Plan& plan;
  std::string folder, slurm;
};
struct ShardDone {
  std::uint32_t shard = 0, of = 0;
  std::string file;
  bool was_done = false;
};

using PrintedKeys = record::Written<Printed>;
constexpr record::Row kPrintedRows[] = {
    PrintedKeys::of<&Printed::results>("results", "", "file of all results"),
    PrintedKeys::of<&Printed::report>("report", "", "path of the page"),
    PrintedKeys::of("runs", "", "total number of runs", [](const Printed& p) { return p.plan.runs(); }),
    PrintedKeys::of("left_out", "", "combinations whose reservation cannot be admitted",
                    [](const Printed& p) { return p.plan.left_out; }),
    PrintedKeys::part("cells", sweep::kSweepVerdict, [](const Printed& p) { return p.cells; }),
};
using PlannedKeys = record::Written<Planned>;
constexpr record::Row kPlannedRows[] = {
    PlannedKeys::of("plan", "", "hash of the plan", [](const Planned& p) { return p.plan.hash(); }),
    PlannedKeys::of<&Planned::folder>("folder", "", "folder of the plan"),
    PlannedKeys::of<&Planned::slurm>("slurm", "", "script of the Slurm job array"),
    PlannedKeys::of("shards", "", "shards of the plan", [](const Planned& p) { return p.plan.shards; }),
    PlannedKeys::of("cells", "", "cells of the sweep", [](const Planned& p) { return p.plan.cells.size(); }),
    PlannedKeys::of("runs", "", "total number of runs", [](const Planned& p) { return p.plan.runs(); }),
    PlannedKeys::of("left_out", "", "combinations whose reservation cannot be admitted",
                    [](const Planned& p) { return p.plan.left_out; }),
};
using ShardDoneKeys = record::Written<ShardDone>;
constexpr record::Row kShardRows[] = {
    ShardDoneKeys::of<&ShardDone::shard>("shard", "", "I of I/N"),
    ShardDoneKeys::of<&ShardDone::of>("of", "", "N of I/N"),
    ShardDoneKeys::of<&ShardDone::file>("file", "", "output file of the shard"),
    ShardDoneKeys::of<&ShardDone::was_done>("was_done", "", "whether an earlier run had already completed the shard"),
};

void print_results(const sweep::Plan& plan, const std::vector<sweep::CellResult>& cells, const fs::path& folder,
                   const SweepOptions& options) {
  write_figures(folder / kReportName, options.figures);
  if (options.csv.asked()) options.csv.write(read_file(folder / "results.csv"));
  const Printed printed{(folder / "results.json").string(), (folder / kReportName).string(), plan, cells};
  options.json.write(record::json_text(kSweepPrinted, &printed, 1));
  if (options.quiet()) return;
  constexpr std::size_t kMostRows = 60;
  Table table;
  table.column("cell");
  table.column("verdict", Table::Align::kLeft);
  table.column("complete");
  table.column("mean s");
  table.column("pending max");
  table.column("blocks late");
  for (std::size_t c = 0; c < cells.size() && c < kMostRows; ++c) {
    const auto& r = cells[c].result;
    table.row({cells[c].name, std::string(to_string(r.verdict)), fmt::format("{}/{}", r.complete, r.runs),
               r.complete != 0 ? fmt::format("{:.3f}", r.mean_s) : "", fmt::format("{}", cells[c].pending_max),
               fmt::format("{}", cells[c].blocks_late)});
  }
  say("{}", table.lines());
  if (cells.size() > kMostRows) say("... and {} more cells in results.csv\n", cells.size() - kMostRows);
  if (plan.left_out != 0) {
    say("{} combinations skipped: their reservation cannot be admitted\n", plan.left_out);
  }
  say("results: {}\nreport: {}\n", (folder / "results.csv").string(), (folder / kReportName).string());
}

std::vector<std::uint32_t> all_shards(const sweep::Plan& plan) {
  std::vector<std::uint32_t> shards(plan.shards);
  for (std::uint32_t i = 0; i < plan.shards; ++i) shards[i] = i + 1;
  return shards;
}

int whole_sweep(const SweepOptions& options) {
  const OutputFolder output(folder_of(options));
  const fs::path& folder = output.path();
  const sweep::Plan plan = place_plan(options, output);
  catch_interrupts();
  const auto begin = std::chrono::steady_clock::now();
  if (!run_shards(output, plan, all_shards(plan), options)) return say_interrupted(folder);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  print_results(plan, merge_sweep(output, plan), folder, options);
  if (!options.quiet()) say("{} runs on {} threads: {}\n", plan.runs(), options.threads, duration_text(wall));
  return kOk;
}

int plan_sweep(const SweepOptions& options) {
  const OutputFolder output(folder_of(options));
  const fs::path& folder = output.path();
  const sweep::Plan plan = place_plan(options, output);
  const fs::path slurm = folder / sweep::kSlurmName;
  output.write(sweep::kSlurmName, sweep::slurm_script(fs::absolute(folder), plan.shards));
  const Planned planned{plan, folder.string(), slurm.string()};
  options.json.write(record::json_text(kSweepPlanned, &planned, 1));
  if (options.json.alone()) return kOk;
  say("plan {}: {} cells, {} runs, {} shards, {} combinations skipped\n", plan.hash(), plan.cells.size(), plan.runs(),
      plan.shards, plan.left_out);
  say("run each:  offhook sweep run {0} --shard I/{1}\non Slurm:  sbatch --wait {2}\nthen:      offhook sweep merge "
      "{0}\n",
      folder.string(), plan.shards, slurm.string());
  return kOk;
}

int run_shard(const SweepOptions& options) {
  const sweep::Plan plan = load_plan(options.out);
  std::uint32_t shard = 0, of = 0;
  const char* end = options.shard.data() + options.shard.size();
  auto [slash, error] = std::from_chars(options.shard.data(), end, shard);
  if (error == std::errc{} && slash != end && *slash == '/') error = std::from_chars(slash + 1, end, of).ec;
  if (error != std::errc{} || of != plan.shards || shard < 1 || shard > of) {
    throw config::Error(
        fmt::format("--shard {}: expected I/{} with I from 1 to {}", options.shard, plan.shards, plan.shards));
  }
  const bool was_done = !sweep::shard_problem(options.out, plan, shard);
  catch_interrupts();
  if (!run_shards(OutputFolder(options.out, OutputFolder::Use::kShared), plan, {shard}, options))
    return say_interrupted(options.out);
  const ShardDone done{shard, of, sweep::shard_path(options.out, shard).string(), was_done};
  options.json.write(record::json_text(kSweepShard, &done));
  if (!options.json.alone()) say("shard {} of {}: {}{}\n", shard, of, done.file, was_done ? " (already done)" : "");
  return kOk;
}

int merge(const SweepOptions& options) {
  const sweep::Plan plan = load_plan(options.out);
  print_results(plan, merge_sweep(OutputFolder(options.out), plan), options.out, options);
  return kOk;
}

void add_grid(App& to, SweepOptions& options) {
  to.add_option("grid", options.grid, "The grid: base scenario, axes, repeats")->type_name("GRID.toml");
  to.add_option("-o,--out", options.out, "Output folder (default: out/GRID)")->type_name("DIR");
}
void add_plan_folder(App& to, SweepOptions& options) {
  to.add_option("folder", options.out, "Folder with the plan")->required()->type_name("DIR");
}
void add_threads(App& to, SweepOptions& options) {
  to.add_option("--threads", options.threads, "Number of parallel runs (default: all cores); does not affect results")
      ->type_name("N")
      ->check(in_range(1u, 1024u));
}
void add_results(App& to, SweepOptions& options) {
  add_text_output(to, kJsonOption, options.json, "Results as JSON");
}
void add_rows(App& to, SweepOptions& options) {
  add_text_output(to, kCsvOption, options.csv, "Runs as CSV");
}

void add_plan(App& sub, const std::shared_ptr<SweepOptions>& options, Action& action) {
  App* plan =
      sub.add_subcommand("plan", "Split a sweep into shards that run on any machine; slurm.sh is a Slurm job array");
  add_grid(*plan, *options);
  plan->get_option("grid")->required();
  plan->add_option("--shards", options->shards, "Number of shards")
      ->required()
      ->type_name("N")
      ->check(in_range(1u, 1000000u));
  add_results(*plan, *options);
  plan->footer("Examples:\n  offhook sweep plan examples/reservation-map.toml --shards 16 --out out/shards");
  plan->final_callback([&action, options] { action = [options] { return plan_sweep(*options); }; });
}

void add_run(App& sub, const std::shared_ptr<SweepOptions>& options, Action& action) {
  App* run = sub.add_subcommand("run", "Run one shard of a plan (safe to repeat)");
  add_plan_folder(*run, *options);
  run->add_option("--shard", options->shard, "Shard I of N")->required()->type_name("I/N");
  add_threads(*run, *options);
  add_results(*run, *options);
  run->footer("Examples:\n  offhook sweep run out/shards --shard 3/16");
  run->final_callback([&action, options] { action = [options] { return run_shard(*options); }; });
}

void add_merge(App& sub, const std::shared_ptr<SweepOptions>& options, Action& action) {
  App* merged = sub.add_subcommand("merge", "Merge the shards; the result is identical to an undivided sweep");
  add_plan_folder(*merged, *options);
  add_results(*merged, *options);
  add_rows(*merged, *options);
  add_figures(*merged, options->figures);
  merged->footer("Examples:\n  offhook sweep merge out/shards");
  merged->final_callback([&action, options] {
    action = [options] {
      expect_one_alone({&options->json, &options->csv});
      return merge(*options);
    };
  });
}

}  // namespace

constexpr record::Table kSweepPrinted{kPrintedRows}, kSweepPlanned{kPlannedRows}, kSweepShard{kShardRows};

void add_sweep(App& app, Action& action) {
  App* sub = app.add_subcommand("sweep", "Run a grid of scenarios in parallel (resumable)");
  auto options = std::make_shared<SweepOptions>();
  add_grid(*sub, *options);
  add_threads(*sub, *options);
  add_results(*sub, *options);
  add_rows(*sub, *options);
  add_figures(*sub, options->figures);
  sub->footer(R"(Examples:
  offhook sweep examples/reservation-map.toml --out out/map
  offhook sweep plan examples/reservation-map.toml --shards 16 --out out/shards

A grid file:
  base = "table3.toml"                 # relative to the grid file
  repeats = 10                         # seeds seed, seed + 1, ...
  [scenario]                           # any key of a scenario, over the base
  load.spinner = true
  [axes]                               # every combination; the first varies slowest
  context.x_ticks = [1, 2, 3]
  context.y_ticks = { from = 4, to = 20, step = 1 })");
  sub->require_subcommand(0, 1);
  sub->final_callback([&action, options] {
    if (options->grid.empty()) missing("GRID.toml");
    action = [options] {
      expect_one_alone({&options->json, &options->csv});
      return whole_sweep(*options);
    };
  });

  add_plan(*sub, options, action);
  add_run(*sub, options, action);
  add_merge(*sub, options, action);
}

}  // namespace offhook::command
