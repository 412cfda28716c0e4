// SPDX-License-Identifier: MIT
//
// Regehr and Stankovic, "Augmented CPU Reservations: Towards Predictable Execution on General-Purpose Operating
// Systems", RTAS 2001.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "src/lab/reproduce/claim.h"
#include "src/lab/reproduce/regehr_devices.h"
#include "src/lab/reproduce/regehr_machine.h"

namespace offhook::reproduce {

using hostsim::RezForm;

namespace {

constexpr std::pair<double, double> kAlways{0, 1e9};

Axis axis(std::string text) {
  Axis a;
  a.text = std::move(text);
  return a;
}

std::vector<double> numbers(const std::vector<RegehrResult>& results, double RegehrResult::*field) {
  std::vector<double> out;
  for (const RegehrResult& r : results) out.push_back(r.*field);
  return out;
}

// `repetitions` runs of each of these, [run][repetition].
std::vector<std::vector<RegehrResult>> run_all(const Run& run, const std::vector<RegehrRun>& runs,
                                               std::size_t repetitions) {
  std::vector<std::vector<RegehrResult>> out(runs.size(), std::vector<RegehrResult>(repetitions));
  const RegehrMachine machine;
  run.parallel(runs.size() * repetitions, [&](std::size_t i) {
    RegehrRun one = runs[i / repetitions];
    one.seed = run.seed;
    one.repetition = i % repetitions;
    out[i / repetitions][i % repetitions] = run_regehr(machine, one);
  });
  return out;
}

void add(Series& series, double x, const std::vector<double>& values, double scale) {
  const MeanInterval m = mean_interval(values);
  series.x.push_back(x);
  series.y.push_back(m.mean * scale);
  series.interval.push_back(m.half_width * scale);
}

struct Condition {
  const char* name;
  const char* key;
  RezForm form;
  bool network;
};
constexpr std::array<Condition, 4> kConditions = {{
    {"Rez, idle", "rez_idle_over_reservation_percent", RezForm::kRez, false},
    {"Rez, Netperf", "rez_netperf_over_reservation_percent", RezForm::kRez, true},
    {"Rez-C, Netperf", "rez_c_netperf_over_reservation_percent", RezForm::kRezC, true},
    {"Rez-FB, Netperf", "rez_fb_netperf_over_reservation_percent", RezForm::kRezFb, true},
}};
/// What the paper does not have: why two of the conditions differ from it.
constexpr std::array<Condition, 2> kReasons = {{
    {"Rez, idle, precise timers", nullptr, RezForm::kRez, false},
    {"Rez-FB, Netperf, C not in whole ticks", nullptr, RezForm::kRezFb, true},
}};
constexpr int kPreciseHz = 20'000;              // "precise timers" (5): four ms are a whole number of its ticks
constexpr int kFrom = -8, kTo = 32, kStep = 2;  // over-reservation, per cent
constexpr int kPoints = (kTo - kFrom) / kStep + 1;

/// Figure 3's curve of one condition, and what is read off it.
struct Curve {
  Series series;
  double enough = std::nan("");  ///< over-reservation from which on nearly no period is missed, per cent
  double missed_at_zero = 0;     ///< share
};

/// @param results [kPoints][repetition]
Curve curve(const Condition& condition, std::span<const std::vector<RegehrResult>> results) {
  constexpr double kNearlyNone = 0.01;  // of the periods missed
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
    add(c.series, kFrom + i * kStep, numbers(results[static_cast<std::size_t>(i)], &RegehrResult::missed), 100);
  return c;
}

/// Why a condition differs, as far as it is known. @param enough  of kReasons, in per cent
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
  if (condition == 2) return "; what is not accounted for is the clock's and the network's interrupt handlers";
  if (condition == 3) {
    return fmt::format(
        "; C is rounded up to whole ticks, half a tick ({:.0f} % of R) more on average: with the equation as it is "
        "printed {:g} % are needed",
        100 * tick_ns / 2 / needed_ns, enough[1]);
  }
  return "";
}

}  // namespace

