// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/sensitivity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "src/lab/analysis/verdict.h"
#include "src/lab/reproduce/call_log.h"
#include "traces/scenario/profile.h"

namespace offhook::reproduce {

namespace {

constexpr std::size_t kFolds = 5;

/// The value of the constant in `setup`, and the steps of its range after they were set (some are rounded to integers).
std::vector<double> values_of(const Constant& c, Setup setup, std::size_t steps) {
  std::vector<double> out = {c.get(setup)};
  for (std::size_t i = 0; i + 1 < steps; ++i) {
    c.set(setup,
          c.low + (c.high - c.low) * static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(steps, 3) - 2));
    out.push_back(c.get(setup));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string shown(const Scan& scan, const Scan::Range& r) {
  if (!r.any) return "does not hold";
  return fmt::format("{}{:.4g} to {:.4g}{}", r.from_end ? "<= " : "", r.low, r.high, r.to_end ? " or more" : "") +
         (scan.constant->unit.empty() ? "" : fmt::format(" {}", scan.constant->unit));
}

}  // namespace

Scan::Range Scan::range(std::size_t row) const {
  const auto at = static_cast<std::size_t>(std::find(values.begin(), values.end(), used) - values.begin());
  Range r;
  if (at == values.size() || !holds.at(row)[at]) return r;
  std::size_t low = at, high = at;
  while (low > 0 && holds[row][low - 1]) --low;
  while (high + 1 < values.size() && holds[row][high + 1]) ++high;
  return {values[low], values[high], low == 0, high + 1 == values.size(), true};
}

std::size_t Scan::best(const std::function<bool(std::size_t)>& counts) const {
  std::vector<std::size_t> right(values.size());
  for (std::size_t row = 0; row < holds.size(); ++row) {
    for (std::size_t v = 0; counts(row) && v < values.size(); ++v) right[v] += holds[row][v];
  }
  const std::size_t most = *std::max_element(right.begin(), right.end());
  std::size_t begin = 0, length = 0;
  for (std::size_t v = 0, run = 0; v < values.size(); ++v) {
    run = right[v] == most ? run + 1 : 0;
    if (run > length) {
      length = run;
      begin = v + 1 - run;
    }
  }
  return begin + length / 2;
}

std::size_t Scan::held_out() const {
  std::size_t out = 0;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    const std::size_t chosen = best([&](std::size_t row) { return row % kFolds != fold; });
    for (std::size_t row = fold; row < holds.size(); row += kFolds) out += holds[row][chosen];
  }
  return out;
}

namespace {

/// INT, the reference, and each reservation of Table 3.
struct Reservations {
  explicit Reservations(const Run& run) : published(run.published.rows("rows")) {
    std::vector<hostsim::Scenario> scenarios = {call_scenario("INT", true, run.seed)};
    for (const Published& row : published) {
      scenarios.push_back(strict_reservation(row, run.seed));
      names.push_back(scenarios.back().name);
    }
    for (const hostsim::Scenario& s : scenarios) {
      setups.push_back({s, config::load_profile(s.cost_profile)});
      run.perturbation.apply(setups.back());
    }
  }
  std::vector<Published> published;
  std::vector<std::string> names;
  std::vector<Setup> setups;
};

/// Whether the classes agree, at each value of each scan.
void run_scans(const Run& run, const Reservations& rows, std::vector<Scan>* scans) {
  struct Job {
    std::size_t scan, value, row;
  };
  std::vector<Job> jobs;
  for (std::size_t n = 0; n < scans->size(); ++n) {
    Scan& scan = (*scans)[n];
    scan.holds.assign(rows.published.size(), std::vector<bool>(scan.values.size()));
    for (std::size_t v = 0; v < scan.values.size(); ++v) {
      for (std::size_t row = 0; row < rows.setups.size(); ++row) jobs.push_back({n, v, row});
    }
  }
  std::vector<std::vector<RunOutcome>> outcomes(jobs.size(), std::vector<RunOutcome>(run.repetitions));
  run.parallel(jobs.size() * run.repetitions, [&](std::size_t i) {
    const Job& job = jobs[i / run.repetitions];
    Setup s = rows.setups[job.row];
    const Scan& scan = (*scans)[job.scan];
    scan.constant->set(s, scan.values[job.value]);
    s.scenario.seed += i % run.repetitions;
    outcomes[i / run.repetitions][i % run.repetitions] = run_transfer(s);
  });
  std::optional<double> reference;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const Job& job = jobs[j];
    if (job.row == 0) {
      const VerdictResult of_int = classify(outcomes[j], std::nullopt);
      reference = of_int.complete > 0 ? std::optional(of_int.mean_s) : std::nullopt;
      continue;
    }
    const Verdict verdict = classify(outcomes[j], reference).verdict;
    (*scans)[job.scan].holds[job.row - 1][job.value] = rows.published[job.row - 1].text("class") == to_string(verdict);
  }
}

}  // namespace

