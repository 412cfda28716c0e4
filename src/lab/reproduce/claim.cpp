// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/claim.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace offhook::reproduce {

namespace {

Row make(std::string what, std::string unit, Value published, Value simulated, std::string tolerance, bool agrees) {
  return {std::move(what),
          std::move(unit),
          std::move(published),
          std::move(simulated),
          std::move(tolerance),
          agrees,
          {},
          true,
          Row::Kind::kCompared};
}

/// A row of numbers. @param agrees  whether it agrees with this published value
template <typename Agrees>
Row number_row(std::string what, std::string unit, double published, double simulated, std::string tolerance,
               const Agrees& agrees) {
  constexpr double kOff = 0.2;
  Row row = make(std::move(what), std::move(unit), published, simulated, std::move(tolerance), agrees(published));
  row.sharp = !row.agrees || !agrees((1 + kOff) * published) || !agrees((1 - kOff) * published);
  return row;
}

/// An experiment must not pass a row as an input or as the paper's mistake unless the claim has the same judgement.
const Judgement& judgement_of(const Row& row, const Published& claim) {
  const Judgement& judgement = claim.judgement(row.what);
  const bool input = judgement.provenance == Provenance::kInput, paper = judgement.grade == Grade::kPaper;
  const bool as_made = row.kind == Row::Kind::kInput ? input : row.kind == Row::Kind::kPaper ? paper : !paper;
  if (as_made) return judgement;
  throw config::Error(fmt::format("{}: the experiment reports \"{}\" as {}, but it is listed as {}, {}",
                                  judgement.position, row.what,
                                  row.kind == Row::Kind::kInput   ? "an input"
                                  : row.kind == Row::Kind::kPaper ? "inconsistent in the paper"
                                                                  : "a comparison",
                                  to_string(judgement.grade), to_string(judgement.provenance)));
}

}  // namespace

Row within(std::string what, std::string unit, double published, double simulated, double tolerance) {
  return number_row(std::move(what), std::move(unit), published, simulated, fmt::format("within {:g}", tolerance),
                    [&](double value) { return std::abs(simulated - value) <= tolerance; });
}

Row within_share(std::string what, std::string unit, double published, double simulated, double share) {
  return number_row(std::move(what), std::move(unit), published, simulated, fmt::format("within {:g} %", 100 * share),
                    [&](double value) { return std::abs(simulated - value) <= share * std::abs(value); });
}

Row as_one_run(std::string what, std::string unit, double published, const std::vector<double>& simulated) {
  const MeanInterval m = mean_interval(simulated);
  const double half_width = m.half_width * std::sqrt(static_cast<double>(m.n) + 1);
  return number_row(std::move(what), std::move(unit), published, m.mean,
                    fmt::format("one run is within {:.1f}", half_width),
                    [&](double value) { return std::abs(m.mean - value) <= half_width; });
}

Row at_most(std::string what, std::string unit, double published, double simulated) {
  return number_row(std::move(what), std::move(unit), published, simulated, "at most",
                    [&](double value) { return simulated <= value; });
}

Row at_least(std::string what, std::string unit, double published, double simulated) {
  return number_row(std::move(what), std::move(unit), published, simulated, "at least",
                    [&](double value) { return simulated >= value; });
}

Row between(std::string what, std::string unit, double low, double high, double simulated) {
  Row row = number_row(std::move(what), std::move(unit), 1, simulated, "in the range",
                       [&](double factor) { return simulated >= factor * low && simulated <= factor * high; });
  row.published = fmt::format("{:g} to {:g}", low, high);
  return row;
}

Row same(std::string what, std::string published, std::string simulated) {
  const bool agrees = published == simulated;
  return make(std::move(what), "", std::move(published), std::move(simulated), "the same", agrees);
}

Row holds(std::string what, std::string published, Value simulated, bool so) {
  return make(std::move(what), "", std::move(published), std::move(simulated), "holds", so);
}

