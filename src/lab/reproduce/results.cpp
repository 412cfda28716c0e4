// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>

#include "driver/base/csv.h"
#include "driver/base/file.h"
#include "driver/base/json.h"
#include "driver/base/output.h"
#include "src/lab/sweep/parallel.h"
#include "traces/scenario/data.h"

namespace offhook::reproduce {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

namespace {

std::string claim_name(const std::string& id) {
  return id + ".json";
}

constexpr const char* kNoExperiment = "no experiment";
constexpr const char* kFallsShort = "falls short";

std::string standing(const std::vector<JudgedRow>& rows) {
  const auto any = [&](Grade grade, bool agrees) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const JudgedRow& r) { return r.grade == grade && r.agrees == agrees; });
  };
  if (any(Grade::kHard, false)) return kFallsShort;
  if (any(Grade::kSoft, false) || any(Grade::kInput, false)) return "differs";
  if (any(Grade::kHard, true) || any(Grade::kSoft, true)) return "agrees";
  return any(Grade::kPaper, true) ? "inconsistent in the paper" : "input";
}

}  // namespace

std::string program_and_data() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(config::data_dir())) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string data;
  for (const fs::path& file : files) data += fnv1a_hex(read_file(file));
  return fmt::format("program {}, data {}", fnv1a_hex(read_file("/proc/self/exe")), fnv1a_hex(data));
}

std::string identity(const Settings& settings) {
  return fmt::format("{}, seed {}, {} repetitions{}{}", program_and_data(), settings.seed, settings.repetitions,
                     settings.perturbation.empty() ? "" : ", perturbed: ", settings.perturbation.text());
}

Run run_of(const Published& published, const Settings& settings, const ClaimProgress& progress) {
  const auto parallel = [&settings, &progress](std::size_t n, const std::function<void(std::size_t)>& job) {
    std::mutex mutex;
    std::size_t done = 0;
    sweep::parallel(
        n, settings.threads,
        [&](std::size_t i) {
          job(i);
          const std::lock_guard lock(mutex);
          ++done;
          progress(static_cast<double>(done) / static_cast<double>(n), fmt::format("{} of {} runs", done, n));
        },
        settings.stop);
    if (settings.stop()) throw Interrupted{};
  };
  return {published, settings.seed, settings.repetitions, parallel, settings.perturbation};
}

namespace {

/// Every row that differs has an explanation.
void explain(std::vector<JudgedRow>& rows, const Perturbation& perturbation) {
  for (JudgedRow& row : rows)
    if (!row.agrees && row.note.empty())
      row.note = perturbation.empty() ? "no known reason" : fmt::format("perturbed: {}", perturbation.text());
}

}  // namespace

ClaimResult run_claim(const Claim& claim, const Settings& settings, const ClaimProgress& progress) {
  const Published& p = claim.published;
  ClaimResult result{.id = p.id(),
                     .title = claim.experiment != nullptr ? claim.experiment->title : p.id(),
                     .seed = p.seed(),
                     .at = p.at(),
                     .grade = p.grade(),
                     .standing = kNoExperiment,
                     .summary = "No experiment reproduces this claim yet.",
                     .rows = {},
                     .figures = {}};
  if (claim.experiment == nullptr) return result;
  Outcome outcome = claim.experiment->run(run_of(p, settings, progress));
  result.rows = judged(std::move(outcome.rows), p);
  if (const auto unread = p.unread(); !unread.empty()) {
    throw config::Error(fmt::format("{}: the experiment does not use: {}", p.id(), fmt::join(unread, ", ")));
  }
  explain(result.rows, settings.perturbation);
  result.standing = standing(result.rows);
  result.summary = std::move(outcome.summary);
  result.figures = std::move(outcome.figures);
  return result;
}

