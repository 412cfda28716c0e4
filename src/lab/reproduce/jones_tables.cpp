// SPDX-License-Identifier: MIT
//
// Tables 1 to 3 and Figure 17: transfers of 200,000 bytes, ten a row (6.5, 6.6).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "src/lab/analysis/verdict.h"
#include "src/lab/reproduce/jones_transfers.h"
#include "traces/scenario/profile.h"

namespace offhook::reproduce {

namespace {

constexpr double kAsOften = 10;  // per cent of the transfers
constexpr const char* kWaits = "waits for servers, programs and their network are not modelled";
constexpr const char* kLinkModel =
    " The link model has V.42 with its timers, PPP, TCP/IP with its timers, and retrains. It has no pauses of servers "
    "and programs, and no lower rate after a retrain.";

/// Whether all of the paper's transfers took the time of INT at one of V.34's rates.
struct AsIfV34 {
  double rate_bps = 0;  ///< 0: they did not
  std::string text;
};
/// Rates are multiples of 2400 bit/s (V.34, 5.1). Half a percent is at most a fourteenth of the gap to the next.
AsIfV34 as_if_v34(const Published& row, double int_mean_s, double down_bps) {
  constexpr double kStep = 2400, kMost = 33'600, kSame = 0.005, kAlike = 0.02;
  if (!row.has("sd") || row.number("sd") > kAlike * row.number("mean")) return {};
  const double mean_s = row.number("mean"), implied = down_bps * int_mean_s / mean_s,
               nearest = kStep * std::round(implied / kStep);
  const double off = std::abs(implied / nearest - 1);
  if (nearest < kStep || nearest > kMost || off > kSame) return {};
  return {nearest, fmt::format("; the paper's is the time of INT at {:.0f} bit/s, V.34's {:.0f} within {:.1f} %: as if "
                               "the call had fallen back to V.34, which the losses here do not explain",
                               implied, nearest, std::max(0.1, 100 * off))};
}

/// The mean with its confidence interval, compared with the paper's.
/// @param why  gives the sentence about a deviating mean
void add_times(Outcome& out, const Published& row, const Transfers& t, double share,
               const std::function<std::string(double published_s)>& why) {
  if (!row.has("mean")) return;
  const std::string range = fmt::format("published {:.3f} to {:.3f} s", row.number("min"), row.number("max"));
  const std::string deviation = row.has("sd") ? fmt::format(", deviation {:.3f} s", row.number("sd")) : "";
  const double mean_s = row.number("mean");
  if (t.result.complete == 0) {
    out.rows.push_back(holds(t.name + ", mean time", fmt::format("{:.3f} s", mean_s), "no run completed", false));
    out.rows.back().note = fmt::format(
        "a reservation that the paper's modem survived, slowly, ends the call here: no retrain succeeds in time; {}; "
        "{}{}",
        why(mean_s), range, deviation);
    return;
  }
  Row out_row = within_share(t.name + ", mean time", "s", mean_s, t.time.mean, share);
  out_row.note = fmt::format("{:.3f} to {:.3f} s, deviation {:.3f} s, 95 % interval +-{:.3f} s; {}{}", t.result.min_s,
                             t.result.max_s, t.time.deviation, t.time.half_width, range, deviation);
  if (!out_row.agrees) out_row.note = fmt::format("{}; {}", why(mean_s), out_row.note);
  out.rows.push_back(std::move(out_row));
}

/// The scatter of a row's times.
void add_deviation(Outcome& out, const Published& row, const Transfers& t) {
  if (!row.has("sd")) return;
  if (t.result.complete < 2) {
    out.rows.push_back(holds(t.name + ", standard deviation", fmt::format("{:.3f} s", row.number("sd")),
                             "fewer than two runs completed", false));
    out.rows.back().note = "a deviation needs two complete runs; the share of complete runs is in the row above";
    return;
  }
  Row r = within_share(t.name + ", standard deviation", "s", row.number("sd"), t.time.deviation, kVerdictTolerance);
  r.note = fmt::format(
      "{} runs here, {:.0f} there; the programs, server and line that scattered the paper's times by a tenth of a "
      "second are not modelled; a degraded transfer scatters by the moment of each hole",
      t.result.complete, row.number("ok"));
  out.rows.push_back(std::move(r));
}

Figure times_figure(std::string id, std::string title, const std::vector<Published>& rows,
                    const std::vector<Transfers>& simulated) {
  Figure f{std::move(id),
           std::move(title),
           "Mean time of the complete transfers of 200,000 bytes. Bars: simulated with the 95 % interval, published "
           "with its standard deviation. After the names: the number of complete runs, simulated | published.",
           {},
           {"transfer time (s)", true, 20, 500, {}},
           {},
           {}};
  Series ours, theirs;
  ours.name = "simulated";
  ours.symbol = Series::Symbol::kDisc;
  theirs.name = "the paper's table";
  theirs.symbol = Series::Symbol::kSquare;
  theirs.published = true;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Transfers& t = simulated[i];
    f.x.ticks.emplace_back(static_cast<double>(i),
                           fmt::format("{} ({}|{:.0f})", t.name, t.result.complete, rows[i].number("ok")));
    if (t.result.complete > 0) {
      ours.x.push_back(static_cast<double>(i) - 0.1);
      ours.y.push_back(t.time.mean);
      ours.interval.push_back(t.time.half_width);
    }
    if (rows[i].has("mean")) {
      theirs.x.push_back(static_cast<double>(i) + 0.1);
      theirs.y.push_back(rows[i].number("mean"));
      theirs.interval.push_back(rows[i].has("sd") ? rows[i].number("sd") : 0);
    }
  }
  f.x.min = -0.6;
  f.x.max = static_cast<double>(rows.size()) - 0.4;
  f.series = {std::move(ours), std::move(theirs)};
  return f;
}

/// Tables 1 and 2: standard Rialto/NT, with the spinner running except for THR 8.
struct Standard {
  std::vector<Published> rows;
  std::vector<hostsim::Scenario> scenarios;
  std::vector<Transfers> simulated;
  hostsim::CostProfile profile;
  bool pool = false;
  hostsim::LinkProfile link;  ///< as used
  std::uint64_t bytes = 0;
  const Transfers& of(std::string_view name) const {
    return *std::find_if(simulated.begin(), simulated.end(), [&](const Transfers& t) { return t.name == name; });
  }
};

/// @param pool the corporate server pool; otherwise the dedicated server
Standard standard(const Run& run, bool pool) {
  const Published& p = run.published;
  Standard s;
  s.rows = p.rows("rows");
  s.pool = pool;
  std::vector<hostsim::Scenario>& scenarios = s.scenarios;
  for (const Published& row : s.rows) {
    const std::string name = context_name(row.text("config"));
    scenarios.push_back(call_scenario(name, name != "THR 8", run.seed));
    if (p.has("bytes")) scenarios.back().bytes = static_cast<std::uint64_t>(p.number("bytes"));
  }
  hostsim::CostProfile profile = config::load_profile(scenarios.front().cost_profile);
  profile.link.down_bps = p.number("downstream_bps");
  profile.link.up_bps = p.number("upstream_bps");
  s.link = setup_of(run, scenarios.front(), profile, pool).profile.link;
  s.bytes = scenarios.front().bytes;
  s.simulated = transfers(run, scenarios, profile, pool);
  s.profile = std::move(profile);
  return s;
}

std::string shown(const Transfers& t) {
  return t.result.complete == 0
             ? fmt::format("{} never", t.name)
             : fmt::format("{} {:.1f} s ({})", t.name, t.time.mean, of(t.result.complete, t.result.runs));
}

/// Whether all configurations that should equal the vendor's driver are within `share` of INT.
bool equal_to_int(const Standard& s, double share) {
  for (const char* name : {"DPC", "THR 24", "RES 2/8", "RES 1/4"}) {
    const Transfers& t = s.of(name);
    if (t.result.complete != t.result.runs || std::abs(t.time.mean / s.of("INT").time.mean - 1) > share) return false;
  }
  return s.of("INT").result.complete == s.of("INT").result.runs;
}

/// The row of Table 2, which has no network, for a row of Table 1.
std::string without_network(const std::string& name, double simulated_s) {
  for (const Published& row : load_published("jones.table2").rows("rows")) {
    if (context_name(row.text("config")) != name || !row.has("mean")) continue;
    const double off = simulated_s / row.number("mean") - 1;
    return fmt::format("; Table 2 has {:.3f} s without them, and the simulation differs from that by {:.1f} %",
                       row.number("mean"), 100 * off);
  }
  return "";
}

void add_standard_rows(Outcome& out, const Run& run, const Standard& s) {
  const Published& p = run.published;
  Trials trials(run, s.profile, s.pool);
  out.rows.push_back(input("downstream", "bit/s", p.number("downstream_bps"), s.link.down_bps, "the link model"));
  out.rows.push_back(input("upstream", "bit/s", p.number("upstream_bps"), s.link.up_bps, "the link model"));
  const double int_mean = s.rows.front().number("mean");
  for (std::size_t i = 0; i < s.rows.size(); ++i) {
    const Published& row = s.rows[i];
    const Transfers& t = s.simulated[i];
    const double ok = row.number("ok"), attempts = row.number("of");
    Row complete = within(t.name + ", complete transfers", "%", 100 * ok / attempts, t.complete_percent(), kAsOften);
    complete.note = of(t.result.complete, t.result.runs) + " simulated, " +
                    of(static_cast<std::size_t>(ok), static_cast<std::size_t>(attempts)) + " published";
    if (!complete.agrees)
      complete.note += "; " + trials.of_completion(s.scenarios[i], t, 100 * ok / attempts, kAsOften);
    out.rows.push_back(std::move(complete));
    const bool degraded = !row.has("mean") || ok < attempts || row.number("mean") > (1 + kVerdictTolerance) * int_mean;
    add_times(out, row, t, kVerdictTolerance, [&](double mean_s) -> std::string {
      if (!degraded) return std::string(kWaits) + (s.pool ? without_network(t.name, t.time.mean) : "");
      const AsIfV34 v34 = as_if_v34(row, int_mean, p.number("downstream_bps"));
      std::vector<std::string> more;
      if (v34.rate_bps > 0) more.push_back(fmt::format("down_bps={:.0f}", v34.rate_bps));
      return trials.of_time(s.scenarios[i], t, mean_s, kVerdictTolerance, more) + v34.text;
    });
  }
  // The paper orders by mean times, which exclude the failed transfers.
  std::vector<std::string> published, simulated;
  for (std::size_t i = 0; i < s.rows.size(); ++i) {
    const Transfers& t = s.simulated[i];
    if (s.rows[i].number("ok") < s.rows[i].number("of")) published.push_back(t.name);
    if (t.result.complete < t.result.runs) simulated.push_back(t.name);
  }
  Row failing = same("configurations of which some transfers failed", fmt::format("{}", fmt::join(published, ", ")),
                     fmt::format("{}", fmt::join(simulated, ", ")));
  if (!failing.agrees) failing.note = "the share of complete runs is in the row above";
  out.rows.push_back(std::move(failing));
}

/// Figure 17: the class of each reservation, and the authors' model.
Figure map_figure(const Published& p, const std::vector<Published>& rows, const std::vector<Transfers>& simulated,
                  const hostsim::CostProfile& profile) {
  struct Class {
    const char* name;
    Series::Symbol symbol;
  };
  static constexpr Class kClasses[] = {{"sufficient", Series::Symbol::kDisc},
                                       {"marginal", Series::Symbol::kHalf},
                                       {"insufficient", Series::Symbol::kCross}};
  constexpr double kLongest = 22;  // ms
  Figure map{"jones.fig17",
             "Figure 17: Areas of CPU reservation space where modem does and does not function correctly",
             "Simulated classes of the reservations of Table 3, ten runs each with another starting phase, and the "
             "authors' two lines. An orange square marks a class that differs from the published one.",
             {"reservation period (ms)", false, 0, kLongest, {}},
             {"reservation amount (ms)", false, 0, 9, {}},
             {},
             {}};
  for (const Class& c : kClasses) {
    Series s;
    s.name = c.name;
    s.symbol = c.symbol;
    map.series.push_back(std::move(s));
  }
  Series differing;
  differing.name = "another class was published";
  differing.published = true;
  differing.symbol = Series::Symbol::kSquare;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Verdict verdict = simulated[i].result.verdict;
    const double x = rows[i].number("x_ms"), y = rows[i].number("y_ms");
    Series& s = map.series[static_cast<std::size_t>(verdict)];
    s.x.push_back(y);
    s.y.push_back(x);
    s.labels.push_back(fmt::format("{:g}/{:g}", x, y));
    if (rows[i].text("class") == to_string(verdict)) continue;
    differing.x.push_back(y);
    differing.y.push_back(x);
  }
  const double share = p.number("model_share_percent"), gap = p.number("model_gap_ms");
  const auto line = [&](std::string name, std::vector<double> x, std::vector<double> y) {
    Series s;
    s.name = std::move(name);
    s.style = Series::Style::kLine;
    s.published = true;
    s.x = std::move(x);
    s.y = std::move(y);
    map.series.push_back(std::move(s));
  };
  line(fmt::format("{:g} % of the CPU", share), {0, kLongest}, {0, kLongest * share / 100});
  line(fmt::format("gap of {:g} ms", gap), {gap, kLongest}, {0, kLongest - gap});
  if (!differing.x.empty()) map.series.push_back(std::move(differing));
  Series actual;
  actual.name = "actual work and block period (INT)";
  actual.symbol = Series::Symbol::kTriangle;
  const auto& connected = profile.phases[static_cast<int>(hostsim::Phase::kConnected)];
  double samples = 0;
  for (const auto n : connected.block_plan) samples += n / static_cast<double>(connected.block_plan.size());
  actual.x = {1000 * samples / connected.rate_hz};
  actual.y = {1e-6 * static_cast<double>(connected.service_ns)};
  map.series.push_back(std::move(actual));
  return map;
}

}  // namespace

