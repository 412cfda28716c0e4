// SPDX-License-Identifier: MIT
//
// traces/data/published/*.toml: the papers' published results, as numbers. One source for every comparison.
//
// Parsed strictly. Each claim has an id, its paper, the place there and a grade, and judges the rows of its
// experiment. All its other values are read by that experiment, and a value that no experiment reads is an error
// (unread()), so that no published value can be left out by oversight.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "traces/scenario/document.h"

namespace offhook::reproduce {

enum class Grade {
  kHard,   ///< the simulation must reproduce it within the tolerance
  kSoft,   ///< shown side by side; a difference is reported but has no consequence
  kInput,  ///< a measured property of the machine: an input of the model, not a result
  kPaper,  ///< inconsistent within the paper: reported, nothing required
};
inline constexpr std::array<std::string_view, 4> kGrades = {"hard", "soft", "input", "paper"};
std::string_view to_string(Grade grade);

/// The origin of a simulated value, which determines how strong the evidence of agreement is.
enum class Provenance {
  kInput,        ///< input of the model, printed again. Not a result
  kCalibrated,   ///< a constant was fitted with it or with similar values
  kDerived,      ///< arithmetic on inputs
  kIndependent,  ///< no constant was fitted with it or with similar values
};
inline constexpr std::array<std::string_view, 4> kProvenances = {"input", "calibrated", "derived", "independent"};
std::string_view to_string(Provenance provenance);

/// The weight of a claim's rows, from its list `judged`, and never from code.
struct Judgement {
  std::string what;  ///< the rows' `what`; * matches any text
  Grade grade = Grade::kHard;
  Provenance provenance = Provenance::kInput;
  std::string because;              ///< the fit that used it, or the value from which it follows
  std::vector<std::string> hinges;  ///< unpublished constants for which another plausible value changes that
  std::string position;             ///< file:line:column
};

/// A claim, or a table in one. Cheap to copy. Copies share the record of the values that were read. Thread-safe.
class Published {
 public:
  /// @throws config::Error naming file, line and claim for a path that does not exist or has another type.
  /// @param path of keys, such as "on_hook.period_ms"
  double number(std::string_view path) const;
  std::vector<double> numbers(std::string_view path) const;
  std::string text(std::string_view path) const;
  std::vector<std::string> texts(std::string_view path) const;
  /// A list of tables.
  std::vector<Published> rows(std::string_view path) const;
  Published table(std::string_view path) const;
  bool has(std::string_view path) const;

  const std::string& id() const;    ///< "jones.table3"
  const std::string& seed() const;  ///< the paper's file
  const std::string& at() const;    ///< section, table or figure in the paper
  Grade grade() const;
  /// The first judgement of a row with this name. @throws config::Error if there is none
  const Judgement& judgement(std::string_view what) const;
  /// Paths of the values that were not read, in the order of the file's keys; then judgements without a row.
  std::vector<std::string> unread() const;

  struct Claim;

 private:
  friend std::vector<Published> read_published(config::Document document);
  Published(std::shared_ptr<Claim> claim, std::string prefix) : claim_(std::move(claim)), prefix_(std::move(prefix)) {}
  std::shared_ptr<Claim> claim_;
  std::string prefix_;
};

/// @throws config::Error with file:line:column
std::vector<Published> read_published(config::Document document);
/// The claims of every file in traces/data/published, in the order of the files' names. @throws config::Error
std::vector<Published> load_published();
/// The claim with this id. @throws config::Error if there is none
Published load_published(std::string_view id);

}  // namespace offhook::reproduce