namespace {

using record::Rows;
constexpr record::Row kClaimRows[] = {
    Rows<ClaimResult>::of<&ClaimResult::id>("id", "", "name of the claim"),
    Rows<ClaimResult>::of<&ClaimResult::title>("title", "", "what its experiment shows"),
    Rows<ClaimResult>::of<&ClaimResult::seed>("seed", "", "name of the paper"),
    Rows<ClaimResult>::of<&ClaimResult::at>("at", "", "place in the paper"),
    Rows<ClaimResult>::of("grade", "", "hard, soft or input: meaning of a difference",
                          [](const ClaimResult& c) { return to_string(c.grade); }),
    Rows<ClaimResult>::of<&ClaimResult::standing>("standing", "", "result in a word"),
    Rows<ClaimResult>::of<&ClaimResult::summary>("summary", "", "the runs, and the difference, if there is one"),
    Rows<ClaimResult>::part<&ClaimResult::rows>("rows", kJudgedRow),
    Rows<ClaimResult>::part<&ClaimResult::figures>("figures", kFigure).described_apart("data of the page's figures"),
};
constexpr record::Table kClaim{kClaimRows};

using TotalsRows = record::Written<Totals>;
using Count = Totals::Count;
using CountRows = record::Written<Count>;
constexpr record::Row kInputCountRows[] = {
    CountRows::of<&Count::rows>("rows", "", "values"),
    CountRows::of<&Count::agree>("agree", "", "values within their tolerance; of inputs, used as published"),
};
constexpr record::Row kCountRows[] = {
    kInputCountRows[0],
    kInputCountRows[1],
    CountRows::of<&Count::hard>("hard", "", "mandatory values"),
    CountRows::of<&Count::hard_agree>("hard_agree", "", "mandatory values within their tolerance"),
};
constexpr record::Table kInputCount{kInputCountRows}, kCount{kCountRows};

template <std::size_t kAt>
constexpr record::Row count_row(std::string_view key, const record::Table& table) {
  return TotalsRows::part(key, table, [](const Totals& t) -> const Count& { return t.counts[kAt].second; });
}
constexpr record::Row kTotalsRows[] = {
    count_row<0>("independent", kCount),
    count_row<1>("calibrated", kCount),
    count_row<2>("derived", kCount),
    count_row<3>("input", kInputCount),
    TotalsRows::of<&Totals::sharp>("can_fail.rows", "",
                                   "values whose agreement would change if the published value were 20 % off"),
    TotalsRows::of<&Totals::sharp_agree>("can_fail.agree", "", "such values within their tolerance"),
    TotalsRows::of<&Totals::paper>("inconsistent_in_the_paper", "", "values that contradict others in their paper"),
};

using EffectRows = record::Written<Effect>;
constexpr record::Row kEffectRows[] = {
    EffectRows::of<&Effect::rows>("values", "", "values of these claims"),
    EffectRows::of<&Effect::changed>("changed", "", "values that --perturb changed"),
    EffectRows::of<&Effect::unchanged>("unchanged", "", "claims without a changed value"),
    EffectRows::of<&Effect::decided>("decided", "", "values whose agreement it changed"),
};
constexpr record::Table kTotals{kTotalsRows}, kEffect{kEffectRows};

using ResultsRows = record::Written<Results>;
constexpr record::Row kResultsRows[] = {
    ResultsRows::of("offhook_reproduce", "", "version of this document", [](const Results&) { return 1; }),
    ResultsRows::of<&Results::seed>("seed", "", "first random seed"),
    ResultsRows::of<&Results::repetitions>("repetitions", "", "number of runs where the paper repeated an experiment"),
    ResultsRows::of("sentence", "", "summary in one sentence", [](const Results& r) { return sentence(r.totals); }),
    ResultsRows::part<&Results::totals>("counts", kTotals),
    ResultsRows::of<&Results::totals, &Totals::short_of>("falls_short", "",
                                                         "mandatory (hard) claims that were not reproduced"),
    ResultsRows::part<&Results::claims>("claims", kClaim),
    ResultsRows::of<&Results::perturbed>("perturbed", "", "changed constants").absent_if_0("without --perturb"),
    ResultsRows::part<&Results::effect>("perturbation", kEffect).absent("without --perturb"),
    ResultsRows::part<&Results::held_out>("held_out", kCalibration).absent("without --held-out"),
    ResultsRows::part<&Results::sensitivity>("sensitivity", kSensitivity).absent("without --sensitivity"),
};

/// A kept claim is a file with its identity and a checksum of the rest.
struct Kept {
  std::string identity, checksum;
  ClaimResult claim;
};
using KeptRows = record::Rows<Kept>;
constexpr record::Row kKeptRows[] = {
    KeptRows::of<&Kept::identity>("identity", "", "program, data and settings that made it"),
    KeptRows::of<&Kept::checksum>("checksum", "", "checksum of the claim's JSON"),
    KeptRows::part<&Kept::claim>("claim", kClaim),
};
constexpr record::Table kKept{kKeptRows};

std::string checksum(const ClaimResult& claim) {
  return fnv1a_hex(record::to_json(kClaim, &claim).dump());
}

}  // namespace

constexpr record::Table kResults{kResultsRows};

std::optional<ClaimResult> read_claim(const fs::path& folder, const Claim& claim, const std::string& identity) {
  const fs::path path = folder / claim_name(claim.published.id());
  std::error_code error;
  if (claim.experiment == nullptr || !fs::exists(path, error)) return std::nullopt;
  try {
    Kept kept;
    record::from_json(kKept, with_memory_for(path, [&] { return parse_json<OrderedJson>(read_file(path)); }), &kept);
    kept.claim.grade = claim.published.grade();
    const bool ours = kept.identity == identity && kept.checksum == checksum(kept.claim);
    return ours ? std::optional(std::move(kept.claim)) : std::nullopt;
  } catch (const OrderedJson::exception&) {  // it is run again
    return std::nullopt;
  }
}

