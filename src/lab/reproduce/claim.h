// SPDX-License-Identifier: MIT
//
// A claim is a published result and an experiment that reproduces it in the simulator: rows of published and
// simulated values, and the paper's figures redrawn from simulation logs.
//
// To add one: its entry in a file of traces/data/published, a function Outcome(const Run&) in a file of this folder,
// and its line in the table of registry.cpp. Read every number from run.published, never type one in; every value of
// the claim has to be read (published.h). Simulations run in run.parallel(), and each writes into its own slot, so that
// the result is the same for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/base/record.h"
#include "src/lab/analysis/confidence.h"
#include "src/lab/reproduce/constants.h"
#include "src/lab/reproduce/published.h"

namespace offhook::reproduce {

/// A number or a few words. Neither if the paper has no value or the event did not occur.
struct Value {
  Value() = default;
  Value(double of) : number(of) {}
  Value(std::string of) : text(std::move(of)) {}
  Value(const char* of) : text(of) {}
  std::optional<double> number;
  std::string text;

  bool operator==(const Value&) const = default;
};

/// One published value and its counterpart.
struct Row {
  std::string what;  ///< "RES 3/16, mean of the complete runs"
  std::string unit;  ///< "ms"; may be empty
  Value published, simulated;
  std::string tolerance;  ///< as words: "within 0.2", "at most", "the same class"
  bool agrees = false;    ///< within the tolerance; for an input, the model uses the published value
  std::string note;       ///< a sentence: why it differs, or the use of an input. Required unless it agrees
  /// The row disagrees, or would disagree if the published value were 20 % higher or lower; also true for words, which
  /// cannot be varied.
  bool sharp = true;
  enum class Kind { kCompared, kInput, kPaper };
  Kind kind = Kind::kCompared;  ///< its origin, which must match claims.toml
};

// These functions create rows, so that `agrees` is always computed. Notes are added with `row.note = ...`. The
// experiment does not determine the weight of a row, or whether anything was fitted with it. Both are listed with the
// claim, by the row's `what` (Published::judgement()).
Row within(std::string what, std::string unit, double published, double simulated, double tolerance);
/// Tolerance as a share of the published value.
Row within_share(std::string what, std::string unit, double published, double simulated, double share);
/// For a single run of the paper: whether the published value is in the 95 % range of a further simulated run
/// (Student's t). Not reproduced if there are fewer than two runs.
Row as_one_run(std::string what, std::string unit, double published, const std::vector<double>& simulated);
Row at_most(std::string what, std::string unit, double published, double simulated);
Row at_least(std::string what, std::string unit, double published, double simulated);
/// Whether the simulated value is within [low, high], as published.
Row between(std::string what, std::string unit, double low, double high, double simulated);
/// Whether the words on both sides are equal.
Row same(std::string what, std::string published, std::string simulated);
/// A published statement, the simulated value, and whether the statement is true.
Row holds(std::string what, std::string published, Value simulated, bool so);
/// An input: the published value, the model's value, and the place where the model has it.
Row input(std::string what, std::string unit, double published, double used, std::string where);
Row input(std::string what, std::string published, std::string where);
/// The paper contradicts itself; `why` explains it.
Row paper_only(std::string what, std::string unit, Value published, Value simulated, std::string why);

/// One set of values in a figure.
struct Series {
  enum class Style { kPoints, kLine, kStep, kBars };
  enum class Symbol { kDot, kDisc, kRing, kHalf, kCross, kSquare, kTriangle };
  std::string name;
  Style style = Style::kPoints;
  bool published = false;  ///< from the paper; drawn differently from simulated data
  std::vector<double> x, y;
  /// Half width of the 95 % confidence interval of each y; empty: none.
  std::vector<double> interval;
  double bar_width = 0;  ///< kBars: each covers [x, x + bar_width)
  Symbol symbol = Symbol::kDot;
  std::vector<std::string> labels;  ///< next to each point; empty: none
  /// 1, 2: the colour of the last series with 0, with a dashed or dotted line. This groups series.
  unsigned variant = 0;
};

/// A value to mark in the figure: a line across it, or a band up to `to`.
struct Mark {
  enum class Axis { kX, kY };
  Axis axis = Axis::kY;
  double value = 0;
  std::optional<double> to;
  std::string text;       ///< "published: 1.8 ms"
  bool published = true;  ///< otherwise a visual aid: "an hour"
};

struct Axis {
  std::string text;  ///< with the unit: "time since dial-up began (s)"
  bool log = false;
  std::optional<double> min, max;                     ///< default: the range of the data
  std::vector<std::pair<double, std::string>> ticks;  ///< for categories; empty: numbers
};

struct Figure {
  std::string id;       ///< "jones.fig1"
  std::string title;    ///< title in the paper: "Figure 1: Rate of soft modem interrupts (INT)"
  std::string caption;  ///< what was simulated, and what the figure shows
  Axis x, y;
  std::vector<Series> series;
  std::vector<Mark> marks;
};

/// The result of an experiment.
struct Outcome {
  std::vector<Row> rows;
  std::vector<Figure> figures;
  std::string summary;  ///< one or two sentences: the runs, and the difference, if any
};

/// The input of an experiment.
struct Run {
  const Published& published;
  std::uint64_t seed = 1;
  unsigned repetitions = 10;  ///< number of repetitions in the paper, if any
  /// Runs job(0) ... job(n - 1), each once, on all cores, with progress. Jobs start in order: the longest first.
  /// @throws Interrupted, and exceptions of a job
  std::function<void(std::size_t n, const std::function<void(std::size_t)>& job)> parallel;
  Perturbation perturbation;  ///< of the modem's machine: the experiments of jones.* use it
};

struct Interrupted {};

struct Experiment {
  std::string id;                    ///< the claim's in claims.toml
  std::string title;                 ///< the subject, for people
  std::vector<std::string> figures;  ///< ids of the figures and tables that it reproduces: "jones.fig1"
  std::function<Outcome(const Run&)> run;
  double seconds = 1;       ///< approximate seconds on one core: for the progress bar and the remaining time
  bool on_request = false;  ///< it takes minutes: runs only if requested by name, or with all such claims
};

/// A row and the claim's judgement of it.
struct JudgedRow : Row {
  Grade grade = Grade::kHard;
  Provenance provenance = Provenance::kInput;
  std::string because;  ///< reason for the provenance
  std::string hinges;   ///< unpublished constants that affect `agrees`, separated by ", "
};

/// @param claim has the judgements of the rows
/// @throws config::Error for a row without a judgement, and for a row whose kind differs from its judgement
std::vector<JudgedRow> judged(std::vector<Row> rows, const Published& claim);

/// The drawn data of a figure, and a row of a claim; both can be read back.
extern const record::Table kFigure, kJudgedRow;

}  // namespace offhook::reproduce