Sensitivity sensitivity(const Run& run, std::size_t steps) {
  const Reservations rows(run);
  Sensitivity out;
  out.rows = rows.names;
  for (const Constant& c : constants()) {
    if (c.low >= c.high) continue;
    Scan scan;
    scan.constant = &c;
    scan.used = c.get(rows.setups.front());
    scan.values = values_of(c, rows.setups.front(), steps);
    out.scans.push_back(std::move(scan));
  }
  run_scans(run, rows, &out.scans);
  return out;
}

Calibration calibrate(const Run& run, std::size_t steps) {
  constexpr int kPasses = 2;
  Reservations rows(run);
  Calibration out;
  out.rows = rows.names.size();
  std::vector<const Constant*> fitted;
  for (const Constant& c : constants()) {
    if (!c.fitted) continue;
    fitted.push_back(&c);
    out.constants.push_back({std::string(c.name), std::string(c.unit), 0, c.get(rows.setups.front())});
    for (Setup& s : rows.setups) c.set(s, (c.low + c.high) / 2);
  }
  for (std::size_t n = 0; n < kPasses * fitted.size(); ++n) {
    const Constant& c = *fitted[n % fitted.size()];
    std::vector<Scan> scan(1);
    scan[0].constant = &c;
    scan[0].values = values_of(c, rows.setups.front(), steps);
    run_scans(run, rows, &scan);
    const std::size_t best = scan[0].best([](std::size_t) { return true; });
    for (Setup& s : rows.setups) c.set(s, scan[0].values[best]);
    out.constants[n % fitted.size()].value = c.get(rows.setups.front());
    out.right = 0;
    for (const auto& row : scan[0].holds) out.right += row[best];
  }
  return out;
}

std::vector<std::string> Calibration::changes() const {
  std::vector<std::string> out;
  for (const Constant& c : constants) out.push_back(fmt::format("{}={}", c.name, c.value));
  return out;
}

std::string to_text(const Calibration& calibration) {
  std::string out =
      fmt::format("calibrated with Table 3 alone, {} of {} classes:", calibration.right, calibration.rows);
  for (const Calibration::Constant& c : calibration.constants)
    out += fmt::format(" {} {:.4g}{}{} (used: {:.4g}){}", c.name, c.value, c.unit.empty() ? "" : " ", c.unit, c.used,
                       &c == &calibration.constants.back() ? "" : ",");
  return out + "\n";
}

namespace {

/// A disc if the class agrees, a cross if another one is simulated.
Figure drawn(const Sensitivity& sensitivity, const Scan& scan) {
  Series holds, other;
  holds.name = "the published class";
  holds.symbol = Series::Symbol::kDisc;
  other.name = "another class";
  other.symbol = Series::Symbol::kCross;
  Figure f;
  for (std::size_t row = 0; row < sensitivity.rows.size(); ++row) {
    f.y.ticks.emplace_back(static_cast<double>(row), sensitivity.rows[row]);
    for (std::size_t v = 0; v < scan.values.size(); ++v) {
      Series& s = scan.holds[row][v] ? holds : other;
      s.x.push_back(scan.values[v]);
      s.y.push_back(static_cast<double>(row));
    }
  }
  f.id = fmt::format("sensitivity.{}", scan.constant->name);
  f.title = fmt::format("Table 3 over {}", scan.constant->name);
  f.caption = fmt::format(
      "{}. Five-fold: only this constant is fitted to the rows of four folds; the others keep the values fitted with "
      "all twelve. {} of {} rows match.",
      scan.constant->what, scan.held_out(), sensitivity.rows.size());
  f.x.text = scan.constant->unit.empty() ? std::string(scan.constant->name)
                                         : fmt::format("{} ({})", scan.constant->name, scan.constant->unit);
  f.y.text = "reservation";
  f.y.min = -0.7;
  f.y.max = static_cast<double>(sensitivity.rows.size()) - 0.3;
  f.marks.push_back({Mark::Axis::kX, scan.used, {}, fmt::format("used: {:.4g}", scan.used), false});
  f.series = {std::move(holds), std::move(other)};
  return f;
}

std::vector<Figure> drawn(const Sensitivity& sensitivity) {
  std::vector<Figure> figures;
  for (const Scan& scan : sensitivity.scans) figures.push_back(drawn(sensitivity, scan));
  return figures;
}

/// The range of a constant over which the class of a row agrees.
struct HoldsOver {
  std::string row;
  Scan::Range range;
};
struct ScanOf {
  const Sensitivity& all;
  const Scan& scan;

