// SPDX-License-Identifier: MIT
#include "src/report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "driver/base/csv.h"
#include "driver/base/json.h"
#include "src/page/page.h"
#include "src/report/run_summary.h"
#include "src/report/words.h"

namespace offhook::comparison {
namespace {

constexpr double kPercent = 100;

/// The member of an object, or null.
const Json& member(const Json& object, const std::string& key) {
  static const Json kNull;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : kNull;
}

std::string word(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

/// A value for a sentence: numbers have six significant digits.
std::string shown(const Json& value) {
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return word(value);
}

/// The unit of each path of a table: "figures.latency.max_us" -> "us".
void units_of(const record::Table& table, const std::string& path, std::map<std::string, std::string>& units) {
  for (const record::Row& row : table.rows) {
    const std::string key = row.key.empty() ? path
                            : path.empty()  ? std::string(row.key)
                                            : path + "." + std::string(row.key);
    if (row.table != nullptr) {
      units_of(*row.table, key, units);
    } else {
      units[key] = row.unit;
    }
  }
}

/// All numbers, words and Boolean values of a document by their paths. Lists are not compared.
void leaves(const Json& value, const std::string& path, std::vector<std::pair<std::string, Json>>& out) {
  if (value.is_object()) {
    for (const auto& [key, part] : value.items()) leaves(part, path.empty() ? key : path + "." + key, out);
  } else if (!value.is_array()) {
    out.emplace_back(path, value);
  }
}

/// Rows of two lists of named values, in the order of the first; values that only the second one has are last.
void append_rows(const std::string& item, const std::vector<std::pair<std::string, Json>>& a,
                 const std::vector<std::pair<std::string, Json>>& b, const std::map<std::string, std::string>& units,
                 std::vector<Row>& rows) {
  std::map<std::string, Json> in_b(b.begin(), b.end());
  const auto unit = [&units](const std::string& key) {
    const auto found = units.find(key);
    return found == units.end() ? std::string() : found->second;
  };
  for (const auto& [key, value] : a) {
    const auto found = in_b.find(key);
    rows.push_back({item, key, unit(key), value, found == in_b.end() ? Json() : found->second});
    if (found != in_b.end()) in_b.erase(found);
  }
  for (const auto& [key, value] : b)
    if (in_b.contains(key)) rows.push_back({item, key, unit(key), Json(), value});
}

std::size_t differing(const std::vector<Row>& rows) {
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const Row& r) { return !r.equal(); }));
}

std::string count_sentence(const std::vector<Row>& rows) {
  const std::size_t n = differing(rows);
  return n == 0 ? fmt::format("All {} quantities are equal.", rows.size())
                : fmt::format("{} of {} quantities differ.", n, rows.size());
}

void compare_runs(Comparison& c, const Json& a, const Json& b) {
  static const std::set<std::string> kNotCompared = {"offhook_summary", "version", "headline"};
  std::map<std::string, std::string> units;
  units_of(kRunSummary, "", units);
  std::vector<std::pair<std::string, Json>> in_a, in_b;
  leaves(a, "", in_a);
  leaves(b, "", in_b);
  for (const auto& [list, run] : {std::pair(&in_a, &a), std::pair(&in_b, &b)}) {
    const bool complete = member(*run, "complete") != Json(false);
    std::erase_if(*list, [complete](const auto& leaf) {  // a file that did not arrive has no transfer time
      return kNotCompared.contains(leaf.first) || (!complete && leaf.first == "transfer_s");
    });
  }
  append_rows("", in_a, in_b, units, c.rows);
  const std::string of_a = word(member(a, "verdict")), of_b = word(member(b, "verdict"));
  if (of_a.empty() || of_b.empty()) {
    c.headline = count_sentence(c.rows);
    return;
  }
  c.headline =
      of_a == of_b ? fmt::format("Both runs are {}.", of_a) : fmt::format("{} is {}, {} is {}.", c.a, of_a, c.b, of_b);
  c.reasons.push_back(count_sentence(c.rows));
  for (const auto& [name, run] : {std::pair(c.a, &a), std::pair(c.b, &b)})
    if (const std::string said = word(member(*run, "headline")); !said.empty())
      c.reasons.push_back(fmt::format("{}: {}", name, said));
}

const std::map<std::string, std::string>& cell_units() {
  static const std::map<std::string, std::string> kUnits = {
      {"transfer_mean_s", "s"}, {"transfer_max_s", "s"}, {"pending_max_samples", "samples"}};
  return kUnits;
}