// 6.5.1: the corporate server pool, over the company's network.
Outcome jones_table1(const Run& run) {
  const Published& p = run.published;
  const Standard s = standard(run, true);
  Outcome out;
  add_standard_rows(out, run, s);
  for (Row& row : out.rows) {
    if (row.what == "INT, mean time") row.note += "; the published minimum is above the maximum, a misprint";
  }
  out.rows.push_back(input("file", "bytes", p.number("bytes"), static_cast<double>(s.bytes), "the transfer"));
  const Transfers &r18 = s.of("RES 1/8"), &r316 = s.of("RES 3/16"), &r216 = s.of("RES 2/16");
  constexpr double kAlike = 0.02;
  const auto slower = [](const Transfers& t, const Transfers& than) {
    return t.result.complete > 0 && than.result.complete > 0 && t.time.mean > (1 + kAlike) * than.time.mean;
  };
  const bool equal = equal_to_int(s, kAlike);
  out.rows.push_back(holds(fmt::format("as good as INT, within {:g} %", 100 * kAlike), "DPC, THR 24, RES 2/8, RES 1/4",
                           fmt::format("{}; {}; {}; {}", shown(s.of("DPC")), shown(s.of("THR 24")),
                                       shown(s.of("RES 2/8")), shown(s.of("RES 1/4"))),
                           equal));
  const bool ordered =
      equal && slower(r18, s.of("INT")) && slower(r316, s.of("INT")) && slower(r216, r18) && slower(r216, r316);
  Row order = holds("the order of the configurations, mean time of the complete transfers", p.text("hard_ordering"),
                    fmt::format("{}; {}; {}; {}", shown(s.of("INT")), shown(r18), shown(r316), shown(r216)), ordered);
  if (!ordered) {
    order.note =
        "whether a reservation does as well as INT is reproduced; the slowdown of a degraded one depends on the server "
        "modem's reaction to a hole, which is not published";
  }
  out.rows.push_back(std::move(order));
  out.figures.push_back(times_figure("jones.table1", "Table 1: File transfer times including network transfer times",
                                     s.rows, s.simulated));
  out.summary =
      "Standard Rialto/NT: outside its slots the thread competes with the spinner at normal priority. The company "
      "network between file and server is not modelled, because nothing about it was published. The servers of the "
      "pool tolerate losses like Offhook's V.34 receiver.";
  out.summary += kLinkModel;
  return out;
}