void write_claim(const OutputFolder& folder, const ClaimResult& claim, const std::string& identity) {
  const Kept kept{identity, checksum(claim), claim};
  folder.write(claim_name(claim.id), record::json_text(kKept, &kept) + "\n");
}

Totals totals(const std::vector<ClaimResult>& claims) {
  Totals t;
  for (const ClaimResult& claim : claims) {
    ++t.claims;
    const bool missing = claim.standing == kNoExperiment;
    if (missing) t.missing.push_back(claim.id);
    if (claim.standing == kFallsShort || (missing && claim.grade == Grade::kHard)) t.short_of.push_back(claim.id);
    for (const JudgedRow& row : claim.rows) {
      if (row.grade == Grade::kPaper) {
        ++t.paper;
        continue;
      }
      Totals::Count& count = t.of(row.provenance);
      const bool hard = row.grade == Grade::kHard;
      ++count.rows;
      if (row.agrees) ++count.agree;
      if (hard) ++count.hard;
      if (hard && row.agrees) ++count.hard_agree;
      if (row.provenance == Provenance::kInput || !row.sharp) continue;
      ++t.sharp;
      if (row.agrees) ++t.sharp_agree;
    }
  }
  return t;
}

Totals::Count& Totals::of(Provenance provenance) {
  return std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == to_string(provenance); })
      ->second;
}

std::string sentence(const Totals& t) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : t.counts) {
    if (name == to_string(Provenance::kInput) || count.rows == 0) continue;
    parts.push_back(fmt::format("{}, {} of {} values within tolerance ({} of {} hard)", name, count.agree, count.rows,
                                count.hard_agree, count.hard));
  }
  const Totals::Count& inputs = t.counts.back().second;
  parts.push_back(fmt::format("{} inputs, which are not results", inputs.rows));
  std::string out = fmt::format(
      "{} claim{}: {} of {} values that can fail (a published value 20 % off would be noticed) are within tolerance. "
      "{}",
      t.claims, t.claims == 1 ? "" : "s", t.sharp_agree, t.sharp, fmt::join(parts, "; "));
  if (inputs.agree != inputs.rows)
    out += fmt::format(" ({} used with other values than published)", inputs.rows - inputs.agree);
  if (t.paper != 0) out += fmt::format("; {} inconsistent in their paper", t.paper);
  if (!t.missing.empty()) out += fmt::format("; without an experiment: {}", fmt::join(t.missing, ", "));
  return out;
}

Effect effect_of(const std::vector<ClaimResult>& perturbed, const std::vector<ClaimResult>& plain) {
  Effect e;
  for (std::size_t i = 0; i < perturbed.size(); ++i) {
    const auto &rows = perturbed[i].rows, &before = plain[i].rows;
    std::size_t changed = 0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      changed += k >= before.size() || rows[k].simulated != before[k].simulated;
      if (k < before.size() && rows[k].agrees != before[k].agrees)
        e.decided.push_back(perturbed[i].id + ", " + rows[k].what);
    }
    e.rows += rows.size();
    e.changed += changed;
    if (changed == 0) e.unchanged.push_back(perturbed[i].id);
  }
  return e;
}

std::string sentence(const Effect& e, const std::string& perturbation) {
  if (e.changed == 0) return fmt::format("--perturb {} changes nothing in these claims", perturbation);
  std::string out = fmt::format("--perturb {} changes {} of {} values", perturbation, e.changed, e.rows);
  if (!e.unchanged.empty()) out += fmt::format("; none in {}", fmt::join(e.unchanged, ", "));
  if (!e.decided.empty())
    out += fmt::format(". Agreement changes in {}: {}", e.decided.size(), fmt::join(e.decided, "; "));
  return out;
}

std::string shown(const Value& value) {
  if (!value.number) return value.text.empty() ? "-" : value.text;
  const double v = *value.number;
  if (v == std::round(v) && std::abs(v) < 1e7) return fmt::format("{:.0f}", v);
  return std::abs(v) >= 1000 ? fmt::format("{:.0f}", v) : fmt::format("{:.4g}", v);
}

std::string to_csv(const std::vector<ClaimResult>& claims) {
  OrderedJson rows = OrderedJson::array();
  for (const ClaimResult& claim : claims) {
    for (const JudgedRow& judged_row : claim.rows) {
      const OrderedJson row = record::to_json(kJudgedRow, &judged_row);
      OrderedJson cells{{"claim", claim.id}};
      for (const char* key : {"what", "unit", "published", "simulated", "tolerance", "grade", "provenance"})
        cells[key] = row.at(key);
      cells["notices_20_percent"] = judged_row.sharp ? "yes" : "no";
      cells["agrees"] = judged_row.agrees ? "yes" : "no";
      for (const char* key : {"hinges", "note", "because"}) cells[key] = row.at(key);
      rows.push_back(std::move(cells));
    }
  }
  return csv_table(rows);
}

}  // namespace offhook::reproduce
