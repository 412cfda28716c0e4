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

/// A number or a few words; neither if the paper has no value, or the event did not occur.
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
  std::string tolerance;  ///< in words: "within 0.2", "at most", "the same class"
  bool agrees = false;    ///< within the tolerance; for an input: the model uses the published value
  std::string note;       ///< a sentence: why it differs, or the use of an input. Required if !agrees
  /// The row disagrees, or would disagree if the published value were 20 % higher or lower; true for words, which
  /// cannot be varied.
  bool sharp = true;
  enum class Kind { kCompared, kInput, kPaper };
  Kind kind = Kind::kCompared;  ///< its origin, which must match claims.toml
};

// These functions make rows, so that `agrees` is always computed. Notes are added with `row.note = ...`. The weight of
// a row, and whether anything was fitted with it, is independent of the experiment: both are listed with the claim, by
// the row's `what` (Published::judgement()).
Row within(std::string what, std::string unit, double published, double simulated, double tolerance);
/// Tolerance as a share of the published value.
Row within_share(std::string what, std::string unit, double published, double simulated, double share);
/// For a single run of the paper: the published value is in the 95 % range of one more simulated run (Student's t).
/// Falls short with fewer than two runs.
Row as_one_run(std::string what, std::string unit, double published, const std::vector<double>& simulated);
Row at_most(std::string what, std::string unit, double published, double simulated);
Row at_least(std::string what, std::string unit, double published, double simulated);
/// Simulated lies in [low, high], as published.
Row between(std::string what, std::string unit, double low, double high, double simulated);
/// The same words on both sides.
Row same(std::string what, std::string published, std::string simulated);
/// A published sentence, the simulated value, and whether the sentence holds.
Row holds(std::string what, std::string published, Value simulated, bool so);
/// An input: the published value, the one that the model uses, and its place.
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
  bool published = false;  ///< from the paper: drawn differently from simulated data
  std::vector<double> x, y;
  /// Half width of the 95 % confidence interval of each y; empty: none.
  std::vector<double> interval;
  double bar_width = 0;  ///< kBars: each covers [x, x + bar_width)
  Symbol symbol = Symbol::kDot;
  std::vector<std::string> labels;  ///< next to each point; empty: none
  /// 1, 2: the colour of the last series with 0, its line dashed or dotted. This groups series.
  unsigned variant = 0;
};

/// A value to mark in the figure: a line across it, or a band up to `to`.
struct Mark {
  enum class Axis { kX, kY };
  Axis axis = Axis::kY;
  double value = 0;
  std::optional<double> to;
  std::string text;       ///< "published: 1.8 ms"
  bool published = true;  ///< else a help for the eye: "an hour"
};

struct Axis {
  std::string text;  ///< with the unit: "time since dial-up began (s)"
  bool log = false;
  std::optional<double> min, max;                     ///< default: the range of the data
  std::vector<std::pair<double, std::string>> ticks;  ///< for categories; empty: numbers
};

struct Figure {
  std::string id;       ///< "jones.fig1"
  std::string title;    ///< the paper's: "Figure 1: Rate of soft modem interrupts (INT)"
  std::string caption;  ///< the simulation, and its message
  Axis x, y;
  std::vector<Series> series;
  std::vector<Mark> marks;
};

/// The result of an experiment.
struct Outcome {
  std::vector<Row> rows;
  std::vector<Figure> figures;
  std::string summary;  ///< a sentence or two: the runs, and the difference, if there is one
};

/// The input of an experiment.
struct Run {
  const Published& published;
  std::uint64_t seed = 1;
  unsigned repetitions = 10;  ///< if the paper repeated
  /// job(0) ... job(n - 1), each once, over the cores, with progress. Jobs are begun in order: the longest first.
  /// @throws Interrupted, and exceptions of a job
  std::function<void(std::size_t n, const std::function<void(std::size_t)>& job)> parallel;
  Perturbation perturbation;  ///< of the modem's machine: the experiments of jones.* run under it
};

struct Interrupted {};

struct Experiment {
  std::string id;                    ///< the claim's in claims.toml
  std::string title;                 ///< the subject, for people
  std::vector<std::string> figures;  ///< ids of the figures and tables that it makes again: "jones.fig1"
  std::function<Outcome(const Run&)> run;
  double seconds = 1;       ///< about what it takes on one core: for the bar and the time left
  bool on_request = false;  ///< it takes minutes: only if requested by its own name, or together with all such
};

/// A row and what its claim says about it.
struct JudgedRow : Row {
  Grade grade = Grade::kHard;
  Provenance provenance = Provenance::kInput;
  std::string because;  ///< reason for the provenance
  std::string hinges;   ///< unpublished constants on which `agrees` depends, separated by ", "
};

/// @param claim whose judgements the rows get
/// @throws config::Error for a row without a judgement, and for a row whose kind differs from its judgement
std::vector<JudgedRow> judged(std::vector<Row> rows, const Published& claim);

/// The drawn data of a figure, and a row of a claim; both can be read back.
extern const record::Table kFigure, kJudgedRow;

}  // namespace offhook::reproduce
