// SPDX-License-Identifier: MIT
//
// The Siemens report on Windows CE 3.0 latencies.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include "hostsim/host/device_load.h"
#include "hostsim/host/hold_off.h"
#include "src/lab/reproduce/claim.h"
#include "traces/scenario/latency.h"

namespace offhook::reproduce {

using hostsim::Cpu;
using hostsim::Engine;
using hostsim::EntityId;
using hostsim::HostLatencies;
using hostsim::Ns;

namespace {

constexpr std::array kHosts = {"ce3-sh4", "ce3-pentium", "ce3-pentium-qfe"};
constexpr int kRuns = 40, kMeasurements = 1000;  // "-n 1000"; two figures with about 20 columns per board
constexpr int kIdleRuns = 20;                    // plus one without a workload

struct Statistics {
  double least = 1e300, sum = 0, greatest = 0;
  int n = 0;
  void add(double us) {
    least = std::min(least, us);
    greatest = std::max(greatest, us);
    sum += us;
    n++;
  }
  void add(const Statistics& s) {
    least = std::min(least, s.least);
    greatest = std::max(greatest, s.greatest);
    sum += s.sum;
    n += s.n;
  }
  double mean() const { return sum / n; }
};

struct Column {
  Statistics isr, ist;
};

/// The other work of a board. The report guesses (Figure 3) that calls of the graphical subsystem hold off interrupts
/// on the SH4. It shows no such peaks on the Pentium, and none with UDP.
enum class Workload { kGraphics, kUdp };

/// A section with interrupts off lasts for the difference between the stable and the greatest level. Every thousandth
/// measurement, one per execution, falls into one ("occasional"; assumption).
hostsim::LoadDevice graphics(double longest_us, double stable_us) {
  const double section_ns = 1e3 * (longest_us - stable_us);
  return {.name = "graphics",
          .every_ns = static_cast<Ns>(section_ns * kMeasurements),
          .jitter = 1,
          .isr_ns = static_cast<Ns>(section_ns),
          .level = 31};
}

/// 250 packets per second. Windows CE 3.0 nests interrupts; this one is below that of the timer.
hostsim::LoadDevice udp() {
  return {.name = "UDP", .every_ns = 4'000'000, .jitter = 0.5, .isr_ns = 5'000, .level = 10};  // 5 us: assumption
}

/// iltiming: a timer interrupt every 1 ms, of which every second one is measured. Its ISR sets an event that the
/// interrupt service thread waits for, at the highest priority.
class Iltiming final : public hostsim::Event {
 public:
  Iltiming(const HostLatencies& latencies, const std::optional<hostsim::LoadDevice>& load, std::uint64_t seed,
           std::uint64_t stream)
      : cpu_(engine_) {
    isr_.of = ist_.of = this;
    ist_.thread = true;
    thread_ = cpu_.add_thread("interrupt service thread", hostsim::FixedPriority{255, 0}, ist_);
    interrupt_ = cpu_.add_interrupt({"timer", 28, hostsim::kNoEntity}, isr_);
    host_.emplace(cpu_, latencies, 255, seed, stream);
    if (load) load_ = hostsim::make_device_load(engine_, cpu_, *load, seed, kLoadStreams + stream);
    if (load_) load_->start();
    engine_.at(0, *this);
  }
  Column measure() {
    engine_.run_until(Ns{2'000'000} * kMeasurements);
    return column_;
  }
  void fire(Ns now) override {
    at_ = now;
    host_->interrupt(thread_);
    cpu_.release(interrupt_);
    engine_.at(now + 2'000'000, *this);
  }

 private:
  struct Routine final : hostsim::Program {
    Ns next(Ns now) override {
      entered = !entered;
      const double us = static_cast<double>(now - of->at_) * 1e-3;
      if (entered) {
        (thread ? of->column_.ist : of->column_.isr).add(us);
        return 1;
      }
      if (!thread) of->cpu_.release(of->thread_);
      return 0;
    }
    Iltiming* of = nullptr;
    bool thread = false, entered = false;
  };
  static constexpr std::uint64_t kLoadStreams = 1u << 20;  // after those of all executions
  Engine engine_;
  Cpu cpu_;
  Routine isr_, ist_;
  EntityId thread_ = hostsim::kNoEntity, interrupt_ = hostsim::kNoEntity;
  std::optional<hostsim::HoldOff> host_;
  std::unique_ptr<hostsim::DeviceLoad> load_;
  Ns at_ = 0;
  Column column_;
};

Figure columns_figure(int number, const std::string& board, const std::string& load, const Column* columns, int n) {
  Figure f;
  f.id = fmt::format("siemens.fig{}", number);
  f.title = fmt::format("Figure {}: {}, workload: {}", number, board, load);
  f.caption =
      "Least, mean and greatest latency of each execution of iltiming, 1000 measurements. The report's text gives one "
      "table for both workloads; a workload adds sections of the graphics with interrupts off on the SH4, and the "
      "network's interrupts.";
  f.x.text = "execution";
  f.y.text = "latency (us)";
  f.y.min = 0;
  using Symbol = Series::Symbol;
  for (const bool thread : {false, true}) {
    const auto series = [&](const char* name, unsigned variant, Symbol symbol, auto value) {
      Series s;
      s.name = fmt::format("{}, {}", thread ? "IST" : "ISR", name);
      s.style = variant == 0 ? Series::Style::kLine : Series::Style::kPoints;
      s.variant = variant;
      s.symbol = symbol;
      for (int i = 0; i < n; i++) {
        s.x.push_back(i + 1);
        s.y.push_back(value(thread ? columns[i].ist : columns[i].isr));
      }
      f.series.push_back(std::move(s));
    };
    series("mean", 0, Symbol::kDot, [](const Statistics& s) { return s.mean(); });
    series("least", 1, Symbol::kRing, [](const Statistics& s) { return s.least; });
    series("greatest", 2, Symbol::kTriangle, [](const Statistics& s) { return s.greatest; });
  }
  return f;
}

/// The first half of the executions has one workload, the second half the other.
Workload workload_of(std::size_t execution) {
  return execution % kRuns < kRuns / 2 ? Workload::kGraphics : Workload::kUdp;
}

/// The difference between the two workloads of a board in the longest wait for the ISR in an execution.
Row workloads_row(const Published& p, const std::string& board, std::span<const Column> columns, bool peaks,
                  double stable_us) {
  std::array<int, 2> above{}, of{};
  std::array<Statistics, 2> isr;
  for (std::size_t i = 0; i < columns.size(); i++) {
    const auto w = static_cast<std::size_t>(workload_of(i));
    isr[w].add(columns[i].isr);
    of[w]++;
    above[w] += columns[i].isr.greatest > stable_us ? 1 : 0;
  }
  const bool same_mean = std::abs(isr[1].mean() / isr[0].mean() - 1) < 0.05;
  const std::string text =
      fmt::format("ISR {:.2f} and {:.2f} us; longer than {:g} us in {} of {} and {} of {} executions", isr[0].mean(),
                  isr[1].mean(), stable_us, above[0], of[0], above[1], of[1]);
  Row r = holds(fmt::format("{}, the workloads", board), p.text(peaks ? "peaks.workloads" : "no_peaks"), text,
                same_mean && (!peaks || (above[0] > 0 && above[1] == 0)));
  r.note = "graphics and mathematics, then UDP";
  return r;
}

}  // namespace

namespace {

/// All executions of iltiming on one board, and one without a workload.
struct Board {
  std::vector<Column> loaded;  ///< [repetitions * kRuns]
  std::vector<Column> idle;    ///< [repetitions * kIdleRuns]
};

std::vector<Board> measure_boards(const Run& run, std::size_t repetitions) {
  const Published& p = run.published;
  const auto published = p.rows("rows");
  const double stable_us = p.numbers("stable_isr_us").at(1);
  std::vector<Board> boards(kHosts.size());
  for (Board& b : boards) {
    b.loaded.resize(repetitions * kRuns);
    b.idle.resize(repetitions * kIdleRuns);
  }
  const std::uint64_t idle_streams = std::uint64_t{kHosts.size()} * repetitions * kRuns;
  run.parallel(kHosts.size() * repetitions, [&](std::size_t job) {
    const std::size_t host = job / repetitions, repetition = job % repetitions;
    HostLatencies latencies = config::load_latencies(kHosts[host]);
    const bool peaks = published.at(host).text("board") == p.text("peaks.board");
    const auto isr = published.at(host).numbers("isr");
    if (peaks) {
      latencies.interrupt = hostsim::LatencyDistribution::through_moments(
          isr.at(0) / 1e3, isr.at(1) / 1e3, stable_us / 1e3, static_cast<double>(kRuns) * kMeasurements);
    }
    for (std::size_t i = 0; i < kRuns; i++) {
      std::optional<hostsim::LoadDevice> load;
      if (workload_of(i) == Workload::kUdp) load = udp();
      if (workload_of(i) == Workload::kGraphics && peaks) load = graphics(isr.at(2), stable_us);
      boards[host].loaded[repetition * kRuns + i] = Iltiming(latencies, load, run.seed, job * kRuns + i).measure();
    }
    for (std::size_t i = 0; i < kIdleRuns; i++) {
      boards[host].idle[repetition * kIdleRuns + i] =
          Iltiming(latencies, {}, run.seed, idle_streams + job * kIdleRuns + i).measure();
    }
  });
  return boards;
}

/// Least, mean and greatest value of Table 1, which are inputs of the model.
void add_table_rows(Outcome& out, const Published& row, const char* host, const Column& simulated) {
  const HostLatencies latencies = config::load_latencies(host);
  for (const auto& [name, statistics, distribution] :
       {std::tuple{"isr", simulated.isr, latencies.interrupt}, {"ist", simulated.ist, latencies.thread}}) {
    const auto published = row.numbers(name);
    const std::array used = {distribution.points().front().latency_ms * 1e3, distribution.mean_ms() * 1e3,
                             distribution.worst_ms() * 1e3};
    constexpr std::array kNames = {"least", "mean", "greatest"};
    for (std::size_t k = 0; k < 3; k++) {
      Row r =
          within(fmt::format("{}, {}, {}", row.text("board"), name, kNames[k]), "us", published.at(k), used[k], 1e-3);
      const std::array seen = {statistics.least, statistics.mean(), statistics.greatest};
      r.note = fmt::format("simulated, {} measurements: {:.1f} us", statistics.n, seen[k]);
      out.rows.push_back(std::move(r));
    }
  }
}

Column sum_of(std::span<const Column> columns) {
  Column sum;
  for (const Column& c : columns) {
    sum.isr.add(c.isr);
    sum.ist.add(c.ist);
  }
  return sum;
}

/// IST max - IST min of each repetition.
std::vector<double> jitters_of(std::span<const Column> columns, std::size_t a_repetition) {
  std::vector<double> jitters;
  for (; !columns.empty(); columns = columns.subspan(a_repetition)) {
    const Column one = sum_of(columns.first(a_repetition));
    jitters.push_back(one.ist.greatest - one.ist.least);
  }
  return jitters;
}

/// "NO WORKLOAD", the last test.
void add_idle_rows(Outcome& out, const Published& p, const std::string& board, const Board& b, double jitter_us) {
  const Column idle = sum_of(b.idle);
  const MeanInterval jitter = mean_interval(jitters_of(b.idle, kIdleRuns));
  Row r = holds(board + ", without a workload: jitter", p.text("idle_jitter"),
                fmt::format("{:.1f} us (IST {:.1f} to {:.1f} us), {:.1f} us with", jitter.mean, idle.ist.least,
                            idle.ist.greatest, jitter_us),
                std::abs(jitter.mean / jitter_us - 1) < 0.1);
  r.note = fmt::format("mean of {} times {} measurements, +- {:.1f}; half as many as with a workload", jitter.n,
                       kIdleRuns * kMeasurements, jitter.half_width);
  out.rows.push_back(std::move(r));
  const auto stable = p.numbers("stable_isr_us");
  out.rows.push_back(
      between(board + ", without a workload: mean ISR", "us", stable.at(0), stable.at(1), idle.isr.mean()));
  out.rows.back().note =
      fmt::format("ISR {:.1f} to {:.1f} us; Table 1, an input, has a mean below {:g} us on every board", idle.isr.least,
                  idle.isr.greatest, stable.at(0));
}

}  // namespace

Outcome siemens_table1(const Run& run) {
  const Published& p = run.published;
  const std::size_t repetitions = std::max(run.repetitions, 1u);
  const std::vector<Board> boards = measure_boards(run, repetitions);
  const auto rows = p.rows("rows");
  Outcome out;
  const std::string rule = p.text("jitter");
  for (std::size_t b = 0; b < kHosts.size(); b++) {
    const Published& row = rows.at(b);
    const std::string board = row.text("board");
    const std::vector<Column>& loaded = boards[b].loaded;
    add_table_rows(out, row, kHosts[b], sum_of(loaded));
    const MeanInterval jitter = mean_interval(jitters_of(loaded, kRuns));
    Row r = within_share(fmt::format("{}, jitter: {}", board, rule), "us", row.number("jitter"), jitter.mean, 0.1);
    r.note =
        fmt::format("mean of {} times {} measurements, +- {:.1f}", jitter.n, kRuns * kMeasurements, jitter.half_width);
    out.rows.push_back(std::move(r));
    out.rows.push_back(
        workloads_row(p, board, loaded, board == p.text("peaks.board"), p.numbers("stable_isr_us").at(1)));
    add_idle_rows(out, p, board, boards[b], jitter.mean);
    out.figures.push_back(
        columns_figure(3 + 2 * static_cast<int>(b), board, "rotate and mathload", loaded.data(), kRuns / 2));
    out.figures.push_back(columns_figure(4 + 2 * static_cast<int>(b), board, "UDP messages, 250 packets/s",
                                         loaded.data() + kRuns / 2, kRuns / 2));
  }
  out.summary =
      "iltiming on the three boards: a timer interrupt whose ISR and interrupt service thread begin with the latency "
      "of Table 1. Least, mean and greatest are inputs; the jitter is that of the measurements.";
  return out;
}

Outcome siemens_table2(const Run& run) {
  const Published& p = run.published;
  Outcome out;
  const std::string columns = fmt::format("{}", fmt::join(p.texts("columns"), ", "));
  for (const Published& row : p.rows("rows"))
    out.rows.push_back(input(fmt::format("{} ({})", row.text("call"), columns),
                             fmt::format("{:g}", fmt::join(row.numbers("us"), ", ")),
                             "us per call (Dhrystones: per second); measured on those boards, not simulated"));
  out.summary = "Cost of a kernel call on the three boards. The simulator takes no kernel call's cost from it.";
  return out;
}

}  // namespace offhook::reproduce
