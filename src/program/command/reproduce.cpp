// SPDX-License-Identifier: MIT
//
// Every published result, made again: claims by name or all, tables, JSON, CSV, and one page with the figures redrawn.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "driver/base/output.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "src/lab/reproduce/results.h"
#include "src/lab/reproduce/sensitivity.h"
#include "src/page/page.h"
#include "src/program/command/figures.h"
#include "src/program/command/program.h"
#include "src/program/command/run_folder.h"
#include "src/report/report.h"

namespace offhook::command {
namespace {

using reproduce::ClaimResult;
using Claims = std::vector<ClaimResult>;

struct ReproduceOptions {
  std::vector<std::string> names;
  std::vector<std::string> perturb;
  std::size_t sensitivity = 0, held_out = 0;
  std::string out = "out/reproduce", figures;
  reproduce::Settings settings{1, 10, std::max(1u, std::thread::hardware_concurrency()), {}, interrupted};
  TextOutput json, csv;
  bool list = false, real_pump = false;

  /// Standard output is not for people.
  bool alone() const { return json.alone() || csv.alone(); }
};

int list(const std::vector<reproduce::Claim>& claims) {
  Table table;
  table.column("claim");
  for (const char* title : {"grade", "figures and tables", "what it shows"}) table.column(title, Table::Align::kLeft);
  for (const reproduce::Claim& c : claims) {
    const auto* e = c.experiment;
    table.row({c.published.id(), std::string(to_string(c.published.grade())),
               e != nullptr ? fmt::format("{}", fmt::join(e->figures, " ")) : "",
               e != nullptr ? e->title : "no experiment yet"});
  }
  say("{}", table.lines());
  return kOk;
}

/// "calibrated (slot_priority)": includes the unpublished constants that decide whether the row agrees.
std::string provenance_of(const reproduce::JudgedRow& row) {
  const std::string provenance(to_string(row.provenance));
  return row.hinges.empty() ? provenance : fmt::format("{} ({})", provenance, row.hinges);
}

/// The verdict of a row; empty for a row that cannot differ.
std::string verdict_of(const reproduce::JudgedRow& row) {
  const bool hard = row.grade == reproduce::Grade::kHard;
  if (!row.agrees) return hard ? "FALLS SHORT" : "differs";
  return hard || row.grade == reproduce::Grade::kSoft ? "agrees" : "";
}

std::string to_text(const ClaimResult& claim) {
  std::string out = fmt::format("{}: {} ({}; {})\n", claim.id, claim.title, claim.at, claim.standing);
  Table table;
  table.column("");
  table.column("published");
  table.column("simulated");
  for (const char* title : {"tolerance", "grade", "provenance", ""}) table.column(title, Table::Align::kLeft);
  std::string notes;
  for (const reproduce::JudgedRow& row : claim.rows) {
    table.row({row.unit.empty() ? row.what : fmt::format("{}, {}", row.what, row.unit), reproduce::shown(row.published),
               reproduce::shown(row.simulated), row.tolerance, std::string(to_string(row.grade)), provenance_of(row),
               verdict_of(row)});
    const bool paper = row.grade == reproduce::Grade::kPaper;
    if (!row.agrees || paper)
      notes += fmt::format("  {}{}: {}\n", row.what, paper ? ", reported as in the paper" : "", row.note);
  }
  if (!claim.rows.empty()) out += table.str();
  out += notes;
  if (!claim.summary.empty()) out += claim.summary + "\n";
  return out + "\n";
}

/// @return nothing if interrupted
std::optional<reproduce::Sensitivity> scan(const ReproduceOptions& options) {
  const reproduce::Published table = reproduce::load_published("jones.table3");
  Progress progress("sensitivity", options.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
  const reproduce::ClaimProgress show = [&](double share, const std::string& detail) {
    if (progress.due()) progress.update(share, detail);
  };
  try {
    auto scanned = sensitivity(run_of(table, options.settings, show), options.sensitivity);
    if (!options.alone())
      say("\nTable 3: range over which each class holds, one constant changed at a time\n{}\n",
          Lines(to_text(scanned)));
    return scanned;
  } catch (const reproduce::Interrupted&) {
    return {};
  }
}

/// The fitted constants, found again with Table 3. Everything after that is run with them.
/// @return nothing if interrupted
std::optional<reproduce::Calibration> hold_out(ReproduceOptions& options) {
  const reproduce::Published table = reproduce::load_published("jones.table3");
  Progress progress("calibration", options.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
  const reproduce::ClaimProgress show = [&](double share, const std::string& detail) {
    if (progress.due()) progress.update(share, "one constant: " + detail);
  };
  try {
    auto found = calibrate(run_of(table, options.settings, show), options.held_out);
    const std::vector<std::string> changes = found.changes();
    options.perturb.insert(options.perturb.end(), changes.begin(), changes.end());
    options.settings.perturbation = reproduce::Perturbation::parse(options.perturb);
    if (!options.alone()) say("{}\n", Lines(to_text(found)));
    return found;
  } catch (const reproduce::Interrupted&) {
    return {};
  }
}

struct Made {
  Claims claims;            ///< in order; after an interrupt, without results from there on
  std::ptrdiff_t kept = 0;  ///< number of these from an earlier run
};

/// Reuses the results of an earlier run with the same settings in `folder`. Runs the other claims until interrupted,
/// and stores each when it is done.
Made make_claims(const std::vector<reproduce::Claim>& claims, const ReproduceOptions& options,
                 const OutputFolder& folder) {
  const std::string identity = reproduce::identity(options.settings);
  std::vector<std::optional<ClaimResult>> results;
  double work = 0, done = 0;
  for (const reproduce::Claim& claim : claims) {
    results.push_back(reproduce::read_claim(folder.path(), claim, identity));
    if (!results.back() && claim.experiment != nullptr) work += claim.experiment->seconds;
  }
  const auto kept = std::count_if(results.begin(), results.end(), [](const auto& r) { return r.has_value(); });
  Progress progress("reproduce", options.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (results[i]) continue;
    const reproduce::Claim& claim = claims[i];
    const double seconds = claim.experiment != nullptr ? claim.experiment->seconds : 0;
    const auto show = [&](double share, const std::string& detail) {
      if (!progress.due()) return;
      progress.update(work > 0 ? (done + share * seconds) / work : 1,
                      fmt::format("claim {} of {}, {}: {}", i + 1, claims.size(), claim.published.id(), detail));
    };
    show(0, "begins");
    try {
      results[i] = reproduce::run_claim(claim, options.settings, show);
    } catch (const reproduce::Interrupted&) {
      break;
    }
    if (claim.experiment != nullptr) reproduce::write_claim(folder, *results[i], identity);
    done += seconds;
  }
  Made made{{}, kept};
  for (auto& result : results)
    if (result) made.claims.push_back(std::move(*result));
  return made;
}

/// The same claims without the perturbation, and its effect. @return nothing if interrupted
std::optional<reproduce::Effect> effect_of_perturbation(const std::vector<reproduce::Claim>& claims,
                                                        const ReproduceOptions& options, const OutputFolder& folder,
                                                        const Claims& perturbed) {
  ReproduceOptions plain = options;
  plain.settings.perturbation = {};
  const Made before = make_claims(claims, plain, folder.sub("unperturbed"));
  if (interrupted()) return std::nullopt;
  return reproduce::effect_of(perturbed, before.claims);
}

/// Writes results.json, results.csv and the page, and the first two again if requested.
void write_results(const OutputFolder& folder, const reproduce::Results& results, const ReproduceOptions& options) {
  const std::string json = record::json_text(reproduce::kResults, &results, 1) + "\n";
  const std::string csv = reproduce::to_csv(results.claims);
  folder.write("results.json", json);
  folder.write("results.csv", csv);
  folder.write(kReportName, reproduce_page(reproduce::kResults, &results));
  options.json.write(json);
  options.csv.write(csv);
}

/// Tables, counts, perturbed constants and failed rows.
void print(const reproduce::Results& results) {
  std::string text;
  for (const ClaimResult& claim : results.claims) text += to_text(claim);
  say("{}{}\n", Lines(text), sentence(results.totals));
  if (results.effect) say("{}\n", sentence(*results.effect, results.perturbed));
  if (const auto& short_of = results.totals.short_of; !short_of.empty())
    say("a mandatory claim was not reproduced: {}\n", fmt::format("{}", fmt::join(short_of, ", ")));
}

int run(ReproduceOptions options) {
  expect_one_alone({&options.json, &options.csv});
  try {
    options.settings.perturbation = reproduce::Perturbation::parse(options.perturb);
  } catch (const std::invalid_argument& e) {
    throw config::Error(fmt::format("--perturb: {}", e.what()));
  }
  const auto claims =
      reproduce::select_claims(reproduce::load_published(), options.names, options.real_pump || options.list);
  if (options.list) return list(claims);
  const OutputFolder folder(options.out);
  const OutputFolder kept_claims = folder.sub("claims");
  catch_interrupts();
  const auto begin = std::chrono::steady_clock::now();
  reproduce::Results results;
  results.seed = options.settings.seed;
  results.repetitions = options.settings.repetitions;
  if (options.held_out > 0) {
    results.held_out = hold_out(options);
    if (!results.held_out) return interrupt_status();
  }
  Made made = make_claims(claims, options, kept_claims);
  if (interrupted()) {
    say(stderr, "interrupted; completed claims are kept in {}; rerun the command to resume\n",
        kept_claims.path().string());
    return interrupt_status();
  }
  results.claims = std::move(made.claims);
  results.totals = reproduce::totals(results.claims);
  results.perturbed = options.perturb.empty() ? "" : options.settings.perturbation.text();
  if (!options.perturb.empty() && options.held_out == 0) {
    results.effect = effect_of_perturbation(claims, options, folder, results.claims);
    if (!results.effect) return interrupt_status();
  }
  if (options.sensitivity > 0) {
    results.sensitivity = scan(options);
    if (!results.sensitivity) return interrupt_status();
  }
  write_results(folder, results, options);
  write_figures(folder / kReportName, options.figures);
  if (!options.alone()) {
    print(results);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    say("{}{}\nreport: {}\n", duration_text(wall),
        made.kept != 0 ? fmt::format(", {} claims kept from an earlier run", made.kept) : "",
        (folder / kReportName).string());
  }
  return results.totals.short_of.empty() ? kOk : kInsufficient;
}

}  // namespace

void add_reproduce(App& app, Action& action) {
  App* sub = app.add_subcommand("reproduce", "Reproduce published results and compare");
  auto options = std::make_shared<ReproduceOptions>();
  sub->add_option("id", options->names,
                  "Claims, figures or tables, such as jones, jones.table3 or jones.fig7 (default: all)")
      ->type_name("ID");
  sub->add_option("-o,--out", options->out, "Output folder, which also keeps completed results")->type_name("DIR");
  add_figures(*sub, options->figures);
  sub->add_option("--seed", options->settings.seed, "First seed")->type_name("N")->check(seed());
  sub->add_option("--repeats", options->settings.repetitions, "Number of runs where the paper repeated an experiment")
      ->type_name("N")
      ->check(in_range(1u, 10000u));
  sub->add_option("--threads", options->settings.threads,
                  "Number of parallel runs (default: all cores); does not affect results")
      ->type_name("N")
      ->check(in_range(1u, 1024u));
  sub->add_option(
         "--perturb", options->perturb,
         "Change a constant of the modem's machine for the claims of jones: phi=+10%, lead_samples=-2, block_us=1700")
      ->type_name("NAME=CHANGE");
  sub->add_option("--sensitivity", options->sensitivity,
                  "Scan STEPS values of each constant that Table 3 depends on. Draw the range over which each class "
                  "holds, and fit the constants by five-fold cross-validation")
      ->type_name("STEPS")
      ->check(in_range(3u, 1000u));
  sub->add_flag("--real-pump", options->real_pump,
                "Also run Tables 1 to 3 of jones through the V.90 pump (minutes on every core)");
  sub->add_option("--held-out", options->held_out,
                  "Fit the constants again with Table 3 alone, from STEPS values of each. Then run the claims of jones "
                  "with them: no other claim has influenced these constants")
      ->type_name("STEPS")
      ->check(in_range(3u, 1000u));
  sub->add_flag("--list", options->list, "List claims, grades and figures");
  add_text_output(*sub, kJsonOption, options->json, "Contents of results.json");
  add_text_output(*sub, kCsvOption, options->csv, "Contents of results.csv");
  sub->footer(R"(Examples:
  offhook reproduce
  offhook reproduce jones.table3
  offhook reproduce jones.fig5 jones.fig14 --out out/pending
  offhook reproduce jones.real_pump --repeats 2
  offhook reproduce --list
  offhook reproduce jones.table3 --sensitivity 13 --repeats 4 --out out/sensitivity
  offhook reproduce jones --held-out 7 --repeats 4 --out out/held-out
  offhook reproduce jones --perturb block_us=+10% --out out/perturbed

Exit status: 0 every mandatory (hard) claim is within its tolerance, 1 error, 2 a mandatory claim is not,
130 interrupted.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
