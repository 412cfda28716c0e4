// SPDX-License-Identifier: MIT
//
// Runs, stores and prints claims. A finished claim is a file in the output folder, named by its inputs (the program's
// own bytes, the data files, seed and repetitions), so an interrupted run resumes.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/base/output.h"
#include "src/lab/reproduce/registry.h"

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

/// Run one claim. @return its results as JSON: head, standing, rows, figures
/// @throws Interrupted; config::Error, also when the experiment left a published value unread
nlohmann::ordered_json run_claim(const Claim& claim, const Settings& settings, const ClaimProgress& progress);
/// The input of an experiment, from these. `progress` has to outlive it.
Run run_of(const Published& published, const Settings& settings, const ClaimProgress& progress);

/// The claim's result in the folder if it is complete and has this identity, else null.
nlohmann::ordered_json read_claim(const std::filesystem::path& folder, const Claim& claim, const std::string& identity);
void write_claim(const OutputFolder& folder, const nlohmann::ordered_json& claim, const std::string& identity);

/// Counts for the last line, the exit status and the head of the page.
struct Totals {
  std::size_t claims = 0;
  /// Rows, and those within their tolerance; of an input, used as published.
  struct Count {
    std::size_t rows = 0, agree = 0;
    std::size_t hard = 0, hard_agree = 0;
  };
  /// By provenance, the strongest first; inputs, which are no results, last. Rows that are inconsistent in a
  /// paper are excluded.
  std::array<std::pair<std::string_view, Count>, 4> counts{{{to_string(Provenance::kIndependent), {}},
                                                            {to_string(Provenance::kCalibrated), {}},
                                                            {to_string(Provenance::kDerived), {}},
                                                            {to_string(Provenance::kInput), {}}}};
  Count& of(std::string_view provenance);
  /// Without inputs: rows that a published value 20 % off would change, and those of them within their tolerance.
  std::size_t sharp = 0, sharp_agree = 0;
  std::size_t paper = 0;
  std::vector<std::string> short_of;  ///< claims with a hard row that does not agree, or hard and without experiment
  std::vector<std::string> missing;   ///< claims without an experiment
};
Totals totals(const nlohmann::ordered_json& claims);
nlohmann::ordered_json to_json(const Totals& totals);
std::string sentence(const Totals& totals);

std::string to_csv(const nlohmann::ordered_json& claims);  ///< one line per row
/// A number with three or four digits, for people.
std::string shown(const nlohmann::ordered_json& value);

}  // namespace offhook::reproduce
