// SPDX-License-Identifier: MIT
//
// Cota-Robles and Held, "A Comparison of Windows Driver Model Latency Performance on Windows NT and Windows 98",
// OSDI 1999.
#include "src/lab/reproduce/cota.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hostsim/engine/random.h"
#include "src/lab/advice/mttf.h"
#include "src/lab/reproduce/claim.h"
#include "traces/scenario/latency.h"

namespace offhook::reproduce {

using hostsim::HostLatencies;
using hostsim::LatencyDistribution;
using hostsim::Modality;

namespace {

constexpr int kHigh = 28, kMedium = 24;

HostLatencies host(std::string_view os, std::string_view load, bool virus_scanner = false) {
  return config::load_latencies(fmt::format("{}-{}", os, load), virus_scanner);
}

std::string range(const std::vector<double>& v) {
  return fmt::format("{:g} to {:g}", v.at(0), v.at(1));
}

}  // namespace

Outcome cota_table1(const Run& run) {
  const Published& p = run.published;
  Outcome out;
  out.rows.push_back(input("latency tolerance", p.text("latency_tolerance"), "src/lab/advice/mttf.h"));
  for (const Published& row : p.rows("rows")) {
    const auto t = row.numbers("t_ms"), n = row.numbers("n"), tolerance = row.numbers("tolerance_ms");
    const double a = (n.at(1) - 1) * t.at(0), b = (n.at(0) - 1) * t.at(1);
    out.rows.push_back(
        paper_only(fmt::format("{}: tolerance of {} buffers of {} ms", row.text("application"), range(n), range(t)),
                   "ms", range(tolerance), range({std::min(a, b), std::max(a, b)}),
                   "the caption's rule, (n_max - 1) t_min and (n_min - 1) t_max, is \"roughly\""));
  }
  out.summary =
      "The caption's rule, computed. It gives the row of ADSL exactly and the others roughly, as the caption states.";
  return out;
}

namespace {

/// The latencies of one load, drawn wait by wait for `weeks` weeks of use.
struct Drawn {
  std::array<std::vector<double>, 7> ms;  ///< one for each row of Table 3, in its order
  double hours = 0;                       ///< of use
};

Drawn draw(const HostLatencies& h, double hours, std::uint64_t seed) {
  Drawn out;
  out.hours = hours;
  const hostsim::Random random(seed, 0x636f7461);
  // Only the longest waits of an hour and longer periods are used, so only such waits are drawn.
  constexpr double kLongest = 1e-3;
  const auto waits = static_cast<std::uint64_t>(kLongest * hours * 3600 * h.waits_per_s / h.use_per_load);
  for (auto& v : out.ms) v.reserve(waits);
  for (std::uint64_t i = 0; i < waits; i++) {
    const double u = kLongest * random.uniform(i);
    const double isr = h.interrupt.latency_ms(u), dpc = h.to(Modality::kDpc, 0).latency_ms(u),
                 high = h.to(Modality::kThread, kHigh).latency_ms(u),
                 medium = h.to(Modality::kThread, kMedium).latency_ms(u);
    const std::array<double, 7> rows = {isr, dpc - isr, dpc, high - dpc, high, medium - dpc, medium};
    for (std::size_t k = 0; k < rows.size(); k++) out.ms[k].push_back(rows[k]);
  }
  for (auto& v : out.ms) std::sort(v.begin(), v.end(), std::greater<>());
  return out;
}

/// The latency that is exceeded once in `hours` in this run.
double worst_in(const std::vector<double>& falling, double run_hours, double hours) {
  const auto rank = static_cast<std::size_t>(std::lround(run_hours / hours));
  return falling.empty() ? 0 : falling[std::min(std::max<std::size_t>(rank, 1) - 1, falling.size() - 1)];
}

Series tail(std::string name, const LatencyDistribution& d) {
  Series s;
  s.name = std::move(name);
  s.style = Series::Style::kLine;
  double u = 1;
  while (u > d.points().back().longer) {
    s.x.push_back(d.latency_ms(u));
    s.y.push_back(u);
    u *= 0.8;
  }
  s.x.push_back(d.worst_ms());
  s.y.push_back(d.points().back().longer);
  return s;
}

Axis log_axis(std::string text) {
  Axis a;
  a.text = std::move(text);
  a.log = true;
  return a;
}

/// Half a unit of the last digit that Table 3 prints: tenths of a millisecond below 10 ms, whole milliseconds above.
double half_a_digit(double value) {
  return value < 10 ? 0.05 : 0.5;
}

/// Hours of use for which the worst wait is published: an hour, a day, a week.
using Hours = std::array<double, 3>;

Row row_of_table3(const std::string& service, const char* load, const std::vector<double>& published,
                  const std::vector<double>& ms, double drawn_hours, const Hours& hours) {
  constexpr double kTolerance = 0.05;
  Hours simulated{};
  bool so = true;
  for (std::size_t c = 0; c < simulated.size(); c++) {
    simulated[c] = worst_in(ms, drawn_hours, hours[c]);
    so &= std::abs(simulated[c] - published.at(c)) <= kTolerance * published.at(c) + half_a_digit(published.at(c));
  }
  Row row = holds(fmt::format("{}, {}: exceeded once an hour, a day, a week", service, load),
                  fmt::format("{:g} ms", fmt::join(published, ", ")),
                  fmt::format("{:.2g} ms", fmt::join(simulated, ", ")), so);
  row.tolerance = fmt::format("each within {:g} % and half of the last digit that the table prints", 100 * kTolerance);
  if (!so) row.note = "this row is the difference of two others, and the published ones do not add up here";
  return row;
}

/// Figure 4: the tails of all waits of a system.
Figure figure4(const char* os, const char* name, const char* id) {
  Figure f;
  f.id = id;
  f.title = fmt::format("Figure 4: {} latencies", name);
  f.caption = os == std::string_view("win98")
                  ? "Share of waits that are longer, from the hardware interrupt. It is fitted to Table 3: a line "
                    "through its three points and an assumed least value."
                  : "For NT the paper prints no numbers, only \"an order of magnitude\" below Windows 98's DPCs (4.2).";
  f.x = log_axis("latency (ms)");
  f.y = log_axis("share of waits that are longer");
  f.y.max = 1;
  for (const char* load : kCotaLoads) {
    const HostLatencies h = host(os, load);
    f.series.push_back(tail(fmt::format("{}, DPC", load), h.to(Modality::kDpc, 0)));
    f.series.push_back(tail("thread 28", h.to(Modality::kThread, kHigh)));
    f.series.back().variant = 1;
    f.series.push_back(tail("thread 24", h.to(Modality::kThread, kMedium)));
    f.series.back().variant = 2;
  }
  return f;
}

}  // namespace

Outcome cota_table3(const Run& run) {
  const Published& p = run.published;
  constexpr double kWeeks = 200;  // so that the worst wait of a week occurs 200 times, and its rate is known to 7 %
  std::array<Drawn, kCotaLoads.size()> drawn;
  std::array<Hours, kCotaLoads.size()> hours{};
  for (std::size_t i = 0; i < kCotaLoads.size(); i++) {
    const auto day = p.numbers(fmt::format("usage_hours.{}.day", kCotaLoads[i]));
    const double middle = (day.at(0) + day.at(1)) / 2;
    hours[i] = {1, middle, middle * p.number(fmt::format("usage_hours.{}.week_days", kCotaLoads[i]))};
  }
  run.parallel(kCotaLoads.size(),
               [&](std::size_t i) { drawn[i] = draw(host("win98", kCotaLoads[i]), kWeeks * hours[i][2], run.seed); });

  Outcome out;
  const auto rows = p.rows("rows");
  for (std::size_t k = 0; k < rows.size(); k++) {
    for (std::size_t i = 0; i < kCotaLoads.size(); i++)
      out.rows.push_back(row_of_table3(rows[k].text("service"), kCotaLoads[i], rows[k].numbers(kCotaLoads[i]),
                                       drawn[i].ms.at(k), drawn[i].hours, hours[i]));
  }
  out.figures = {figure4("win98", "Windows 98", "cota.fig4"), figure4("nt4", "Windows NT 4.0", "cota.fig4.nt")};
  out.summary = fmt::format(
      "200 weeks of each load; only the longest thousandth of the waits is drawn. The hosts were fitted to the "
      "rows from the hardware interrupt to "
      "ISR, DPC and thread; the other rows are their differences.");
  return out;
}

namespace {

double minutes(double seconds) {
  return seconds / 60;
}

Figure mttf_figure(std::string id, std::string title, Modality modality, double share) {
  Figure f;
  f.id = std::move(id);
  f.title = std::move(title);
  f.caption =
      "The paper's formula on the fitted distributions, double buffered. Lines end where the slack exceeds the worst "
      "measured latency.";
  f.x.text = "buffering (n - 1) t (ms)";
  f.y = log_axis("mean time to underrun (s)");
  for (const char* load : kCotaLoads) {
    const HostLatencies h = host("win98", load);
    Series s;
    s.name = load;
    s.style = Series::Style::kLine;
    for (int half_ms = 4; half_ms <= 160; ++half_ms) {
      const double t = half_ms / 2.0;
      const double mttf = published_mttf_s(h.to(modality, kHigh), {t, 2, share * t});
      if (!std::isfinite(mttf)) break;
      s.x.push_back(t);
      s.y.push_back(mttf);
    }
    f.series.push_back(std::move(s));
  }
  for (const auto& [seconds, text] : {std::pair{60.0, "a minute"}, {3600.0, "an hour"}, {86400.0, "a day"}})
    f.marks.push_back({Mark::Axis::kY, seconds, {}, text, false});
  return f;
}

/// How often a wait from DPC to a high-priority thread exceeds `ms`.
double longer_waits(const HostLatencies& h, double ms, std::uint64_t waits, std::uint64_t seed) {
  const hostsim::Random random(seed, 0x73636e);
  const auto& thread = h.to(Modality::kThread, kHigh);
  const auto& dpc = h.to(Modality::kDpc, 0);
  const double possible = thread.longer_than(ms);
  std::uint64_t longer = 0;
  for (std::uint64_t i = 0; i < waits; i++) {
    const double u = random.uniform(i);
    longer += u <= possible * (1 + 1e-9) && thread.latency_ms(u) - dpc.latency_ms(u) > ms;
  }
  return static_cast<double>(longer) / static_cast<double>(waits);
}

Buffering buffering(double share, double t, int n) {
  return {t, n, share * t};
}

/// The cases of section 5.1, simulated.
struct Simulated {
  UnderrunRun doubled, fourfold,
      triple;                    ///< threads with one buffer of 48 ms and with 4 of 16 ms; a DPC with 3 of 6 ms
  double without = 0, with = 0;  ///< share of waits above 16 ms in the office that the virus scanner causes
};

Simulated simulate(const Run& run, double share) {
  const Published& p = run.published;
  const HostLatencies games = host("win98", "games");
  const LatencyDistribution& thread = games.to(Modality::kThread, kHigh);
  const LatencyDistribution& dpc = games.to(Modality::kDpc, 0);
  constexpr double kSeconds = 3000 * 3600;
  constexpr std::uint64_t kEnough = 400;
  Buffering tolerant = buffering(share, 16, 4);  // the same slack in one buffer
  tolerant.buffer_ms = tolerant.tolerance_ms();
  tolerant.buffers = 2;
  const double without_ms = p.number("no_virus_scanner.latency_ms"), with_ms = p.number("virus_scanner.latency_ms");
  Simulated s;
  run.parallel(5, [&](std::size_t i) {
    if (i == 0) s.doubled = simulate_underruns(thread, tolerant, kSeconds, kEnough, run.seed);
    if (i == 1) s.fourfold = simulate_underruns(thread, buffering(share, 16, 4), kSeconds, kEnough, run.seed);
    if (i == 2) s.triple = simulate_underruns(dpc, buffering(share, 6, 3), kSeconds, kEnough, run.seed);
    if (i == 3) s.without = longer_waits(host("win98", "office"), without_ms, 60'000'000, run.seed);
    if (i == 4) s.with = longer_waits(host("win98", "office", true), with_ms, 2'000'000, run.seed);
  });
  return s;
}

std::string interval_of(const UnderrunRun& r) {
  const Interval i = r.mttf_interval_s();
  return fmt::format("95 % confidence {:.0f} to {:.0f} min", minutes(i.low), minutes(i.high));
}

void add_mttf_rows(Outcome& out, const Published& p, double share, const Simulated& simulated) {
  const HostLatencies games = host("win98", "games");
  const LatencyDistribution& thread = games.to(Modality::kThread, kHigh);
  const LatencyDistribution& dpc = games.to(Modality::kDpc, 0);
  const auto row = [&](Row r, std::string note) {
    r.note = std::move(note);
    out.rows.push_back(std::move(r));
  };
  const auto hour = p.numbers("thread_48ms_minutes");
  row(between("thread, 3D games, four buffers of 16 ms: their formula", "min", hour.at(0), hour.at(1),
              minutes(published_mttf_s(thread, buffering(share, 16, 4)))),
      "on the fitted distribution");
  row(between("thread, 3D games, 48 ms double buffered, simulated", "min", hour.at(0), hour.at(1),
              minutes(simulated.doubled.mttf_s())),
      interval_of(simulated.doubled) + "; one wait every 48 ms, as their formula has it");
  row(between("thread, 3D games, four buffers of 16 ms, simulated", "min", hour.at(0), hour.at(1),
              minutes(simulated.fourfold.mttf_s())),
      interval_of(simulated.fourfold) +
          "; an interrupt comes every 16 ms, three times as often as their formula assumes (\"strictly "
          "accurate only for double buffered implementations\")");
  const Published scanner = p.table("virus_scanner"), plain = p.table("no_virus_scanner");
  const double with = simulated.with, without = simulated.without;
  row(within_share("office, waits for one from DPC to high thread above 16 ms", "", plain.number("one_in"),
                   without > 0 ? 1 / without : 0, 0.15),
      "the pair that determined the measurement rate of the tools");
  row(within_share("without the scanner, an audio thread of 16 ms then loses once in", "min", plain.number("every_min"),
                   without > 0 ? plain.number("latency_ms") * 1e-3 / without / 60 : 0, 0.15),
      "");
  row(within_share("waits above 16 ms, with the virus scanner", "", scanner.number("one_in"), with > 0 ? 1 / with : 0,
                   0.15),
      "the factor between the two is an input");
  row(within_share("with the scanner, an audio thread of 16 ms then loses once in", "s", scanner.number("every_s"),
                   with > 0 ? scanner.number("latency_ms") * 1e-3 / with : 0, 0.15),
      "");
  out.rows.push_back(paper_only(
      "DPC, 3D games, three buffers of 6 ms, simulated", "min", range(p.numbers("paper_only.dpc_12ms_minutes")),
      minutes(simulated.triple.mttf_s()),
      interval_of(simulated.triple) +
          fmt::format("; {:.0f} min by their formula", minutes(published_mttf_s(dpc, buffering(share, 6, 3))))));
  const double never = published_mttf_s(dpc, buffering(share, 10, 3));
  out.rows.push_back(paper_only("DPC, 3D games, three buffers of 10 ms: their formula", "min",
                                p.number("paper_only.dpc_20ms_minutes"),
                                std::isfinite(never) ? Value(minutes(never)) : Value("never"),
                                "a slack of 17.5 ms is above the 14 ms that Table 3 gives for the worst of a week"));
}

Figure virus_scanner_figure(const Published& p) {
  const Published scanner = p.table("virus_scanner"), plain = p.table("no_virus_scanner");
  Figure f;
  f.id = "cota.fig5";
  f.title = "Figure 5: Effect of the virus scanner on high priority real-time thread latency";
  f.caption = "Office load. The factor is published at 16 ms only and assumed to hold for all latencies.";
  f.x = log_axis("latency (ms)");
  f.y = log_axis("share of waits that are longer");
  f.y.max = 1;
  f.series = {tail("without", host("win98", "office").high_thread),
              tail("with the virus scanner", host("win98", "office", true).high_thread)};
  Series points;
  points.name = "section 4.3";
  points.published = true;
  points.symbol = Series::Symbol::kSquare;
  points.x = {plain.number("latency_ms"), scanner.number("latency_ms")};
  points.y = {1 / plain.number("one_in"), 1 / scanner.number("one_in")};
  f.series.push_back(std::move(points));
  return f;
}

/// The published range for a buffering of `ms`.
Series section_5_1(double ms, double low_min, double high_min) {
  Series s;
  s.name = "section 5.1";
  s.published = true;
  s.symbol = Series::Symbol::kSquare;
  s.x = {ms};
  s.y = {30 * (low_min + high_min)};
  s.interval = {30 * (high_min - low_min)};
  return s;
}

}  // namespace

Outcome cota_mttf(const Run& run) {
  const Published& p = run.published;
  const double share = p.number("pump_share_percent") / 100;
  const Simulated simulated = simulate(run, share);
  Outcome out;
  out.rows.push_back(input("slack", p.text("slack"), "src/lab/advice/mttf.h"));
  out.rows.push_back(input("cycle time", p.text("cycle_time"), "src/lab/advice/mttf.h"));
  out.rows.push_back(
      input("share of the pump", "%", p.number("pump_share_percent"), 100 * share, "of a 300 MHz Pentium II"));
  add_mttf_rows(out, p, share, simulated);

  out.figures.push_back(virus_scanner_figure(p));
  Figure fig6 =
      mttf_figure("cota.fig6", "Figure 6: Mean time to buffer underrun, DPC-based datapump", Modality::kDpc, share);
  const auto quarter = p.numbers("paper_only.dpc_12ms_minutes"), hour = p.numbers("thread_48ms_minutes");
  fig6.series.push_back(section_5_1(12, quarter.at(0), quarter.at(1)));
  fig6.series.back().x.push_back(20);
  fig6.series.back().y.push_back(60 * p.number("paper_only.dpc_20ms_minutes"));
  fig6.series.back().interval.push_back(0);
  out.figures.push_back(std::move(fig6));
  Figure fig7 = mttf_figure("cota.fig7", "Figure 7: Mean time to buffer underrun, thread-based datapump",
                            Modality::kThread, share);
  fig7.series.push_back(section_5_1(48, hour.at(0), hour.at(1)));
  out.figures.push_back(std::move(fig7));
  out.summary =
      "Their formula on distributions fitted to Table 3 gives the hour of Figure 7. Simulated, four buffers of 16 ms "
      "fail three times as often, because interrupts come every 16 ms.";
  return out;
}

}  // namespace offhook::reproduce
