// SPDX-License-Identifier: MIT
//
// Regehr and Stankovic, "Augmented CPU Reservations: Towards Predictable Execution on General-Purpose Operating
// Systems", RTAS 2001: the time that devices steal from a reservation (Figures 1, 2, 5, 6 and Table 1).
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "src/lab/reproduce/claim.h"
#include "src/lab/reproduce/regehr_devices.h"
#include "src/lab/reproduce/regehr_runs.h"

namespace offhook::reproduce {

namespace {

// Both threads' intervals around one reserved block in the middle of the run.
Figure trace(std::string id, std::string title, const RegehrResult& r) {
  Figure f{std::move(id),
           std::move(title),
           "Times at which each thread had the CPU, around one block of reserved time.",
           plain_axis("time (ms)"),
           plain_axis("thread"),
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
      // Draws steps: low between intervals.
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
  row.note = "an input, read back: the cost of the network's DPC follows from it, with a window of 24 segments";
  out.rows.push_back(std::move(row));
  out.figures.push_back(
      trace("regehr.fig1", "Figure 1: a CPU reservation on an otherwise idle machine", results[0][0]));
  out.figures.push_back(trace("regehr.fig2", "Figure 2: gaps in Thread 2's execution", results[1][0]));
  out.summary =
      "Thread 2 with 4 ms of every 20 ms under Rez, Thread 1 spinning: alone, and while a TCP stream arrives.";
  return out;
}

namespace {

/// The work of a transfer, and its cost in per cent if the published share were right.
std::string counted(const TransferWork& work, const UnitCosts& costs, double published) {
  UnitCosts cheap = costs, dear = costs;
  cheap.port_access /= 2;
  dear.port_access *= 2;
  return fmt::format(
      "counted: {:.0f} us of the CPU every {:.0f} us, {:.0f} us would give the published share; port accesses of {:g} "
      "and {:g} us make {:.2f} and {:.2f} %",
      (work.handler_ns(costs) + work.dpc_ns(costs)) / 1e3, work.every_ns / 1e3, work.every_ns * published / 100 / 1e3,
      cheap.port_access / 1e3, dear.port_access / 1e3, 100 * work.share(cheap), 100 * work.share(dear));
}

/// The longest time within a block of reserved time in which another entity had the CPU.
double longest_gap_ms(const std::vector<hostsim::StolenTimeProbe::Interval>& received) {
  constexpr hostsim::Ns kBetweenBlocks = 5'000'000;
  hostsim::Ns longest = 0;
  for (std::size_t i = 1; i < received.size(); ++i) {
    const hostsim::Ns gap = received[i].begin - received[i - 1].end;
    if (gap < kBetweenBlocks) longest = std::max(longest, gap);
  }
  return static_cast<double>(longest) / 1e6;
}

constexpr int kFigure5Ms = 10;  // reserved: from 1 ms to this

/// @param results [kFigure5Ms][repetition]
void add_figure5(Outcome& out, const Published& p, std::span<const std::vector<RegehrResult>> results) {
  Series s;
  s.name = "simulated";
  s.style = Series::Style::kLine;
  bool falls = true;
  for (int ms = 1; ms <= kFigure5Ms; ++ms) {
    add_mean(s, ms, numbers(results[static_cast<std::size_t>(ms - 1)], &RegehrResult::stolen), 100);
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
           "The sender stops when its window is full: a longer block loses a smaller share.",
           plain_axis("reserved of 20 ms (ms)"),
           plain_axis("stolen (%)"),
           {std::move(s)},
           {}};
  f.y.min = 0;
  out.figures.push_back(std::move(f));
}

/// Figure 6: a long gap that the disk causes in PIO mode.
Row row_of_figure6(const std::string& published, const RegehrResult& result, const UnitCosts& costs) {
  constexpr double kLarge = 1;  // ms, in a block of 4
  const double gap = longest_gap_ms(result.reserved);
  Row large = holds("Figure 6", published, fmt::format("longest gap {:.2f} ms of a block of 4 ms", gap), gap >= kLarge);
  const TransferWork sixteen = transfer_work("IDE / PIO");
  large.note =
      fmt::format("16 sectors per interrupt; with one sector per interrupt no gap would be longer than {:.2f} ms",
                  (costs.interrupt + sixteen.handler_accesses / 16.0 * costs.port_access) / 1e6);
  return large;
}

/// First the runs of an idle machine of each kind, because the clock also steals time, which does not belong to the
/// devices. Then the runs of the table.
std::vector<RegehrRun> runs_of_table(const std::vector<Published>& rows, const UnitCosts& costs) {
  std::vector<RegehrRun> runs(2);
  runs[1].enforcement_hz = kPreciseHz;
  for (const Published& row : rows) {
    RegehrRun r;
    if (row.text("os") == "Linux/RT") r.enforcement_hz = kPreciseHz;
    r.devices = {load_of(row.text("device"), costs)};
    r.keep_intervals = row.text("device") == "IDE / PIO";
    runs.push_back(r);
  }
  return runs;
}

}  // namespace

Outcome regehr_stolen(const Run& run) {
  const Published& p = run.published;
  const auto rows = p.rows("rows");
  const UnitCosts costs = unit_costs();
  std::vector<RegehrRun> runs = runs_of_table(rows, costs);
  const std::size_t fig5_at = runs.size();
  for (int ms = 1; ms <= kFigure5Ms; ++ms) {
    RegehrRun r;
    r.needed = ms * 1'000'000;
    r.network = kAlways;
    runs.push_back(r);
  }
  const auto results = run_all(run, runs, run.repetitions);

  Outcome out;
  constexpr double kShare = 0.15;  // a deviation of 20 % from the published value is noticed
  const Published detector = p.table("stolen_time_detector");
  const hostsim::StolenTimeProbe::Config used;
  out.rows.push_back(input("detector: gap", "us", detector.number("gap_us"), static_cast<double>(used.gap) / 1e3,
                           "hostsim/host/stolen_time_probe.h"));
  out.rows.push_back(input("detector: path", "ns", detector.number("path_ns"), static_cast<double>(used.path),
                           "hostsim/host/stolen_time_probe.h"));
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
    out.rows.push_back(row_of_figure6(p.text("fig6"), results[2 + i][0], costs));
    out.figures.push_back(
        trace("regehr.fig6", "Figure 6: time stolen by the IDE disk driver (PIO)", results[2 + i][0]));
  }
  add_figure5(out, p, std::span(results).subspan(fig5_at));
  out.summary = fmt::format(
      "A reservation of 4 ms / 20 ms with each device, and of 1 to 10 ms with Netperf. The cost of a device's transfer "
      "is the sum of its parts: {:.2f} us per interrupt, {:.2f} us for the end of a request (other papers, by clock), "
      "{:g} us per port access, {:g} us per descriptor (assumed).",
      costs.interrupt / 1e3, costs.completion / 1e3, costs.port_access / 1e3, costs.descriptor / 1e3);
  return out;
}

}  // namespace offhook::reproduce