Row input(std::string what, std::string unit, double published, double used, std::string where) {
  Row row = make(std::move(what), std::move(unit), published, used, "as published",
                 std::abs(published - used) <= 1e-9 * std::abs(published));
  row.note = std::move(where);
  row.kind = Row::Kind::kInput;
  return row;
}

Row input(std::string what, std::string published, std::string where) {
  Row row = make(std::move(what), "", std::move(published), Value(), "", true);
  row.note = std::move(where);
  row.kind = Row::Kind::kInput;
  return row;
}

Row paper_only(std::string what, std::string unit, Value published, Value simulated, std::string why) {
  Row row = make(std::move(what), std::move(unit), std::move(published), std::move(simulated), "", true);
  row.note = std::move(why);
  row.kind = Row::Kind::kPaper;
  return row;
}

std::vector<JudgedRow> judged(std::vector<Row> rows, const Published& claim) {
  std::vector<JudgedRow> out;
  for (Row& row : rows) {
    const Judgement& judgement = judgement_of(row, claim);
    for (const std::string& hinge : judgement.hinges) (void)constant(hinge);  // that exists
    for (Value* value : {&row.published, &row.simulated})
      if (value->number && !std::isfinite(*value->number)) *value = {};
    out.push_back({std::move(row), judgement.grade, judgement.provenance, judgement.because,
                   fmt::format("{}", fmt::join(judgement.hinges, ", "))});
  }
  return out;
}