Outcome regehr_fig3(const Run& run) {
  const Published& p = run.published;
  constexpr double kTolerance = 4;  // per cent
  std::vector<RegehrRun> runs;
  const auto add_points = [&](const Condition& c, bool reason) {
    for (int i = 0; i < kPoints; ++i) {
      RegehrRun r;
      r.form = c.form;
      r.over_reservation = (kFrom + i * kStep) / 100.0;
      if (c.network) r.network = kAlways;
      if (reason && !c.network) r.enforcement_hz = kPreciseHz;
      r.whole_ticks = !reason;
      runs.push_back(r);
    }
  };
  for (const Condition& c : kConditions) add_points(c, false);
  for (const Condition& c : kReasons) add_points(c, true);
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
           "Deadlines missed by a thread that needs 4 ms of every 20 ms, against how much more than that is reserved.",
           axis("over-reservation (%)"),
           axis("missed deadlines (%)"),
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
  // "Much more": twice; "alike": within 30 points of a hundred.
  const bool ordered = at_zero[1] > 1.5 * at_zero[2] && at_zero[1] > 1.5 * at_zero[3] && at_zero[2] > 0 &&
                       at_zero[3] > 0 && std::abs(at_zero[2] - at_zero[3]) < 0.3;
  Row order = holds("ordering", p.text("ordering"),
                    fmt::format("Rez {:.0f} %, Rez-FB {:.0f} %, Rez-C {:.0f} %", 100 * at_zero[1], 100 * at_zero[3],
                                100 * at_zero[2]),
                    ordered);
  order.note = "held to be so when Rez misses 1.5 times as often as either, and these lie within 30 points";
  out.rows.push_back(std::move(order));
  out.figures.push_back(std::move(f));
  out.summary =
      "Ten-second runs of the test application under each scheduler. Rez-C and Rez-FB know of DPCs only; what "
      "they still need on top are the interrupt handlers.";
  return out;
}

namespace {

/// What the scheduler did in each period of one run.
struct Trajectory {
  Series stolen, reserved, received;
  double largest_error = 0;  ///< ns, against the feedback equation
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
    const double above = static_cast<double>(s.reserved) - least;  // by rounding up: less than a tick
    t.largest_error = std::max({t.largest_error, -above, above - 1e9 / r.enforcement_hz});
  }
  return t;
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

  Trajectory t = trajectory(r, both[0].front()), of_unrounded = trajectory(unrounded, both[1].front());
  const auto misses = [&](std::size_t form) {
    std::vector<double> out;
    for (const RegehrResult& one_run : both[form])
      out.push_back(one_run.missed * static_cast<double>(one_run.periods.size()));
    return out;
  };

