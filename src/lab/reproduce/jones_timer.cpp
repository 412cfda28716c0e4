// SPDX-License-Identifier: MIT
//
// Figures 10 to 13 and 16: the modem's effect on a multimedia timer of 1 ms and its callback at priority 31 (6.3).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hostsim/host/load.h"
#include "src/lab/reproduce/call_log.h"
#include "src/lab/reproduce/nt.h"
#include "traces/scenario/scenario.h"

namespace offhook::reproduce {

using hostsim::Ns;

namespace {

constexpr double kSeconds = 30;  // 6.3.1: "30,000 wakeups over a 30-second period"

/// Host and costs of every call here, with the perturbed constants.
Setup setup_of(const Run& run) {
  return perturbed(run, call_scenario("INT", false, 1));
}
hostsim::HostScenario machine(const Run& run) {
  return setup_of(run).scenario.host;
}

/// The idle machine: only clock, timer and callback.
Figures control(const Run& run) {
  const hostsim::HostScenario host = machine(run);
  std::vector<oh_event> ring(1 << 20);
  oh_event_log log{};
  oh_event_log_init(&log, ring.data(), ring.size(), 0);
  hostsim::Engine engine;
  hostsim::Cpu cpu(engine);
  hostsim::ClockInterrupt clock(engine, cpu, host.tick_hz, kClockLevel, host.clock_isr_ns);
  hostsim::TimerCallback timer(cpu, &log, 1'000'000, host.callback_ns, host.dispatch_ns);
  clock.set_listener(&timer);
  clock.start();
  engine.run_until(static_cast<Ns>(kSeconds * 1e9));
  std::vector<oh_event> events(ring.size());
  const std::size_t n = oh_event_log_read(&log, events.data(), events.size());
  Analyzer analyzer;
  for (std::size_t i = 0; i < n; ++i) analyzer.add(events[i]);
  return analyzer.finish();
}

Figures beside(const Run& run, const char* context) {
  hostsim::Scenario s = call_scenario(context, true, run.seed);
  s.load.timer_callback = true;
  s.event_logging_cost = true;
  s.time_limit_s = kSeconds;
  return run_logged(run, s).figures;
}

/// The wake-ups of the timer without the modem, and with the modem in each context.
struct Histograms {
  static constexpr const char* kContexts[] = {"", "INT", "DPC", "THR 24", "RES 2/8"};
  enum : std::size_t { kInt = 1, kThread = 3, kReservation = 4 };
  std::array<Figures, std::size(kContexts)> figures;