void compare_sweeps(Comparison& c, const Json& a, const Json& b) {
  std::map<std::string, const Json*> in_b;
  for (const Json& cell : member(b, "cells")) in_b[word(member(cell, "name"))] = &cell;
  std::vector<std::string> changed, only_a, only_b;
  std::size_t both = 0;
  const auto values = [](const Json& cell) {
    std::vector<std::pair<std::string, Json>> out;
    for (const char* key : {"verdict", "runs", "complete", "transfer_mean_s", "transfer_max_s", "pending_max_samples",
                            "blocks_late", "frames_retransmitted"})
      out.emplace_back(key, member(cell, key));
    return out;
  };
  for (const Json& cell : member(a, "cells")) {
    const std::string name = word(member(cell, "name"));
    const auto found = in_b.find(name);
    if (found == in_b.end()) {
      only_a.push_back(name);
      continue;
    }
    ++both;
    append_rows(name, values(cell), values(*found->second), cell_units(), c.rows);
    const std::string was = word(member(cell, "verdict")), is = word(member(*found->second, "verdict"));
    if (was != is) changed.push_back(fmt::format("{} ({}, then {})", name, was, is));
    in_b.erase(found);
  }
  for (const Json& cell : member(b, "cells"))
    if (in_b.contains(word(member(cell, "name")))) only_b.push_back(word(member(cell, "name")));
  c.headline = both == 0         ? "The two sweeps have no cell in common."
               : changed.empty() ? fmt::format("The class of {} is the same in both sweeps.", counted(both, "cell"))
                                 : fmt::format("{} of {} cells changed class.", changed.size(), both);
  constexpr std::size_t kMostNamed = 24;
  const auto name_them = [&c](const std::string& what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    c.reasons.push_back(names.size() <= kMostNamed ? fmt::format("{}: {}.", what, listed(names))
                                                   : fmt::format("{}: {} cells.", what, names.size()));
  };
  name_them("Changed class", changed);
  name_them("Only in " + c.a, only_a);
  name_them("Only in " + c.b, only_b);
  c.reasons.push_back(count_sentence(c.rows));
}

const std::map<std::string, std::string>& decode_units() {
  static const std::map<std::string, std::string> kUnits = {{"bit_rate", "bit/s"},
                                                            {"symbol_rate", "symbols/s"},
                                                            {"duration_s", "s"},
                                                            {"snr_db", "dB"},
                                                            {"bit_rate_median", "bit/s"},
                                                            {"bit_rate_least", "bit/s"},
                                                            {"bit_rate_greatest", "bit/s"},
                                                            {"success_share", ""}};
  return kUnits;
}

std::vector<std::pair<std::string, Json>> values_of(const Json& object, std::initializer_list<const char*> keys) {
  std::vector<std::pair<std::string, Json>> out;
  for (const char* key : keys) out.emplace_back(key, member(object, key));
  return out;
}

const Json& direction(const Json& call, const std::string& name) {
  static const Json kNull;
  for (const Json& d : member(member(call, "verdict"), "directions"))
    if (word(member(d, "name")) == name) return d;
  return kNull;
}