  Outcome out;
  Row update = holds("feedback", p.text("update"),
                     fmt::format("largest deviation {:.0f} ns beside rounding up to a tick", t.largest_error),
                     t.largest_error <= 1);
  update.note = "checked period by period; C never falls below R and counts whole ticks, which the paper does not say";
  out.rows.push_back(std::move(update));
  const double per_s = 1e9 / static_cast<double>(r.period), seconds = (burst.at(1) - burst.at(0)) / 1e3;
  Row row = as_one_run("misses in the burst, mean of the repetitions", "", p.number("misses_in_burst"), misses(0));
  const double mean_misses = mean_interval(misses(0)).mean;
  row.note = fmt::format(
      "of about {:.0f} periods; with the equation as it is printed, C not rounded up to whole ticks, {:.1f}: an "
      "integral controller makes the mean of P equal to R, and does not see the interrupt handlers. The published "
      "count "
      "is that of {:.2f} s at full speed: the paper supposes that its stream began slowly (TCP), ours does not",
      seconds * per_s, mean_interval(misses(1)).mean, seconds * p.number("misses_in_burst") / mean_misses);
  out.rows.push_back(std::move(row));
  // "drops from its elevated level back to about 4.0" (4.4); nearer to R than to where it was.
  const auto reserved_at = [](const Trajectory& of, double ms) {
    const auto& x = of.reserved.x;
    const auto after = std::find_if(x.begin(), x.end(), [&](double at) { return at >= ms; });
    return of.reserved.y.at(static_cast<std::size_t>(after - x.begin()));
  };
  const double base = static_cast<double>(r.needed) / 1e6, high = reserved_at(t, burst.at(1) - 100),
               low = reserved_at(t, burst.at(1) + 500);
  Row falls = holds("C_t half a second after the burst", "about 4.0 ms",
                    fmt::format("{:.2f} ms, was {:.2f} ms", low, high), low - base < (high - low) / 4);
  falls.note = fmt::format(
      "C in whole ticks stays where half of what P has too much is less than a tick; with the equation as it is "
      "printed "
      "it is {:.2f} ms, was {:.2f} ms",
      reserved_at(of_unrounded, burst.at(1) + 500), reserved_at(of_unrounded, burst.at(1) - 100));
  out.rows.push_back(std::move(falls));
  const auto figure = [&](const char* name, const char* title, Series s, const char* y) {
    s.style = Series::Style::kPoints;
    out.figures.push_back({fmt::format("regehr.fig4{}", name),
                           title,
                           "Rez-FB, a burst of network traffic from 1000 to 2000 ms.",
                           axis("time (ms)"),
                           axis(y),
                           {std::move(s)},
                           {}});
  };
  figure("", "Figure 4, top: stolen time reported by GetStolen()", std::move(t.stolen), "stolen (% of 4 ms)");
  figure(".reserved", "Figure 4, middle: CPU time requested, C_t", std::move(t.reserved), "C_t (ms)");
  figure(".received", "Figure 4, bottom: CPU time received, P_t", std::move(t.received), "P_t (ms)");
  out.summary =
      "One second of TCP at full speed against Rez-FB without over-reservation. TCP's slow start is not modelled.";
  return out;
}

namespace {

// Both threads' intervals around one reserved block in the middle of the run.
Figure trace(std::string id, std::string title, const RegehrResult& r) {
  Figure f{std::move(id),
           std::move(title),
           "When each thread had the CPU around one block of reserved time.",
           axis("time (ms)"),
           axis("thread"),
           {},
           {}};
  f.y.min = 0;
  f.y.max = 3;
  f.y.ticks = {{1, "Thread 1"}, {2, "Thread 2"}};
  if (r.reserved.size() < 2) return f;
  std::size_t first = r.reserved.size() / 2;
  while (first > 1 && r.reserved[first].begin - r.reserved[first - 1].end < 5'000'000) first--;
  const hostsim::Ns from = r.reserved[first].begin - 2'000'000, to = from + 9'000'000;
  const auto line = [&](const char* name, double y, const std::vector<hostsim::StolenTimeProbe::Interval>& all) {
    Series s;
    s.name = name;
    s.style = Series::Style::kBars;
    for (const auto& i : all) {
      if (i.end < from || i.begin > to) continue;
      // Steps: down between intervals.
      s.x.insert(s.x.end(), {static_cast<double>(i.begin) / 1e6, static_cast<double>(i.end) / 1e6});
      s.y.insert(s.y.end(), {y, y - 0.6});
    }
    s.style = Series::Style::kStep;
    f.series.push_back(std::move(s));
  };
  line("Thread 1", 1, r.spinner);
  line("Thread 2, 4 ms / 20 ms", 2, r.reserved);
  return f;
}

}  // namespace

