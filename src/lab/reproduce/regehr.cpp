// SPDX-License-Identifier: MIT
//
// Regehr and Stankovic, "Augmented CPU Reservations: Towards Predictable Execution on General-Purpose Operating
// Systems", RTAS 2001: the additional demand of Rez, Rez-C and Rez-FB (Figures 3, 4), and their cost.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "src/lab/reproduce/claim.h"
#include "src/lab/reproduce/regehr_runs.h"

namespace offhook::reproduce {

using hostsim::RezForm;

namespace {

struct Condition {
  const char* name;
  const char* key;
  RezForm form;
  bool network;
  bool precise_timers = false;
  bool whole_ticks = true;  ///< Rez-FB: C in enforceable units
};
constexpr std::array<Condition, 4> kConditions = {{
    {"Rez, idle", "rez_idle_over_reservation_percent", RezForm::kRez, false},
    {"Rez, Netperf", "rez_netperf_over_reservation_percent", RezForm::kRez, true},
    {"Rez-C, Netperf", "rez_c_netperf_over_reservation_percent", RezForm::kRezC, true},
    {"Rez-FB, Netperf", "rez_fb_netperf_over_reservation_percent", RezForm::kRezFb, true},
}};
/// Two conditions that the paper does not have. They explain why two others differ from it.
constexpr std::array<Condition, 2> kReasons = {{
    {"Rez, idle, precise timers", nullptr, RezForm::kRez, false, true},
    {"Rez-FB, Netperf, C not in whole ticks", nullptr, RezForm::kRezFb, true, false, false},
}};
constexpr int kFrom = -8, kTo = 32, kStep = 2;  // over-reservation, per cent
constexpr int kPoints = (kTo - kFrom) / kStep + 1;

/// Figure 3's curve of one condition, and the values read from it.
struct Curve {
  Series series;
  double enough = std::nan("");  ///< over-reservation from which almost no period is missed, per cent
  double missed_at_zero = 0;     ///< share
};

/// @param results [kPoints][repetition]
Curve curve(const Condition& condition, std::span<const std::vector<RegehrResult>> results) {
  constexpr double kNearlyNone = 0.01;  // of the missed periods
  Curve c;
  c.series.name = condition.name;
  c.series.style = Series::Style::kLine;
  bool none = true;
  for (int i = kPoints - 1; i >= 0; --i) {
    const int percent = kFrom + i * kStep;
    const double missed = mean_interval(numbers(results[static_cast<std::size_t>(i)], &RegehrResult::missed)).mean;
    none = none && missed <= kNearlyNone;
    if (none) c.enough = percent;
    if (percent == 0) c.missed_at_zero = missed;
  }
  for (int i = 0; i < kPoints; ++i)
    add_mean(c.series, kFrom + i * kStep, numbers(results[static_cast<std::size_t>(i)], &RegehrResult::missed), 100);
  return c;
}

/// The known reason why a condition differs. @param enough  for each of kReasons, in per cent
std::string why(std::size_t condition, const std::array<double, kReasons.size()>& enough) {
  const RegehrRun used;
  const double tick_ns = 1e9 / used.enforcement_hz, needed_ns = static_cast<double>(used.needed);
  const double ticks = std::floor(needed_ns / tick_ns);
  if (condition == 0) {
    return fmt::format(
        "; a budget ends at the next tick of {:.0f} us, so that all above {:g} ticks, {:.3f} ms, is {:g} ticks: with "
        "ticks of {:g} us {:g} % are needed",
        tick_ns / 1e3, ticks, ticks * tick_ns / 1e6, ticks + 1, 1e6 / kPreciseHz, enough[0]);
  }
  if (condition == 2) return "; the interrupt handlers of the clock and the network are not accounted for";
  if (condition == 3) {
    return fmt::format(
        "; C is rounded up to whole ticks, half a tick ({:.0f} % of R) more on average: with the equation as printed "
        "{:g} % are needed",
        100 * tick_ns / 2 / needed_ns, enough[1]);
  }
  return "";
}

/// The runs of a condition, one for each over-reservation.
void add_points(const Condition& c, std::vector<RegehrRun>* runs) {
  for (int i = 0; i < kPoints; ++i) {
    RegehrRun r;
    r.form = c.form;
    r.over_reservation = (kFrom + i * kStep) / 100.0;
    if (c.network) r.network = kAlways;
    if (c.precise_timers) r.enforcement_hz = kPreciseHz;
    r.whole_ticks = c.whole_ticks;
    runs->push_back(r);
  }
}

/// @param at_zero  share of missed deadlines without over-reservation, for each condition
Row order_of(const Published& p, const std::array<double, kConditions.size()>& at_zero) {
  // "Much more" means 1.5 times; "alike" within 30 percentage points.
  const bool ordered = at_zero[1] > 1.5 * at_zero[2] && at_zero[1] > 1.5 * at_zero[3] && at_zero[2] > 0 &&
                       at_zero[3] > 0 && std::abs(at_zero[2] - at_zero[3]) < 0.3;
  Row row = holds("ordering", p.text("ordering"),
                  fmt::format("Rez {:.0f} %, Rez-FB {:.0f} %, Rez-C {:.0f} %", 100 * at_zero[1], 100 * at_zero[3],
                              100 * at_zero[2]),
                  ordered);
  row.note = "accepted if Rez misses 1.5 times as often as each of the others, and these differ by at most 30 points";
  return row;
}

}  // namespace

Outcome regehr_fig3(const Run& run) {
  const Published& p = run.published;
  constexpr double kTolerance = 4;  // per cent
  std::vector<RegehrRun> runs;
  for (const Condition& c : kConditions) add_points(c, &runs);
  for (const Condition& c : kReasons) add_points(c, &runs);
  const auto results = run_all(run, runs, run.repetitions);
  std::array<double, kReasons.size()> enough{};
  std::vector<Series> of_reasons;
  for (std::size_t c = 0; c < kReasons.size(); ++c) {
    Curve of = curve(kReasons[c], std::span(results).subspan((kConditions.size() + c) * kPoints, kPoints));
    of.series.variant = 1;
    enough[c] = of.enough;
    of_reasons.push_back(std::move(of.series));
  }

  Outcome out;
  Figure f{"regehr.fig3",
           "Figure 3: Predictability of Rez, Rez-C and Rez-FB",
           "Deadlines missed by a thread that needs 4 ms of every 20 ms, by the additional reserved time.",
           plain_axis("over-reservation (%)"),
           plain_axis("missed deadlines (%)"),
           {},
           {}};
  std::array<double, kConditions.size()> at_zero{};
  for (std::size_t c = 0; c < kConditions.size(); ++c) {
    const Condition& condition = kConditions[c];
    Curve of = curve(condition, std::span(results).subspan(c * kPoints, kPoints));
    at_zero[c] = of.missed_at_zero;
    Row row = within(fmt::format("{}: over-reservation needed for nearly no misses", condition.name), "%",
                     p.number(condition.key), of.enough, kTolerance);
    row.note = fmt::format("misses at 0 %: {:.1f} %; at most 1 % of the periods count as nearly none, steps of 2 %",
                           100 * at_zero[c]);
    row.note += why(c, enough);
    out.rows.push_back(std::move(row));
    f.marks.push_back({Mark::Axis::kX, p.number(condition.key), {}, fmt::format("published, {}", condition.name)});
    f.series.push_back(std::move(of.series));
  }
  f.series.insert(f.series.end(), of_reasons.begin(), of_reasons.end());
  out.rows.push_back(order_of(p, at_zero));
  double widest = 0;
  for (std::size_t c = 0; c < kConditions.size(); ++c)
    for (const double half_width : f.series[c].interval) widest = std::max(widest, half_width);
  out.rows.push_back(at_most("95 % confidence interval of a point, at its widest", "points of a hundred",
                             p.number("interval_within"), widest));
  out.rows.back().note =
      fmt::format("{} runs per point; \"always within 4%\", and much closer for most", run.repetitions);
  out.figures.push_back(std::move(f));
  out.summary =
      "Ten-second runs of the test application under each scheduler. Rez-C and Rez-FB account for DPCs only; the "
      "additional need is that of the interrupt handlers.";
  return out;
}

namespace {

/// The values of the scheduler in each period of one run.
struct Trajectory {
  Series stolen, reserved, received;
  double largest_error = 0;  ///< ns, relative to the feedback equation
};

Trajectory trajectory(const RegehrRun& r, const RegehrResult& one) {
  Trajectory t;
  t.stolen.name = "stolen, % of 4 ms";
  t.reserved.name = "C_t";
  t.received.name = "P_t, as the application sees it";
  for (std::size_t i = 0; i < one.scheduler.size(); ++i) {
    const hostsim::RezPeriod& s = one.scheduler[i];
    const double at = static_cast<double>(s.begin) / 1e6;
    t.stolen.x.push_back(at);
    t.stolen.y.push_back(100.0 * static_cast<double>(s.stolen) / static_cast<double>(r.needed));
    t.reserved.x.push_back(at);
    t.reserved.y.push_back(static_cast<double>(s.reserved) / 1e6);
    if (i < one.periods.size()) {
      t.received.x.push_back(at);
      t.received.y.push_back(static_cast<double>(one.periods[i].received) / 1e6);
    }
    if (i == 0) continue;
    const hostsim::RezPeriod& before = one.scheduler[i - 1];
    const double c = static_cast<double>(before.reserved) + r.gain * static_cast<double>(r.needed - before.received);
    const double least = std::max(c, static_cast<double>(r.needed));
    const double above = static_cast<double>(s.reserved) - least;  // by rounding up, less than a tick
    t.largest_error = std::max({t.largest_error, -above, above - 1e9 / r.enforcement_hz});
  }
  return t;
}

}  // namespace

namespace {

/// "drops from its elevated level back to about 4.0" (4.4): nearer to R than to its former level.
Row falls_row(const RegehrRun& r, const Trajectory& t, const Trajectory& of_unrounded, double burst_end_ms) {
  const auto reserved_at = [](const Trajectory& of, double ms) {
    const auto& x = of.reserved.x;
    const auto after = std::find_if(x.begin(), x.end(), [&](double at) { return at >= ms; });
    return of.reserved.y.at(static_cast<std::size_t>(after - x.begin()));
  };
  const double base = static_cast<double>(r.needed) / 1e6, high = reserved_at(t, burst_end_ms - 100),
               low = reserved_at(t, burst_end_ms + 500);
  Row falls = holds("C_t half a second after the burst", "about 4.0 ms",
                    fmt::format("{:.2f} ms, was {:.2f} ms", low, high), low - base < (high - low) / 4);
  falls.note = fmt::format(
      "C counts whole ticks, so it stays constant if half of the excess of P is less than a tick; with the equation as "
      "printed it is "
      "{:.2f} ms, was {:.2f} ms",
      reserved_at(of_unrounded, burst_end_ms + 500), reserved_at(of_unrounded, burst_end_ms - 100));
  return falls;
}

Figure fig4(const char* name, const char* title, Series s, const char* y) {
  s.style = Series::Style::kPoints;
  return {fmt::format("regehr.fig4{}", name),
          title,
          "Rez-FB, a burst of network traffic from 1000 to 2000 ms.",
          plain_axis("time (ms)"),
          plain_axis(y),
          {std::move(s)},
          {}};
}

std::vector<double> misses_of(const std::vector<RegehrResult>& runs) {
  std::vector<double> out;
  for (const RegehrResult& one : runs) out.push_back(one.missed * static_cast<double>(one.periods.size()));
  return out;
}

}  // namespace

Outcome regehr_fig4(const Run& run) {
  const Published& p = run.published;
  const auto burst = p.numbers("burst_ms");
  RegehrRun r;
  r.form = RezForm::kRezFb;
  r.gain = p.number("gain");
  r.seconds = 3;
  r.network = {{burst.at(0) / 1e3, burst.at(1) / 1e3}};
  RegehrRun unrounded = r;
  unrounded.whole_ticks = false;
  const auto both = run_all(run, {r, unrounded}, run.repetitions);
  Trajectory t = trajectory(r, both[0].front());

  Outcome out;
  Row update = holds("feedback", p.text("update"),
                     fmt::format("largest deviation {:.0f} ns apart from rounding up to a tick", t.largest_error),
                     t.largest_error <= 1);
  update.note =
      "checked period by period; C never falls below R and counts whole ticks, which the paper does not state";
  out.rows.push_back(std::move(update));
  const double per_s = 1e9 / static_cast<double>(r.period), seconds = (burst.at(1) - burst.at(0)) / 1e3;
  const std::vector<double> misses = misses_of(both[0]);
  Row row = as_one_run("misses in the burst, mean of the repetitions", "", p.number("misses_in_burst"), misses);
  row.note = fmt::format(
      "of about {:.0f} periods; with the equation as printed, C not rounded up to whole ticks, {:.1f}: an integral "
      "controller makes the mean of P equal to R, and does not see the interrupt handlers. The published count is that "
      "of {:.2f} s at full speed: the paper assumes that its stream began slowly (TCP), this simulation does not",
      seconds * per_s, mean_interval(misses_of(both[1])).mean,
      seconds * p.number("misses_in_burst") / mean_interval(misses).mean);
  out.rows.push_back(std::move(row));
  out.rows.push_back(falls_row(r, t, trajectory(unrounded, both[1].front()), burst.at(1)));
  out.figures = {
      fig4("", "Figure 4, top: stolen time reported by GetStolen()", std::move(t.stolen), "stolen (% of 4 ms)"),
      fig4(".reserved", "Figure 4, middle: CPU time requested, C_t", std::move(t.reserved), "C_t (ms)"),
      fig4(".received", "Figure 4, bottom: CPU time received, P_t", std::move(t.received), "P_t (ms)")};
  out.summary =
      "One second of TCP at full speed against Rez-FB without over-reservation. TCP's slow start is not modelled.";
  return out;
}

Outcome regehr_overhead(const Run& run) {
  const Published& p = run.published;
  // Assumptions: GetStolen() at each decision 15 cycles; the feedback equation and admission 100 cycles per period.
  constexpr hostsim::Ns kGetStolen = 30, kFeedback = 200;
  RegehrRun rez, c, fb;
  c.overhead_tick = fb.overhead_tick = kGetStolen;
  fb.overhead_period = kFeedback;
  const auto results = run_all(run, {rez, c, fb}, run.repetitions);
  const double base = mean_interval(numbers(results[0], &RegehrResult::received)).mean;
  const auto lost = [&](std::size_t i) {
    return 100 * (base - mean_interval(numbers(results[i], &RegehrResult::received)).mean) / base;
  };
  Outcome out;
  constexpr double kShare = 0.15;
  const auto row = [&](const char* name, double published, double simulated, double interval, const char* of) {
    out.rows.push_back(
        within_share(fmt::format("{} against Rez, CPU time lost", name), "%", published, simulated, kShare));
    out.rows.back().note = fmt::format("{}; {} the published 95 % confidence interval, +-{:g}", of,
                                       std::abs(simulated - published) <= interval ? "inside" : "outside", interval);
  };
  row("Rez-C", p.number("rez_c_percent"), lost(1), p.number("rez_c_interval"),
      "from assumed costs: 15 cycles per GetStolen()");
  row("Rez-FB", p.number("rez_fb_percent"), lost(2), p.number("rez_fb_interval"),
      "and 100 cycles for the feedback equation, in the clock interrupt that ends a period");
  out.summary = "An idle machine; the accounting's own cost is charged at each tick and at each period.";
  return out;
}

}  // namespace offhook::reproduce