  std::vector<HoldsOver> ranges() const {
    std::vector<HoldsOver> out;
    for (std::size_t row = 0; row < all.rows.size(); ++row)
      if (const Scan::Range range = scan.range(row); range.any) out.push_back({all.rows[row], range});
    return out;
  }
};
std::vector<ScanOf> scans_of(const Sensitivity& s) {
  std::vector<ScanOf> out;
  for (const Scan& scan : s.scans) out.push_back({s, scan});
  return out;
}

using HoldsOverRows = record::Written<HoldsOver>;
constexpr record::Row kHoldsRows[] = {
    HoldsOverRows::of<&HoldsOver::row>("row", "", "row of Table 3"),
    HoldsOverRows::of<&HoldsOver::range, &Scan::Range::low>("low", "", "first value over which its class holds"),
    HoldsOverRows::of<&HoldsOver::range, &Scan::Range::high>("high", "", "last value over which its class holds"),
    HoldsOverRows::of<&HoldsOver::range, &Scan::Range::from_end>("low_is_end", "",
                                                                 "whether low is the first value scanned"),
    HoldsOverRows::of<&HoldsOver::range, &Scan::Range::to_end>("high_is_end", "",
                                                               "whether high is the last value scanned"),
};
constexpr record::Table kHolds{kHoldsRows};
using ScanRows = record::Written<ScanOf>;
constexpr record::Row kScanRows[] = {
    ScanRows::of("name", "", "name of the constant", [](const ScanOf& s) { return s.scan.constant->name; }),
    ScanRows::of("what", "", "meaning of the constant", [](const ScanOf& s) { return s.scan.constant->what; }),
    ScanRows::of("unit", "", "unit of the constant", [](const ScanOf& s) { return s.scan.constant->unit; }),
    ScanRows::of("fitted", "", "whether it was fitted", [](const ScanOf& s) { return s.scan.constant->fitted; }),
    ScanRows::of("used", "", "the model's value", [](const ScanOf& s) { return s.scan.used; }),
    ScanRows::of("values", "", "scanned values", [](const ScanOf& s) { return s.scan.values; }),
    ScanRows::part("holds_over", kHolds, [](const ScanOf& s) { return s.ranges(); }),
    ScanRows::of("five_fold.right", "", "rows that match when it is fitted to four of five folds",
                 [](const ScanOf& s) { return s.scan.held_out(); }),
    ScanRows::of("five_fold.of", "", "rows", [](const ScanOf& s) { return s.all.rows.size(); }),
};
constexpr record::Table kScan{kScanRows};
using SensitivityRows = record::Written<Sensitivity>;
constexpr record::Row kSensitivityRows[] = {
    SensitivityRows::of<&Sensitivity::rows>("rows", "", "rows of Table 3"),
    SensitivityRows::part("constants", kScan, [](const Sensitivity& s) { return scans_of(s); }),
    SensitivityRows::part("figures", kFigure, [](const Sensitivity& s) { return drawn(s); })
        .described_apart("a figure for each constant"),
};
using ConstantRows = record::Written<Calibration::Constant>;
constexpr record::Row kConstantRows[] = {
    ConstantRows::of<&Calibration::Constant::name>("name", "", "name of the constant"),
    ConstantRows::of<&Calibration::Constant::unit>("unit", "", "unit of the constant"),
    ConstantRows::of<&Calibration::Constant::value>("found", "", "value found with Table 3 alone"),
    ConstantRows::of<&Calibration::Constant::used>("used", "", "the model's value"),
};
constexpr record::Table kConstant{kConstantRows};
using CalibrationRows = record::Written<Calibration>;
constexpr record::Row kCalibrationRows[] = {
    CalibrationRows::of<&Calibration::right>("right", "", "classes of Table 3 under these constants"),
    CalibrationRows::of<&Calibration::rows>("of", "", "rows of Table 3"),
    CalibrationRows::part<&Calibration::constants>("constants", kConstant),
};

}  // namespace

constexpr record::Table kCalibration{kCalibrationRows}, kSensitivity{kSensitivityRows};

std::string to_text(const Sensitivity& sensitivity) {
  std::string out;
  for (const Scan& scan : sensitivity.scans) {
    out +=
        fmt::format("{} = {:.4g} {}: {}\n", scan.constant->name, scan.used, scan.constant->unit, scan.constant->what);
    for (std::size_t row = 0; row < sensitivity.rows.size(); ++row)
      out += fmt::format("  {:9} {}\n", sensitivity.rows[row], shown(scan, scan.range(row)));
    out += fmt::format("  five-fold, the other constants as fitted with all rows: {} of {} rows\n", scan.held_out(),
                       sensitivity.rows.size());
  }
  return out;
}

}  // namespace offhook::reproduce