  const LinearHistogram& operator[](std::size_t i) const { return figures[i].timer_interval; }
  /// Per cent of the wake-ups.
  double share(std::size_t i, double from_ms, double to_ms) const {
    const LinearHistogram& h = (*this)[i];
    return 100.0 *
           static_cast<double>(
               h.count_between(static_cast<std::uint64_t>(from_ms * 1e6), static_cast<std::uint64_t>(to_ms * 1e6))) /
           static_cast<double>(std::max<std::uint64_t>(1, h.count()));
  }
  double longest_ms(std::size_t i) const { return static_cast<double>((*this)[i].max()) * 1e-6; }
  /// The buckets of 50 us next to the ideal one, which has most of the wake-ups.
  double beside_ideal(std::size_t i) const {
    const auto& counts = (*this)[i].counts();
    const auto ideal = std::max_element(counts.begin(), counts.end()) - counts.begin();
    return static_cast<double>(counts.at(static_cast<std::size_t>(ideal - 1)) +
                               counts.at(static_cast<std::size_t>(ideal + 1)));
  }
};

Figure histogram_figure(const Histograms& h, std::size_t i, double near, double tail) {
  static constexpr const char* kIds[] = {"jones.fig10", "jones.fig11", "jones.fig12", "jones.fig13", "jones.fig16"};
  static constexpr const char* kTitles[] = {
      "Figure 10: Latency histogram for a 1ms callback routine without the soft modem",
      "Figure 11: Latency histogram for a 1ms callback routine with the vendor driver version (INT)",
      "Figure 12: Latency histogram for a 1ms callback routine with the DPC version",
      "Figure 13: Latency histogram for a 1ms callback routine - THR version (THR 24)",
      "Figure 16: Latency histogram for a 1ms callback routine - RES version (RES 2ms/8ms)"};
  Figure f{kIds[i],
           kTitles[i],
           fmt::format("{} wake-ups, {:.2f} % near 2 ms, longest {:.2f} ms.", h[i].count(), h.share(i, 1.8, 2.2),
                       h.longest_ms(i)),
           {"time between wake-ups (ms), in buckets of 50 us", false, 0, 6, {}},
           {"wake-ups", true, 0.7, 100'000, {}},
           {bars_of("simulated", h[i], 1e6)},
           {}};
  f.marks.push_back({Mark::Axis::kX, 2, {}, i == 0 ? fmt::format("{:g} % near 2 ms", near) : ""});
  if (i == 1 || i == 2) f.marks.push_back({Mark::Axis::kX, tail, {}, "tail beyond 5 ms"});
  return f;
}

/// The constant's value, as a change that sets another constant to it.
std::string made(std::string_view name, double value) {
  return fmt::format("{}={:g}", name, value);
}

/// Deviation of a wake-up, by the clock, from which it counts in the next bucket.
double to_next_bucket_us(const Histograms& h, int tick_hz) {
  const double bucket = static_cast<double>(h[0].bucket_width()) / 1e3, ideal = 1e6 / tick_hz;
  const double above = std::ceil(ideal / bucket) * bucket - ideal;
  return std::min(above, bucket - above);
}

constexpr double kLongRoutines = 8;  // relative to the mean interrupt routine

/// @param tried  wake-ups with long interrupt routines
void explain_fig10(const Histograms& h, const Histograms& tried, const Setup& used, int tick_hz,
                   std::vector<Row>& rows) {
  const double worst_us = std::round(constant("worst_us").get(used));
  rows[1].note = "1000 per second requested; a clock of 1024 Hz can delay one but loses none";
  for (const std::size_t i : {5u, 6u}) {
    rows[i].note = fmt::format(
        "one block of a call is long, {:.2f} ms without the kernel's logging, the published worst case. It delays one "
        "wake-up by that time and the rest of the clock's period; before an interrupt of the clock that is waited for "
        "twice it would be {:.2f} ms. The cost of blocks during training is not published",
        worst_us / 1e3, worst_us / 1e3 + 2e3 / tick_hz);
  }
  rows.back().note = fmt::format(
      "a wake-up must deviate by {:.1f} us to be in another bucket. Only the clock and these two run. The interrupt "
      "routine takes at most {:g} us, and a slot boundary costs nothing, because Rialto/NT's cost is not published. "
      "With routines {:g} times as long (--perturb isr_mean_us={:g}) it is {:.0f}, THR 24 {:.0f}",
      to_next_bucket_us(h, tick_hz), static_cast<double>(used.profile.isr_max_ns) / 1e3, kLongRoutines,
      kLongRoutines * constant("isr_mean_us").get(used), tried.beside_ideal(Histograms::kReservation),
      tried.beside_ideal(Histograms::kThread));
}

}  // namespace

Outcome jones_fig10(const Run& run) {
  const Published& p = run.published;
  Histograms h;
  // Tries an unpublished constant: long interrupt routines.
  const Setup used = setup_of(run);
  Run long_routines = run;
  long_routines.perturbation =
      run.perturbation.and_also(made("isr_mean_us", kLongRoutines * constant("isr_mean_us").get(used)));
  Histograms tried;
  run.parallel(h.figures.size() + 2, [&](std::size_t i) {
    if (i == 0) {
      h.figures[i] = control(run);
    } else if (i < h.figures.size()) {
      h.figures[i] = beside(run, Histograms::kContexts[i]);
    } else {
      constexpr std::size_t kTried[] = {Histograms::kThread, Histograms::kReservation};
      const std::size_t c = kTried[i - h.figures.size()];
      tried.figures[c] = beside(long_routines, Histograms::kContexts[c]);
    }
  });

  Outcome out;
  const double tail = p.number("int_and_dpc_tail_ms"), near = p.number("near_2ms_percent");
  const hostsim::HostScenario host = machine(run);
  out.rows = {
      input("clock interrupts", "Hz", p.number("rtc_hz"), host.tick_hz,
            "traces/data/hosts/nt2000-p2-450.toml, tick_hz"),
      within_share("wake-ups observed, control", "", p.number("wakeups"), static_cast<double>(h[0].count()), 0.03),
      input("bucket", "us", p.number("bucket_us"), static_cast<double>(h[0].bucket_width()) / 1000,
            "the histograms below"),
      within("wake-ups near 2 ms, control", "%", near, h.share(0, 1.8, 2.2), 0.2),
      within("wake-ups near 2 ms, THR 24", "%", near, h.share(3, 1.8, 2.2), 0.2),
      at_least("INT, longest interval", "ms", tail, h.longest_ms(1)),
      at_least("DPC, longest interval", "ms", tail, h.longest_ms(2)),
      holds("INT and DPC lengthen the tail from 2 ms", "tails grow beyond that of the control",
            fmt::format("{:.2f} and {:.2f} ms, control {:.2f} ms", h.longest_ms(1), h.longest_ms(2), h.longest_ms(0)),
            h.longest_ms(1) > 1.3 * h.longest_ms(0) && h.longest_ms(2) > 1.3 * h.longest_ms(0)),
      holds("THR 24", p.text("thr24"),
            fmt::format("longest {:.2f} ms, control {:.2f} ms", h.longest_ms(3), h.longest_ms(0)),
            h.longest_ms(3) < 1.05 * h.longest_ms(0)),
      holds("RES 2/8, longest interval", "like THR 24",
            fmt::format("{:.2f} ms, THR 24 {:.2f} ms", h.longest_ms(4), h.longest_ms(3)),
            std::abs(h.longest_ms(4) / h.longest_ms(3) - 1) < 0.05),
      holds("RES 2/8, wake-ups one bucket away from 1 ms", p.text("res_2_8"),
            fmt::format("{:.0f}, THR 24 {:.0f}", h.beside_ideal(4), h.beside_ideal(3)),
            h.beside_ideal(3) > 0 && h.beside_ideal(4) >= 2 * h.beside_ideal(3) &&
                h.beside_ideal(4) <= 4 * h.beside_ideal(3))};
  explain_fig10(h, tried, used, host.tick_hz, out.rows);
  for (std::size_t i = 0; i < h.figures.size(); ++i) out.figures.push_back(histogram_figure(h, i, near, tail));
  out.summary =
      "30 s of a timer set to 1 ms: alone, and from the start of a call in each context, training included. The clock "
      "interrupt of 1024 Hz drives the timer, so that 2.4 % of the wake-ups wait for a second one.";
  return out;
}

}  // namespace offhook::reproduce