std::vector<std::string> direction_names(std::initializer_list<const Json*> calls) {
  std::vector<std::string> names;
  for (const Json* call : calls) {
    for (const Json& d : member(member(*call, "verdict"), "directions")) {
      const std::string name = word(member(d, "name"));
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

void compare_decoded(Comparison& c, const Json& a, const Json& b) {
  const auto whole = [](const Json& call) {
    auto out = values_of(member(call, "verdict"), {"technology", "retrains", "rate_renegotiations", "cleardowns"});
    out.emplace_back("duration_s", member(member(call, "recording"), "duration_s"));
    out.emplace_back("trainings", member(call, "trainings").size());
    return out;
  };
  append_rows("", whole(a), whole(b), decode_units(), c.rows);
  std::vector<std::string> rates;
  for (const std::string& name : direction_names({&a, &b})) {
    const auto values = [&name](const Json& call) {
      return values_of(direction(call, name),
                       {"bit_rate", "rate_from", "data", "reason", "good_frames", "bad_frames", "character_count"});
    };
    append_rows(name, values(a), values(b), decode_units(), c.rows);
    const Json &was = member(direction(a, name), "bit_rate"), &is = member(direction(b, name), "bit_rate");
    const auto rate = [](const Json& value) { return value.is_null() ? "not read" : shown(value) + " bit/s"; };
    rates.push_back(was == is ? fmt::format("{}: {} in both", name, rate(was))
                              : fmt::format("{}: {}, then {}", name, rate(was), rate(is)));
  }
  std::erase_if(c.rows, [](const Row& r) { return r.a.is_null() && r.b.is_null(); });
  const std::string of_a = word(member(member(a, "verdict"), "technology")),
                    of_b = word(member(member(b, "verdict"), "technology"));
  c.headline =
      of_a == of_b ? fmt::format("Both calls are {}.", of_a) : fmt::format("{} is {}, {} is {}.", c.a, of_a, c.b, of_b);
  for (const std::string& sentence : rates) c.reasons.push_back(sentence + ".");
  c.reasons.push_back(count_sentence(c.rows));
}

/// Totals of many calls of one modem.
struct Tally {
  std::size_t calls = 0, with_modem = 0, connected = 0, retrains = 0, renegotiations = 0, cleardowns = 0;
  std::map<std::string, std::vector<double>> rates;  ///< by direction
  std::map<std::string, std::size_t> technologies, reasons;
};

Tally tally(std::span<const Json> calls) {
  Tally t;
  for (const Json& call : calls) {
    const Json& verdict = member(call, "verdict");
    const std::string technology = word(member(verdict, "technology"));
    ++t.calls;
    ++t.technologies[technology];
    t.with_modem += technology != "no modem found";
    const auto number = [&verdict](const char* key) {
      const Json& value = member(verdict, key);
      return value.is_number_integer() ? value.get<std::size_t>() : 0;
    };
    t.retrains += number("retrains");
    t.renegotiations += number("rate_renegotiations");
    t.cleardowns += number("cleardowns");
    const Json& directions = member(verdict, "directions");
    bool connected = !directions.empty();
    for (const Json& d : directions) {
      const Json& rate = member(d, "bit_rate");
      connected = connected && rate.is_number();
      if (rate.is_number()) t.rates[word(member(d, "name"))].push_back(rate.get<double>());
      if (const std::string reason = word(member(d, "reason")); !reason.empty()) ++t.reasons[reason];
    }
    t.connected += connected;
  }
  return t;
}

std::vector<std::pair<std::string, Json>> whole_values(const Tally& t) {
  const auto n = static_cast<double>(t.calls);
  return {{"calls", t.calls},
          {"with_modem", t.with_modem},
          {"connected", t.connected},
          {"success_share", static_cast<double>(t.connected) / n},
          {"retrains", t.retrains},
          {"retrains_per_call", static_cast<double>(t.retrains) / n},
          {"rate_renegotiations", t.renegotiations},
          {"cleardowns", t.cleardowns}};
}

std::vector<std::pair<std::string, Json>> rate_values(const Tally& t, const std::string& name) {
  const auto found = t.rates.find(name);
  if (found == t.rates.end()) return {};
  std::vector<double> rates = found->second;
  std::sort(rates.begin(), rates.end());
  const std::size_t half = rates.size() / 2;
  const double median = rates.size() % 2 == 1 ? rates[half] : (rates[half - 1] + rates[half]) / 2;
  return {{"bit_rate_median", median}, {"bit_rate_least", rates.front()}, {"bit_rate_greatest", rates.back()}};
}

template <typename Map>
std::vector<std::string> keys_of(const Map& a, const Map& b) {
  std::set<std::string> keys;
  for (const auto& [key, value] : a) keys.insert(key);
  for (const auto& [key, value] : b) keys.insert(key);
  return {keys.begin(), keys.end()};
}

void append_counts(const std::string& item, const std::map<std::string, std::size_t>& a,
                   const std::map<std::string, std::size_t>& b, std::vector<Row>& rows) {
  const auto count = [](const auto& of, const std::string& key) { return of.contains(key) ? of.at(key) : 0; };
  for (const std::string& key : keys_of(a, b)) rows.push_back({item, key, "", count(a, key), count(b, key)});
}

constexpr const char* kQuantiles[] = {"count", "min", "mean", "p50", "p99", "p99.9", "p99.99", "max"};

void compare_latency(Comparison& c, const Json& a, const Json& b) {
  const auto loads = [](const Json& document) {
    std::vector<std::pair<std::string, const Json*>> out;
    if (document.contains("latency")) out.emplace_back(word(member(document, "load")), &document);
    for (const Json& load : member(document, "loads")) out.emplace_back(word(member(load, "load")), &load);
    return out;
  };
  const std::map<std::string, std::string> units = {{"min", "us"}, {"mean", "us"},  {"p50", "us"},   {"p99", "us"},
                                                    {"max", "us"}, {"p99.9", "us"}, {"p99.99", "us"}};
  const auto values = [](const Json* load) {
    std::vector<std::pair<std::string, Json>> out;
    for (const char* key : kQuantiles)
      out.emplace_back(key, load == nullptr ? Json() : member(member(*load, "latency"), key));
    out.emplace_back("missed", load == nullptr ? Json() : member(*load, "missed"));
    return out;
  };
  append_rows("", {{"context", member(a, "context")}, {"interval_us", member(a, "interval_us")}},
              {{"context", member(b, "context")}, {"interval_us", member(b, "interval_us")}}, {{"interval_us", "us"}},
              c.rows);
  auto in_b = loads(b);
  const auto take = [&in_b](const std::string& name) {
    const auto found = std::find_if(in_b.begin(), in_b.end(), [&](const auto& l) { return l.first == name; });
    const Json* load = found == in_b.end() ? nullptr : found->second;
    if (found != in_b.end()) in_b.erase(found);
    return load;
  };
  const auto both_of = [&](const std::string& name, const Json* in_a, const Json* other) {
    const std::string item = name.empty() ? "none" : name;
    append_rows(item, values(in_a), values(other), units, c.rows);
    if (in_a == nullptr || other == nullptr) return;
    const Json &was = member(member(*in_a, "latency"), "p99.9"), &is = member(member(*other, "latency"), "p99.9");
    if (was.is_number() && is.is_number())
      c.reasons.push_back(fmt::format("Load {}: 99.9 % of the wake-ups within {:.1f} us in {}, {:.1f} us in {}.", item,
                                      was.get<double>(), c.a, is.get<double>(), c.b));
  };
  for (const auto& [name, load] : loads(a)) both_of(name, load, take(name));
  for (const auto& [name, load] : in_b) both_of(name, nullptr, load);
  double worst_a = 0, worst_b = 0;
  for (const Row& r : c.rows) {
    if (r.quantity != "max") continue;
    if (r.a.is_number()) worst_a = std::max(worst_a, r.a.get<double>());
    if (r.b.is_number()) worst_b = std::max(worst_b, r.b.get<double>());
  }
  c.headline = fmt::format("The longest latency is {:.1f} us in {} and {:.1f} us in {}.", worst_a, c.a, worst_b, c.b);
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::kRun:
      return "run";
    case Kind::kSweep:
      return "sweep";
    case Kind::kDecodedCall:
      return "decoded call";
    case Kind::kDecodedCalls:
      return "decoded calls";
    case Kind::kLatency:
      break;
  }
  return "latency";
}

std::optional<Kind> kind_of(const Json& document) {
  if (!document.is_object()) return {};
  if (document.contains("offhook_summary")) return Kind::kRun;
  if (document.contains("offhook_sweep") && member(document, "cells").is_array()) return Kind::kSweep;
  if (word(member(document, "schema")).starts_with("offhook.decode/")) return Kind::kDecodedCall;
  if (word(member(document, "measure")) == "latency") return Kind::kLatency;
  return {};
}

std::optional<double> Row::difference() const {
  if (!a.is_number() || !b.is_number()) return {};
  return b.get<double>() - a.get<double>();
}

std::optional<double> Row::ratio() const {
  if (!a.is_number() || !b.is_number() || a.get<double>() == 0) return {};
  return b.get<double>() / a.get<double>();
}

bool Row::beyond(double percent) const {
  const std::optional<double> by = difference();
  if (!by) return !equal();
  return std::abs(*by) > percent / kPercent * std::abs(a.get<double>());
}

Comparison compare(Kind kind, const std::string& name_a, const Json& a, const std::string& name_b, const Json& b) {
  Comparison c{kind, name_a, name_b, {}, {}, {}};
  for (const auto& [name, document] : {std::pair(name_a, &a), std::pair(name_b, &b)})
    if (kind_of(*document) != kind) throw DocumentError(fmt::format("{}: expected a {}", name, to_string(kind)));
  switch (kind) {
    case Kind::kRun:
      compare_runs(c, a, b);
      break;
    case Kind::kSweep:
      compare_sweeps(c, a, b);
      break;
    case Kind::kDecodedCall:
    case Kind::kDecodedCalls:
      compare_decoded(c, a, b);
      break;
    case Kind::kLatency:
      compare_latency(c, a, b);
      break;
  }
  return c;
}

Comparison compare_calls(const std::string& name_a, std::span<const Json> a, const std::string& name_b,
                         std::span<const Json> b) {
  Comparison c{Kind::kDecodedCalls, name_a, name_b, {}, {}, {}};
  const Tally of_a = tally(a), of_b = tally(b);
  append_rows("", whole_values(of_a), whole_values(of_b), decode_units(), c.rows);
  for (const std::string& name : keys_of(of_a.rates, of_b.rates))
    append_rows(name, rate_values(of_a, name), rate_values(of_b, name), decode_units(), c.rows);
  append_counts("technology", of_a.technologies, of_b.technologies, c.rows);
  append_counts("reason", of_a.reasons, of_b.reasons, c.rows);
  c.headline = fmt::format("{} connected in {} of {} calls, {} in {} of {}.", c.a, of_a.connected, of_a.calls, c.b,
                           of_b.connected, of_b.calls);
  c.reasons.push_back(fmt::format(
      "If both modems connected equally often, counts at least as unequal would have a probability of {:.2g} (Fisher's "
      "exact test).",
      fisher_exact(of_a.connected, of_a.calls, of_b.connected, of_b.calls)));
  c.reasons.push_back("A call counts as connected if a bit rate was read in each of its directions.");
  return c;
}

double fisher_exact(std::size_t successes_a, std::size_t trials_a, std::size_t successes_b, std::size_t trials_b) {
  const auto log_choose = [](double n, double k) {
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
  };
  const double n_a = static_cast<double>(trials_a), n_b = static_cast<double>(trials_b);
  const double hits = static_cast<double>(successes_a + successes_b);
  const auto probability = [&](double k) {
    return std::exp(log_choose(n_a, k) + log_choose(n_b, hits - k) - log_choose(n_a + n_b, hits));
  };
  constexpr double kRounding = 1 + 1e-9;
  const double here = probability(static_cast<double>(successes_a));
  double sum = 0;
  for (double k = std::max(0.0, hits - n_b); k <= std::min(n_a, hits); k += 1)
    if (const double p = probability(k); p <= here * kRounding) sum += p;
  return std::min(1.0, sum);
}

std::string to_csv(const Comparison& comparison) {
  std::string out = "item,quantity,unit,a,b,difference,ratio\n";
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{:.9g}", *value) : ""; };
  for (const Row& r : comparison.rows) {
    out += fmt::format("{},{},{},{},{},{},{}\n", csv_field(r.item), csv_field(r.quantity), csv_field(r.unit),
                       csv_field(word(r.a)), csv_field(word(r.b)), number(r.difference()), number(r.ratio()));
  }
  return out;
}

namespace {

using R = record::Written<Row>;
constexpr record::Row kRowRows[] = {
    R::of<&Row::item>("item", "",
                      "cell of a sweep, load of a measurement, direction of a call; empty: the whole result"),
    R::of<&Row::quantity>("quantity", "", "key of the value"),
    R::of<&Row::unit>("unit", "", "unit of the quantity; empty: none, or a count"),
    R::of("a", "", "value in the first result; null: it has none",
          [](const Row& r) { return record::value_of_json(r.a); })
        .or_null(),
    R::of("b", "", "value in the second result; null: it has none",
          [](const Row& r) { return record::value_of_json(r.b); })
        .or_null(),
    R::of<&Row::difference>("difference", "", "b - a").absent("unless both are numbers"),
    R::of<&Row::ratio>("ratio", "", "b / a").absent("unless both are numbers, and a is not 0"),
};
constexpr record::Table kRow{kRowRows};
using C = record::Written<Comparison>;
constexpr record::Row kComparisonRows[] = {
    C::of("offhook_compare", "", "version of this document", [](const Comparison&) { return 1; }),
    C::of("kind", "", "run, sweep, decoded call, decoded calls or latency",
          [](const Comparison& c) { return to_string(c.kind); }),
    C::of<&Comparison::a>("a", "", "name of the first result"),
    C::of<&Comparison::b>("b", "", "name of the second result"),
    C::of<&Comparison::headline>("headline", "", "most important difference, in a sentence"),
    C::of<&Comparison::reasons>("reasons", "", "further sentences"),
    C::part<&Comparison::rows>("rows", kRow),
};

}  // namespace

constexpr record::Table kComparison{kComparisonRows};

std::string comparison_page(const Comparison& comparison) {
  const std::string title = fmt::format("{} and {}", comparison.a, comparison.b);
  nlohmann::json data = page_head("compare", title, "", comparison.headline, comparison.reasons);
  data["a"] = comparison.a;
  data["b"] = comparison.b;
  data["compared"] = to_string(comparison.kind);
  data["rows"] = nlohmann::json(record::to_json(kComparison, &comparison).at("rows"));
  return page_around(title + " - Offhook", data);
}

}  // namespace offhook::comparison