// 6.5.2: the dedicated server.
Outcome jones_table2(const Run& run) {
  const Published& p = run.published;
  const Standard s = standard(run, false);
  Outcome out;
  add_standard_rows(out, run, s);
  const double reference = s.of("INT").time.mean;
  bool degraded = true;
  for (const char* name : {"RES 1/8", "RES 3/16", "RES 2/16"}) {
    const Transfers& t = s.of(name);
    degraded &= t.result.complete < t.result.runs || t.time.mean > 1.05 * reference;
  }
  out.rows.push_back(holds("the order of the configurations, degraded or dead", p.text("hard_ordering"),
                           fmt::format("{}; {}; {}; {}", shown(s.of("INT")), shown(s.of("RES 1/8")),
                                       shown(s.of("RES 3/16")), shown(s.of("RES 2/16"))),
                           equal_to_int(s, 0.01) && degraded));
  out.rows.back().note = "the slowdown of the degraded ones depends on the server's modem, which is not described";
  out.figures.push_back(times_figure("jones.table2", "Table 2: File transfer times excluding network transfer times",
                                     s.rows, s.simulated));
  out.summary = "Standard Rialto/NT: outside its slots the thread competes with the spinner at normal priority.";
  out.summary += kLinkModel;
  return out;
}

// 6.6: the modified scheduler, with any integer period, never outside its slots.
Outcome jones_table3(const Run& run) {
  const Published& p = run.published;
  const auto rows = p.rows("rows");
  std::vector<hostsim::Scenario> scenarios = {call_scenario("INT", true, run.seed)};
  for (const Published& row : rows) scenarios.push_back(strict_reservation(row, run.seed));
  const hostsim::CostProfile profile = config::load_profile(scenarios.front().cost_profile);
  auto simulated = transfers(run, scenarios, profile);
  simulated.erase(simulated.begin());  // INT, the reference
  Trials trials(run, profile, false);
  // How sharp the boundary of a marginal row is.
  std::vector<hostsim::Scenario> marginal = {scenarios.front()};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].text("class") == "marginal") marginal.push_back(scenarios[i + 1]);
  }
  std::map<std::string, std::string> beside;
  for (const std::string change : {"block_us=-1%", "block_us=+1%"}) {
    for (const Transfers& t : transfers(run, marginal, profile, false, Perturbation::parse({change})))
      beside[t.name] +=
          fmt::format("; with {}: {}, {}", change, to_string(t.result.verdict), of(t.result.complete, t.result.runs));
  }

  Outcome out;
  const double share = p.number("model_share_percent"), gap = p.number("model_gap_ms");
  std::vector<std::string> unexpected;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Published& row = rows[i];
    const Transfers& t = simulated[i];
    const double x = row.number("x_ms"), y = row.number("y_ms");
    Row verdict = same(t.name + ", class", row.text("class"), std::string(to_string(t.result.verdict)));
    verdict.note = fmt::format("{} complete, published {:.0f} of {:.0f}{}", of(t.result.complete, t.result.runs),
                               row.number("ok"), p.number("of"), beside[t.name]);
    out.rows.push_back(std::move(verdict));
    add_times(out, row, t, kVerdictTolerance, [&](double mean_s) -> std::string {
      return row.text("class") == "sufficient" ? kWaits
                                               : trials.of_time(scenarios[i + 1], t, mean_s, kVerdictTolerance);
    });
    add_deviation(out, row, t);
    if ((100 * x / y >= share && y - x < gap) != (t.result.verdict == Verdict::kSufficient))
      unexpected.push_back(t.name);
  }
  out.rows.push_back(holds(fmt::format("the authors' model ({:g} %, gaps under {:g} ms) and its exception", share, gap),
                           p.text("authors_exception"),
                           fmt::format("model and simulation disagree on: {}", fmt::join(unexpected, ", ")),
                           unexpected == std::vector<std::string>{"RES 1/7"}));
  out.figures.push_back(map_figure(p, rows, simulated, profile));
  out.figures.push_back(times_figure("jones.table3",
                                     "Table 3: File transfer times for reservations not also receiving "
                                     "timeshared time",
                                     rows, simulated));
  out.summary =
      "Modified Rialto/NT: slots at fixed positions, in clock ticks of 1/1024 s; the thread never runs outside them. "
      "All rows "
      "use one set of constants; the class is relative to the time of INT.";
  out.summary += kLinkModel;
  return out;
}

}  // namespace offhook::reproduce