namespace {

constexpr std::array kStyles = {"points", "line", "step", "bars"};
constexpr std::array kSymbols = {"dot", "disc", "ring", "half", "cross", "square", "triangle"};
constexpr std::array kAxes = {"x", "y"};

/// A member whose value is one of a list of words.
template <auto Member, const auto& kWords, typename Subject>
constexpr record::Row word_row(std::string_view key, std::string_view what) {
  using R = record::Rows<Subject>;
  record::Row row =
      R::of(key, "", what, [](const Subject& s) { return kWords.at(static_cast<std::size_t>(s.*Member)); });
  row.set = [](void* s, const record::Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    const auto found = text == nullptr ? kWords.end() : std::find(kWords.begin(), kWords.end(), *text);
    if (found == kWords.end()) return false;
    auto& member = static_cast<Subject*>(s)->*Member;
    member = static_cast<std::decay_t<decltype(member)>>(found - kWords.begin());
    return true;
  };
  row.optional = false;
  return row;
}

/// A number, words, or null.
template <Value Row::*Member>
constexpr record::Row value_row(std::string_view key, std::string_view what) {
  record::Row row = record::Rows<JudgedRow>::of(key, "", what, [](const JudgedRow& r) {
    const Value& value = r.*Member;
    return value.number         ? record::Value(*value.number)
           : value.text.empty() ? record::Value()
                                : record::Value(value.text);
  });
  row.set = [](void* s, const record::Value& value) {
    Value& member = static_cast<JudgedRow*>(s)->*Member;
    if (const auto* text = std::get_if<std::string>(&value)) return member = Value(*text), true;
    member = {};
    return record::assign(member.number, value);
  };
  return row.or_null();
}

using AxisRows = record::Rows<Axis>;
constexpr record::Row kAxisRows[] = {
    AxisRows::of<&Axis::text>("text", "", "quantity and unit"),
    AxisRows::of<&Axis::log>("log", "", "whether it is logarithmic"),
    AxisRows::of<&Axis::min>("min", "", "first value of the axis").absent("by the data"),
    AxisRows::of<&Axis::max>("max", "", "last value of the axis").absent("by the data"),
    AxisRows::of<&Axis::ticks>("ticks", "", "values and names of categories")
        .absent_if_0("numbers")
        .with(&record::Row::list, 2),  // of pairs
};
constexpr record::Table kAxis{kAxisRows};
using SeriesRows = record::Rows<Series>;
constexpr record::Row kSeriesRows[] = {
    SeriesRows::of<&Series::name>("name", "", "name in the legend"),
    word_row<&Series::style, kStyles, Series>("style", "points, line, step or bars"),
    SeriesRows::of<&Series::published>("published", "", "whether the values are the paper's"),
    word_row<&Series::symbol, kSymbols, Series>("symbol", "shape of its points"),
    SeriesRows::of<&Series::x>("x", "", "values on the first axis"),
    SeriesRows::of<&Series::y>("y", "", "values on the second axis"),
    SeriesRows::of<&Series::interval>("interval", "", "half width of each 95 % confidence interval").absent_if_0(),
    SeriesRows::of<&Series::labels>("labels", "", "text at each point").absent_if_0(),
    SeriesRows::of<&Series::bar_width>("bar_width", "", "width of a bar").absent_if_0(),
    SeriesRows::of<&Series::variant>("variant", "", "1 or 2: colour of the last series with 0").absent_if_0(),
};
constexpr record::Table kSeries{kSeriesRows};
using MarkRows = record::Rows<Mark>;
constexpr record::Row guide_row() {
  record::Row row = MarkRows::of("guide", "", "whether it is a help for the eye, not the paper's",
                                 [](const Mark& m) { return !m.published; });
  row.set = [](void* s, const record::Value& value) {
    const bool* guide = std::get_if<bool>(&value);
    static_cast<Mark*>(s)->published = guide == nullptr || !*guide;
    return guide != nullptr;
  };
  return row.absent_if_0();
}
constexpr record::Row kMarkRows[] = {
    word_row<&Mark::axis, kAxes, Mark>("axis", "x or y"),
    MarkRows::of<&Mark::value>("value", "", "position of the mark, or start of a band"),
    MarkRows::of<&Mark::text>("text", "", "name of the mark"),
    MarkRows::of<&Mark::to>("to", "", "end of the band").absent("the mark is a line"),
    guide_row(),
};
constexpr record::Table kMark{kMarkRows};
using FigureRows = record::Rows<Figure>;
constexpr record::Row kFigureRows[] = {
    FigureRows::of<&Figure::id>("id", "", "name of the figure"),
    FigureRows::of<&Figure::title>("title", "", "the paper's title"),
    FigureRows::of<&Figure::caption>("caption", "", "the simulation, and its message"),
    FigureRows::part<&Figure::x>("x", kAxis).means("first axis"),
    FigureRows::part<&Figure::y>("y", kAxis).means("second axis"),
    FigureRows::part<&Figure::series>("series", kSeries).means("sets of values"),
    FigureRows::part<&Figure::marks>("marks", kMark).means("marked values"),
};
using JudgedRows = record::Rows<JudgedRow>;
constexpr record::Row kJudgedRows[] = {
    JudgedRows::of<&JudgedRow::what>("what", "", "compared quantity"),
    JudgedRows::of<&JudgedRow::unit>("unit", "", "unit of the two values"),
    value_row<&Row::published>("published", "the paper's value; null: none"),
    value_row<&Row::simulated>("simulated", "simulated value; null: none"),
    JudgedRows::of<&JudgedRow::tolerance>("tolerance", "", "greatest permitted difference, in words"),
    word_row<&JudgedRow::grade, kGrades, JudgedRow>("grade", "hard, soft, input or paper: meaning of a difference"),
    word_row<&JudgedRow::provenance, kProvenances, JudgedRow>(
        "provenance",
        "independent, calibrated, derived or input: whether the simulation could have contradicted the value"),
    JudgedRows::of<&JudgedRow::because>("because", "", "reason for the provenance"),
    JudgedRows::of<&JudgedRow::hinges>("hinges", "", "unpublished constants on which `agrees` depends"),
    JudgedRows::of<&JudgedRow::agrees>("agrees", "", "whether the values are within the tolerance"),
    JudgedRows::of<&JudgedRow::sharp>("notices_20_percent", "",
                                      "whether `agrees` would change if the published value were 20 % off"),
    JudgedRows::of<&JudgedRow::note>("note", "", "remark on the run, or reason for a difference"),
};

}  // namespace

constexpr record::Table kFigure{kFigureRows, "figure"}, kJudgedRow{kJudgedRows};

}  // namespace offhook::reproduce
