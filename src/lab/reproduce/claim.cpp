// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/claim.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace offhook::reproduce {

namespace {

Row make(std::string what, std::string unit, Value published, Value simulated, std::string tolerance, Grade grade,
         bool agrees) {
  return {std::move(what),
          std::move(unit),
          std::move(published),
          std::move(simulated),
          std::move(tolerance),
          grade,
          agrees,
          {}};
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

}  // namespace

Row within(std::string what, std::string unit, double published, double simulated, double tolerance, Grade grade) {
  return make(std::move(what), std::move(unit), published, simulated, fmt::format("within {:g}", tolerance), grade,
              std::abs(simulated - published) <= tolerance);
}

Row within_share(std::string what, std::string unit, double published, double simulated, double share, Grade grade) {
  return make(std::move(what), std::move(unit), published, simulated, fmt::format("within {:g} %", 100 * share), grade,
              std::abs(simulated - published) <= share * std::abs(published));
}

Row at_most(std::string what, std::string unit, double published, double simulated, Grade grade) {
  return make(std::move(what), std::move(unit), published, simulated, "at most", grade, simulated <= published);
}

Row at_least(std::string what, std::string unit, double published, double simulated, Grade grade) {
  return make(std::move(what), std::move(unit), published, simulated, "at least", grade, simulated >= published);
}

Row between(std::string what, std::string unit, double low, double high, double simulated, Grade grade) {
  return make(std::move(what), std::move(unit), fmt::format("{:g} to {:g}", low, high), simulated, "in the range",
              grade, simulated >= low && simulated <= high);
}

Row same(std::string what, std::string published, std::string simulated, Grade grade) {
  const bool agrees = published == simulated;
  return make(std::move(what), "", std::move(published), std::move(simulated), "the same", grade, agrees);
}

Row holds(std::string what, std::string published, Value simulated, bool so, Grade grade) {
  return make(std::move(what), "", std::move(published), std::move(simulated), "holds", grade, so);
}

Row input(std::string what, std::string unit, double published, double used, std::string where) {
  Row row = make(std::move(what), std::move(unit), published, used, "as published", Grade::kInput,
                 std::abs(published - used) <= 1e-9 * std::abs(published));
  row.note = std::move(where);
  return row;
}

Row input(std::string what, std::string published, std::string where) {
  Row row = make(std::move(what), "", std::move(published), Value(), "", Grade::kInput, true);
  row.note = std::move(where);
  return row;
}

Row paper_only(std::string what, std::string unit, Value published, Value simulated, std::string why) {
  Row row = make(std::move(what), std::move(unit), std::move(published), std::move(simulated), "", Grade::kPaper, true);
  row.note = std::move(why);
  return row;
}

nlohmann::ordered_json to_json(const Outcome& outcome) {
  using Json = nlohmann::ordered_json;
  static constexpr std::array kStyles = {"points", "line", "step", "bars"};
  static constexpr std::array kSymbols = {"dot", "disc", "ring", "half", "cross", "square", "triangle"};
  Json out{{"summary", outcome.summary}, {"rows", Json::array()}, {"figures", Json::array()}};
  for (const Row& row : outcome.rows) {
    out["rows"].push_back({{"what", row.what},
                           {"unit", row.unit},
                           {"published", json(row.published)},
                           {"simulated", json(row.simulated)},
                           {"tolerance", row.tolerance},
                           {"grade", std::string(to_string(row.grade))},
                           {"agrees", row.agrees},
                           {"note", row.note}});
  }
  for (const Figure& figure : outcome.figures) {
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
    out["figures"].push_back(std::move(f));
  }
  return out;
}

}  // namespace offhook::reproduce