Outcome regehr_fig2(const Run& run) {
  const Published& p = run.published;
  RegehrRun idle, busy;
  idle.keep_intervals = busy.keep_intervals = true;
  idle.seconds = busy.seconds = 5;
  busy.network = kAlways;
  const auto results = run_all(run, {idle, busy}, run.repetitions);
  const MeanInterval received = mean_interval(numbers(results[1], &RegehrResult::received));
  Outcome out;
  Row row = within("received of the reserved time under Netperf", "%", p.number("received_percent_of_reserved"),
                   100 * received.mean / static_cast<double>(busy.needed), 1);
  row.note = "an input, seen again: it decides the cost of the network's DPC, with a window of 24 segments";
  out.rows.push_back(std::move(row));
  out.figures.push_back(
      trace("regehr.fig1", "Figure 1: a CPU reservation on an otherwise idle machine", results[0][0]));
  out.figures.push_back(trace("regehr.fig2", "Figure 2: gaps in Thread 2's execution", results[1][0]));
  out.summary =
      "Thread 2 with 4 ms of every 20 ms under Rez, Thread 1 spinning: alone, and while a TCP stream arrives.";
  return out;
}

Outcome regehr_overhead(const Run& run) {
  const Published& p = run.published;
  // Assumptions: GetStolen() at each decision 15 cycles; the feedback equation and admission 100 cycles a period.
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
  out.rows.push_back(within("Rez-C against Rez, CPU time lost", "%", p.number("rez_c_percent"), lost(1), 0.006));
  out.rows.back().note = "from assumed costs: 15 cycles a GetStolen()";
  out.rows.push_back(within("Rez-FB against Rez, CPU time lost", "%", p.number("rez_fb_percent"), lost(2), 0.006));
  out.rows.back().note = "and 100 cycles for the feedback equation, in the clock interrupt that ends a period";
  out.summary = "An idle machine; the accounting's own cost is charged at each tick and at each period.";
  return out;
}

namespace {

/// What a transfer does, and what it would have to cost for the published share: per cent.
std::string counted(const TransferWork& work, const UnitCosts& costs, double published) {
  UnitCosts cheap = costs, dear = costs;
  cheap.port_access /= 2;
  dear.port_access *= 2;
  return fmt::format(
      "counted: {:.0f} us of the CPU every {:.0f} us, {:.0f} us would make the published share; port accesses of {:g} "
      "and {:g} us make {:.2f} and {:.2f} %",
      (work.handler_ns(costs) + work.dpc_ns(costs)) / 1e3, work.every_ns / 1e3, work.every_ns * published / 100 / 1e3,
      cheap.port_access / 1e3, dear.port_access / 1e3, 100 * work.share(cheap), 100 * work.share(dear));
}

/// The longest time inside a block of reserved time that somebody else had.
double longest_gap_ms(const std::vector<hostsim::StolenTimeProbe::Interval>& received) {
  constexpr hostsim::Ns kBetweenBlocks = 5'000'000;
  hostsim::Ns longest = 0;
  for (std::size_t i = 1; i < received.size(); ++i) {
    const hostsim::Ns gap = received[i].begin - received[i - 1].end;
    if (gap < kBetweenBlocks) longest = std::max(longest, gap);
  }
  return static_cast<double>(longest) / 1e6;
}

constexpr int kFigure5Ms = 10;  // reserved: 1 ms to so many

/// @param results [kFigure5Ms][repetition]
void add_figure5(Outcome& out, const Published& p, std::span<const std::vector<RegehrResult>> results) {
  Series s;
  s.name = "simulated";
  s.style = Series::Style::kLine;
  bool falls = true;
  for (int ms = 1; ms <= kFigure5Ms; ++ms) {
    add(s, ms, numbers(results[static_cast<std::size_t>(ms - 1)], &RegehrResult::stolen), 100);
    if (ms > 4) falls = falls && s.y.back() < s.y[s.y.size() - 2];
  }
  falls = falls && s.y.back() < s.y.front();
  Row shape =
      holds("Figure 5", p.text("fig5"),
            fmt::format("{:.1f} % at 1 ms, {:.1f} % at 4 ms, {:.1f} % at 10 ms", s.y[0], s.y[3], s.y[9]), falls);
  shape.note = "below 3 ms the window of the sender does not fill, and the share is nearly level";
  out.rows.push_back(std::move(shape));
  Figure f{"regehr.fig5",
           "Figure 5: time stolen by the kernel to process an incoming TCP stream",
           "The sender falls silent when its window is full: a longer block loses a smaller share.",
           axis("reserved of 20 ms (ms)"),
           axis("stolen (%)"),
           {std::move(s)},
           {}};
  f.y.min = 0;
  out.figures.push_back(std::move(f));
}

}  // namespace

