// SPDX-License-Identifier: MIT
//
// Runs, stores and prints claims. A finished claim is a file in the output folder, named by its inputs (the program's
// own bytes, the data files, seed and repetitions), so an interrupted run resumes.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/base/output.h"
#include "src/lab/reproduce/registry.h"
#include "src/lab/reproduce/sensitivity.h"

namespace offhook::reproduce {

struct Settings {
  std::uint64_t seed = 1;
  unsigned repetitions = 10;
  unsigned threads = 1;
  Perturbation perturbation = {};
  bool (*stop)() = [] { return false; };  ///< called between runs
};

/// Identifies this program and its data by their contents. @throws std::runtime_error, config::Error
std::string program_and_data();
/// Identifies all inputs of a result except the claim itself. @throws std::runtime_error, config::Error
std::string identity(const Settings& settings);

/// @param share of this claim, 0 to 1
using ClaimProgress = std::function<void(double share, const std::string& detail)>;

/// A claim, and the result of its experiment.
struct ClaimResult {
  std::string id, title;
  std::string seed, at;  ///< paper, and place in it
  Grade grade = Grade::kHard;
  std::string standing;  ///< "agrees", "differs", "falls short", "inconsistent in the paper", "input", "no experiment"
  std::string summary;
  std::vector<JudgedRow> rows;
  std::vector<Figure> figures;
};

/// Run one claim.
/// @throws Interrupted; config::Error, also when the experiment left a published value unread
ClaimResult run_claim(const Claim& claim, const Settings& settings, const ClaimProgress& progress);
/// The input of an experiment. `progress` must outlive it.
Run run_of(const Published& published, const Settings& settings, const ClaimProgress& progress);

/// The claim's result from the folder, if it is complete and has this identity.
std::optional<ClaimResult> read_claim(const std::filesystem::path& folder, const Claim& claim,
                                      const std::string& identity);
void write_claim(const OutputFolder& folder, const ClaimResult& claim, const std::string& identity);

/// Counts for the last line, the exit status and the head of the page.
struct Totals {
  std::size_t claims = 0;
  /// Rows, and rows within their tolerance; for inputs, used as published.
  struct Count {
    std::size_t rows = 0, agree = 0;
    std::size_t hard = 0, hard_agree = 0;
  };
  /// By provenance, the strongest first. Inputs, which are not results, are last. Rows that are inconsistent in a paper
  /// are excluded.
  std::array<std::pair<std::string_view, Count>, 4> counts{{{to_string(Provenance::kIndependent), {}},
                                                            {to_string(Provenance::kCalibrated), {}},
                                                            {to_string(Provenance::kDerived), {}},
                                                            {to_string(Provenance::kInput), {}}}};
  Count& of(Provenance provenance);
  /// Without inputs: rows that a published value 20 % higher or lower would change, and those within tolerance.
  std::size_t sharp = 0, sharp_agree = 0;
  std::size_t paper = 0;
  std::vector<std::string> short_of;  ///< claims with a failing mandatory row or no experiment
  std::vector<std::string> missing;   ///< claims without an experiment
};
Totals totals(const std::vector<ClaimResult>& claims);
std::string sentence(const Totals& totals);

/// What --perturb changed, compared with the same claims without it.
struct Effect {
  std::size_t rows = 0, changed = 0;
  std::vector<std::string> unchanged;  ///< claims in which no row changed
  std::vector<std::string> decided;    ///< rows that agree only with the perturbation, or only without it
};
/// @param plain  the same claims, unperturbed
Effect effect_of(const std::vector<ClaimResult>& perturbed, const std::vector<ClaimResult>& plain);
/// @param perturbation  text of --perturb
std::string sentence(const Effect& effect, const std::string& perturbation);

/// results.json.
struct Results {
  std::uint64_t seed = 1;
  unsigned repetitions = 10;
  Totals totals;
  std::vector<ClaimResult> claims;
  std::string perturbed;  ///< text of --perturb; may be empty
  std::optional<Effect> effect;
  std::optional<Calibration> held_out;
  std::optional<Sensitivity> sensitivity;
};
extern const record::Table kResults;

std::string to_csv(const std::vector<ClaimResult>& claims);  ///< one line per row
/// A number with three or four digits, for people.
std::string shown(const Value& value);

}  // namespace offhook::reproduce
