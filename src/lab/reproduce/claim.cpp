// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/claim.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

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

/// A row of numbers. @param agrees  with this value published
template <typename Agrees>
Row number_row(std::string what, std::string unit, double published, double simulated, std::string tolerance,
               const Agrees& agrees) {
  constexpr double kOff = 0.2;
  Row row = make(std::move(what), std::move(unit), published, simulated, std::move(tolerance), agrees(published));
  row.sharp = !row.agrees || !agrees((1 + kOff) * published) || !agrees((1 - kOff) * published);
  return row;
}

nlohmann::ordered_json json(const Value& value) {
  if (value.number) {
    return std::isfinite(*value.number) ? nlohmann::ordered_json(*value.number) : nlohmann::ordered_json(nullptr);
  }
  return value.text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value.text);
}

nlohmann::ordered_json json(const Axis& axis) {
  nlohmann::ordered_json out{{"text", axis.text}, {"log", axis.log}};
  if (axis.min) out["min"] = *axis.min;
  if (axis.max) out["max"] = *axis.max;
  if (!axis.ticks.empty()) out["ticks"] = axis.ticks;
  return out;
}

/// An experiment cannot let a row pass as an input, or as the paper's own mistake, that is not judged to be one.
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

nlohmann::ordered_json figures_json(const std::vector<Figure>& figures) {
  using Json = nlohmann::ordered_json;
  static constexpr std::array kStyles = {"points", "line", "step", "bars"};
  static constexpr std::array kSymbols = {"dot", "disc", "ring", "half", "cross", "square", "triangle"};
  Json out = Json::array();
  for (const Figure& figure : figures) {
    Json f{{"id", figure.id},     {"title", figure.title},   {"caption", figure.caption}, {"x", json(figure.x)},
           {"y", json(figure.y)}, {"series", Json::array()}, {"marks", Json::array()}};
    for (const Series& s : figure.series) {
      Json one{{"name", s.name},
               {"style", kStyles.at(static_cast<std::size_t>(s.style))},
               {"published", s.published},
               {"symbol", kSymbols.at(static_cast<std::size_t>(s.symbol))},
               {"x", s.x},
               {"y", s.y}};
      if (!s.interval.empty()) one["interval"] = s.interval;
      if (!s.labels.empty()) one["labels"] = s.labels;
      if (s.bar_width > 0) one["bar_width"] = s.bar_width;
      if (s.variant > 0) one["variant"] = s.variant;
      f["series"].push_back(std::move(one));
    }
    for (const Mark& m : figure.marks) {
      Json one{{"axis", m.axis == Mark::Axis::kX ? "x" : "y"}, {"value", m.value}, {"text", m.text}};
      if (m.to) one["to"] = *m.to;
      if (!m.published) one["guide"] = true;
      f["marks"].push_back(std::move(one));
    }
    out.push_back(std::move(f));
  }
  return out;
}

nlohmann::ordered_json to_json(const Outcome& outcome, const Published& claim) {
  using Json = nlohmann::ordered_json;
  Json out{{"summary", outcome.summary}, {"rows", Json::array()}};
  for (const Row& row : outcome.rows) {
    const Judgement& judgement = judgement_of(row, claim);
    for (const std::string& hinge : judgement.hinges) (void)constant(hinge);  // that exists
    out["rows"].push_back({{"what", row.what},
                           {"unit", row.unit},
                           {"published", json(row.published)},
                           {"simulated", json(row.simulated)},
                           {"tolerance", row.tolerance},
                           {"grade", std::string(to_string(judgement.grade))},
                           {"provenance", std::string(to_string(judgement.provenance))},
                           {"because", judgement.because},
                           {"hinges", fmt::format("{}", fmt::join(judgement.hinges, ", "))},
                           {"agrees", row.agrees},
                           {"notices_20_percent", row.sharp},
                           {"note", row.note}});
  }
  out["figures"] = figures_json(outcome.figures);
  return out;
}

}  // namespace offhook::reproduce