Outcome regehr_stolen(const Run& run) {
  const Published& p = run.published;
  const auto rows = p.rows("rows");
  const UnitCosts costs = unit_costs();
  // An idle machine of each kind to compare with: the clock steals too, and is none of the devices'.
  std::vector<RegehrRun> runs(2);
  runs[1].enforcement_hz = kPreciseHz;
  for (const Published& row : rows) {
    RegehrRun r;
    if (row.text("os") == "Linux/RT") r.enforcement_hz = kPreciseHz;
    r.devices = {load_of(row.text("device"), costs)};
    r.keep_intervals = row.text("device") == "IDE / PIO";
    runs.push_back(r);
  }
  const std::size_t fig5_at = runs.size();
  for (int ms = 1; ms <= kFigure5Ms; ++ms) {
    RegehrRun r;
    r.needed = ms * 1'000'000;
    r.network = kAlways;
    runs.push_back(r);
  }
  const auto results = run_all(run, runs, run.repetitions);

  Outcome out;
  // Unit costs of other machines, scaled by clock: a third is what one can ask of them.
  constexpr double kShare = 0.3;
  const Published detector = p.table("stolen_time_detector");
  const hostsim::StolenTimeProbe::Config used;
  out.rows.push_back(input("detector: gap", "us", detector.number("gap_us"), static_cast<double>(used.gap) / 1e3,
                           "hostsim/load/stolen_time_probe.h"));
  out.rows.push_back(input("detector: path", "ns", detector.number("path_ns"), static_cast<double>(used.path),
                           "hostsim/load/stolen_time_probe.h"));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool linux = rows[i].text("os") == "Linux/RT";
    const MeanInterval idle = mean_interval(numbers(results[linux ? 1 : 0], &RegehrResult::stolen));
    const MeanInterval m = mean_interval(numbers(results[2 + i], &RegehrResult::stolen));
    const std::string device = rows[i].text("device");
    const double published = rows[i].number("percent");
    Row row = within_share(fmt::format("{}, {}", rows[i].text("os"), device), "%", published,
                           100 * (m.mean - idle.mean), kShare);
    row.note = fmt::format("{}; +- {:.2f}, the clock's {:.2f} subtracted",
                           counted(transfer_work(device), costs, published), 100 * m.half_width, 100 * idle.mean);
    out.rows.push_back(std::move(row));
    if (device != "IDE / PIO") continue;
    constexpr double kLarge = 1;  // ms, of a block of 4
    const double gap = longest_gap_ms(results[2 + i][0].reserved);
    Row large =
        holds("Figure 6", p.text("fig6"), fmt::format("longest gap {:.2f} ms of a block of 4 ms", gap), gap >= kLarge);
    const TransferWork sixteen = transfer_work(device);
    large.note =
        fmt::format("16 sectors an interrupt; with one sector an interrupt no gap would be longer than {:.2f} ms",
                    (costs.interrupt + sixteen.handler_accesses / 16.0 * costs.port_access) / 1e6);
    out.rows.push_back(std::move(large));
    out.figures.push_back(
        trace("regehr.fig6", "Figure 6: time stolen by the IDE disk driver (PIO)", results[2 + i][0]));
  }
  add_figure5(out, p, std::span(results).subspan(fig5_at));
  out.summary = fmt::format(
      "A reservation of 4 ms / 20 ms beside each device, and of 1 to 10 ms beside Netperf. A transfer of a device "
      "costs what it does: {:.2f} us an interrupt, {:.2f} us the end of a request (other papers, by clock), {:g} us a "
      "port "
      "access, {:g} us a descriptor (assumed).",
      costs.interrupt / 1e3, costs.completion / 1e3, costs.port_access / 1e3, costs.descriptor / 1e3);
  return out;
}

}  // namespace offhook::reproduce
