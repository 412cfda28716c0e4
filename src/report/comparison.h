// SPDX-License-Identifier: MIT
//
// Two results of one kind, value by value. The input is the JSON that the program itself wrote: a run's summary.json,
// a sweep's results.json, the JSON of `decode` or of `measure latency`, or many decoded calls of each of two modems.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "driver/base/record.h"

namespace offhook::comparison {

using Json = nlohmann::ordered_json;

enum class Kind { kRun, kSweep, kDecodedCall, kDecodedCalls, kLatency };

/// "run", "sweep", "decoded call", "decoded calls" or "latency".
std::string_view to_string(Kind kind);

/// A document that cannot be compared, or that lacks a required value.
class DocumentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @return the kind of a document, from the marker that its writer puts into it; nothing for other documents
std::optional<Kind> kind_of(const Json& document);

/// One quantity in both results. A missing value is null.
struct Row {
  std::string item;      ///< cell of a sweep, load of a measurement, direction of a call; empty: the whole result
  std::string quantity;  ///< key of the value, as in `offhook help keys json`
  std::string unit;      ///< empty: none, or a count
  Json a, b;             ///< number, word, Boolean or null

  bool equal() const { return a == b; }
  /// b - a.  @return nothing unless both are numbers
  std::optional<double> difference() const;
  /// b / a.  @return nothing unless both are numbers and a is not 0
  std::optional<double> ratio() const;
  /// Whether b differs from a by more than `percent` of a. Words either differ or are equal.
  bool beyond(double percent) const;
};

struct Comparison {
  Kind kind = Kind::kRun;
  std::string a, b;                  ///< names of the two results
  std::string headline;              ///< a sentence: the most important difference
  std::vector<std::string> reasons;  ///< further sentences
  std::vector<Row> rows;             ///< in the order of the documents, including equal ones
};

/// Compares two documents of one kind. @throws DocumentError
Comparison compare(Kind kind, const std::string& name_a, const Json& a, const std::string& name_b, const Json& b);

/// Compares two modems by many decoded calls of each. @throws DocumentError
/// @pre each list has at least one document of `offhook decode`
Comparison compare_calls(const std::string& name_a, std::span<const Json> a, const std::string& name_b,
                         std::span<const Json> b);

/// The probability of counts that are at least as unequal as these, if both probabilities of success are equal:
/// Fisher's exact test, two-sided (Fisher 1922).  @pre successes <= trials
double fisher_exact(std::size_t successes_a, std::size_t trials_a, std::size_t successes_b, std::size_t trials_b);

/// One row of CSV per quantity: item, quantity, unit, a, b, difference, ratio.
std::string to_csv(const Comparison& comparison);
extern const record::Table kComparison;

/// The page of `offhook compare`.
std::string comparison_page(const Comparison& comparison);

}  // namespace offhook::comparison
