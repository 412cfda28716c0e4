// SPDX-License-Identifier: MIT
//
// Figures 1 to 9, 14 and 15: a dial-up connection with a normal-priority spinning competitor (6.2).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "src/lab/reproduce/call_log.h"

namespace offhook::reproduce {

using hostsim::Phase;

namespace {

constexpr double kTraceS = 28;  // 6.2.3: connected after 23 s, "the last five seconds of the trace" in steady state
constexpr double kMs = 1e-3;

hostsim::Scenario trace(std::string_view context, std::uint64_t seed, bool logging) {
  hostsim::Scenario s = call_scenario(context, true, seed);
  s.time_limit_s = kTraceS;
  s.event_logging_cost = logging;
  return s;
}

Axis time_axis() {
  Axis axis;
  axis.text = "time since the call began (s)";
  axis.min = 0;
  axis.max = kTraceS;
  return axis;
}

Axis from_zero(std::string text) {
  Axis axis;
  axis.text = std::move(text);
  axis.min = 0;
  return axis;
}

}  // namespace

namespace {

/// The `count` most frequent values in steps of `step`, in descending order; 0 if there are fewer.
std::vector<double> most_frequent(const std::vector<double>& values, std::size_t count, double step) {
  std::map<long, std::pair<std::size_t, double>> steps;  // how often, and the sum
  for (const double v : values) {
    auto& [times, sum] = steps[std::lround(v / step)];
    ++times;
    sum += v;
  }
  std::vector<std::pair<std::size_t, double>> found;
  for (const auto& [at, step_values] : steps) found.push_back(step_values);
  std::sort(found.rbegin(), found.rend());
  std::vector<double> means;
  for (std::size_t i = 0; i < count; ++i)
    means.push_back(i < found.size() ? found[i].second / static_cast<double>(found[i].first) : 0);
  std::sort(means.rbegin(), means.rend());
  return means;
}

}  // namespace

Outcome jones_fig1(const Run& run) {
  const Published& p = run.published;
  CallLog call;
  run.parallel(1, [&](std::size_t) { call = run_logged(run, trace("INT", run.seed, false)); });
  const auto points = call.figures.interrupt_period_over_time.points();
  const Stretch on_hook = stretch(call.figures, Phase::kOnHook), dialling = stretch(call.figures, Phase::kDialling),
                connected = stretch(call.figures, Phase::kConnected);
  // The first intervals of a phase belong to the change of rate and block length.
  const auto settled = [&](const Stretch& s) { return values_in(points, {s.begin_s + 0.1, s.end_s}); };
  const auto steady = settled(connected);

  Outcome out;
  constexpr double kTolerance = 0.01;  // ms; both clocks are derived from crystals
  for (const auto& [name, where] : {std::pair{"on_hook", on_hook}, {"dialling", dialling}}) {
    const Published phase = p.table(name);
    const double period = phase.number("period_ms");
    out.rows.push_back(
        within(fmt::format("{}, interrupt period", name), "ms", period, quantile(settled(where), 0.5), kTolerance));
    out.rows.back().note = fmt::format("{:.0f} samples at {:.0f} Hz", phase.number("samples"), phase.number("rate_hz"));
    Row lasts =
        within(fmt::format("{}, duration", name), "s", phase.number("lasts_s"), where.end_s - where.begin_s, 0.1);
    lasts.note = "the length of the phase is an input of the cost profile";
    out.rows.push_back(std::move(lasts));
  }
  const Published steady_state = p.table("connected");
  const auto periods = steady_state.numbers("period_ms");
  const auto samples = steady_state.numbers("samples");
  // The most frequent lengths, starting with the longest, as the paper lists them.
  const std::vector<double> simulated = most_frequent(steady, periods.size(), kTolerance);
  for (std::size_t i = 0; i < periods.size(); ++i) {
    out.rows.push_back(within(fmt::format("connected, blocks of {:.0f} samples", samples.at(i)), "ms", periods[i],
                              simulated.at(i), kTolerance));
  }
  out.rows.back().note = fmt::format("at {:.0f} Hz", steady_state.number("rate_hz"));
  out.rows.push_back(
      within("connected, mean interrupt period", "ms", steady_state.number("mean_ms"), mean(steady), 0.05));
  out.rows.push_back(within("connection established", "s", p.number("connection_established_s"),
                            connected.begin_s - on_hook.begin_s, 0.5));
  out.rows.back().note =
      "the lengths of the phases are inputs of the cost profile; training succeeds at the time that they set";

  Figure f{"jones.fig1",
           "Figure 1: Rate of soft modem interrupts (INT)",
           "Time between interrupts: on-hook, dialling, connecting, connected. Lone points are intervals in which the "
           "card changed its rate or its block length; the paper counts six of them.",
           time_axis(),
           from_zero("interrupt period (ms)"),
           {series_of("simulated", points)},
           {}};
  f.marks.push_back({Mark::Axis::kY, p.number("on_hook.period_ms"), {}, "published, on-hook"});
  for (const double period : periods) f.marks.push_back({Mark::Axis::kY, period, {}, fmt::format("{:g} ms", period)});
  f.marks.push_back({Mark::Axis::kY, p.number("dialling.period_ms"), {}, "dialling"});
  f.marks.push_back({Mark::Axis::kX, p.number("connection_established_s"), {}, "published: connected"});
  out.figures.push_back(std::move(f));
  out.summary = "One call in context INT with a spinning thread, from off-hook until five seconds of steady state.";
  return out;
}

// 6.2.2, 6.2.3: in the interrupt handler, as measured by the instrumented kernel, including its own logging.
Outcome jones_fig2(const Run& run) {
  const Published& p = run.published;
  CallLog call;
  run.parallel(1, [&](std::size_t) { call = run_logged(run, trace("INT", run.seed, true)); });
  const Stretch connecting = stretch(call.figures, Phase::kConnecting);
  const Stretch connected = stretch(call.figures, Phase::kConnected);
  const auto elapsed = call.figures.isr_elapsed_over_time.points();
  const auto share = call.figures.timeline.modem().window_share.points();
  const double typical = quantile(values_in(elapsed, connected), 0.5);
  const double worst = largest(values_in(elapsed, {0, kTraceS}));
  const double used = mean(values_in(share, connected));
  const double interval_ms = static_cast<double>(kShareWindowNs) * 1e-6;

  Outcome out;
  out.rows = {
      input("processor", p.text("cpu"), "the cost profile pentium2-450-vendor"),
      within("time in the handler, typical", "ms", p.number("typical_ms"), typical, 0.05),
      within("time in the handler, longest", "ms", p.number("worst_ms"), worst, 0.05),
      holds("the longest comes while connecting", "repeatable, while connecting",
            fmt::format("{:.2f} ms while connecting", largest(values_in(elapsed, connecting))),
            largest(values_in(elapsed, connecting)) >= worst),
      within("CPU time per 12.5 ms once connected", "ms", p.number("mean_ms_per_12_5_ms"), used * interval_ms, 0.0125),
      within("CPU share once connected", "%", p.number("share_percent"), 100 * used, 0.1),
      at_least("time in the handler against the limit of PC 99", "us", p.number("pc99_limit_us"), 1000 * worst)};
  out.rows[2].note = "the cost of that one block is an input; its time and its preemption are not";
  out.rows.back().note =
      fmt::format("{:.0f} times the limit; the paper states 33", 1000 * worst / p.number("pc99_limit_us"));

  Figure times{"jones.fig2",
               "Figure 2: Elapsed times in interrupt handler (INT)",
               "Every interrupt, with everything that preempted it. The paper's figure shows more structure while "
               "connecting than its text gives numbers for.",
               time_axis(),
               from_zero("time in the handler (ms)"),
               {series_of("simulated", elapsed)},
               {}};
  times.marks = {{Mark::Axis::kY, p.number("typical_ms"), {}, "typical 1.8 ms"},
                 {Mark::Axis::kY, p.number("worst_ms"), {}, "worst 3.3 ms"},
                 {Mark::Axis::kY, p.number("pc99_limit_us") * kMs, {}, "PC 99: 100 us"}};
  Figure load{"jones.fig3",
              "Figure 3: CPU utilization (INT)",
              "The modem's share of each interval of 12.5 ms.",
              time_axis(),
              from_zero("CPU share (%)"),
              {series_of("simulated", share)},
              {}};
  for (double& v : load.series[0].y) v *= 100;
  load.marks = {{Mark::Axis::kY, p.number("share_percent"), {}, "14.7 % once connected"}};
  out.figures = {std::move(times), std::move(load)};
  out.summary =
      "A call in context INT with the measured cost of the kernel's event logging. The cost of a block is calibrated "
      "so that handler and logging together take the published time; the shares over time follow.";
  return out;
}

// 6.2.4
Outcome jones_fig4(const Run& run) {
  const Published& p = run.published;
  // The longest interrupt routine is rare, so it is searched for in as many calls as other experiments repeat.
  std::vector<CallLog> calls(1 + run.repetitions);
  run.parallel(calls.size(), [&](std::size_t i) {
    calls[i] = run_logged(run, trace(i == 0 ? "INT" : "DPC", run.seed + (i == 0 ? 0 : i - 1), true));
  });
  const CallLog &isr = calls[0], &dpc = calls[1];
  double longest_us = 0;
  for (std::size_t i = 1; i < calls.size(); ++i)
    longest_us = std::max(longest_us, 1e-3 * static_cast<double>(calls[i].figures.isr_elapsed.max()));
  const Stretch all{0, kTraceS};
  const auto in_isr = dpc.figures.isr_elapsed_over_time.points();
  const auto in_dpc = dpc.figures.service_run_elapsed_over_time.points();
  const auto in_handler = isr.figures.isr_elapsed_over_time.points();
  const Stretch after = stretch(dpc.figures, Phase::kConnected), before = stretch(isr.figures, Phase::kConnected);

  Outcome out;
  constexpr double kClockUs = 2;  // the clock's interrupt may occur in between, as in the paper
  out.rows = {
      within("interrupt routine, mean", "us", p.number("isr_mean_us"), 1e-3 * dpc.figures.isr_elapsed.mean(), 0.2),
      within("interrupt routine, longest", "us", p.number("isr_max_us"), longest_us, kClockUs),
      holds("time in the DPC once connected", p.text("dpc_time"),
            fmt::format("{:.3f} ms against {:.3f} ms", mean(values_in(in_dpc, after)),
                        mean(values_in(in_handler, before))),
            std::abs(mean(values_in(in_dpc, after)) / mean(values_in(in_handler, before)) - 1) < 0.01),
      holds("longest time in the DPC", p.text("dpc_time"),
            fmt::format("{:.3f} ms against {:.3f} ms", largest(values_in(in_dpc, all)),
                        largest(values_in(in_handler, all))),
            std::abs(largest(values_in(in_dpc, all)) / largest(values_in(in_handler, all)) - 1) < 0.02),
      at_least("longest time in the DPC against the limit of PC 99", "us", p.number("pc99_limit_us"),
               1000 * largest(values_in(in_dpc, all)))};
  out.rows[1].note =
      fmt::format("the longest of {} calls; the clock's interrupt (2 us) may preempt the routine", run.repetitions);

  Figure above{"jones.fig4.isr",
               "Figure 4, above: Elapsed times in interrupt handler (DPC)",
               "The routine acknowledges, counts and queues the DPC.",
               time_axis(),
               from_zero("time in the handler (us)"),
               {series_of("simulated", in_isr)},
               {}};
  for (double& v : above.series[0].y) v *= 1000;
  above.marks = {{Mark::Axis::kY, p.number("isr_mean_us"), {}, "mean 5.4 us"},
                 {Mark::Axis::kY, p.number("isr_max_us"), {}, "longest 16 us"}};
  Figure below{"jones.fig4",
               "Figure 4, below: Elapsed times in queued DPC (DPC)",
               "It resembles the handler of INT in Figure 2.",
               time_axis(),
               from_zero("time in the DPC (ms)"),
               {series_of("simulated", in_dpc)},
               {}};
  below.marks = {{Mark::Axis::kY, p.number("pc99_limit_us") * kMs, {}, "PC 99: 500 us"}};
  out.figures = {std::move(above), std::move(below)};
  out.summary = "Calls in contexts DPC and INT, both with the cost of event logging.";
  return out;
}

/// Figures 5, 6, 7 and 14. @param calls  in INT, DPC, THR 24, THR 8 and RES 2/8  @param never_more  samples in INT, THR
/// 24
std::vector<Figure> pending_figures(std::span<const CallLog, 5> calls, double never_more) {
  const char* ids[] = {"jones.fig5", "", "jones.fig6", "jones.fig7", "jones.fig14"};
  const char* titles[] = {"Figure 5: Samples pending to be processed with a normal priority spinning thread (INT)", "",
                          "Figure 6: Samples pending to be processed with a normal priority spinning thread (THR 24)",
                          "Figure 7: Samples pending to be processed with a normal priority spinning thread (THR 8)",
                          "Figure 14: Samples pending with a normal priority spinning thread (RES 2ms/8ms - 25%)"};
  std::vector<Figure> figures;
  for (const int i : {0, 2, 3, 4}) {
    Figure f{ids[i],
             titles[i],
             "After each return of the signal processing.",
             time_axis(),
             from_zero("samples pending"),
             {series_of("simulated", calls[static_cast<std::size_t>(i)].figures.pending.points())},
             {}};
    if (i == 3 || i == 4) f.marks.push_back({Mark::Axis::kY, OH_MODEM_RING_SAMPLES, {}, "the ring: 512 samples"});
    if (i != 3)
      f.marks.push_back({Mark::Axis::kY, never_more, {}, i == 4 ? "30 (INT and THR 24)" : "never more than 30"});
    if (i == 3) f.caption += " The ring overflows; the modem cannot dial.";
    figures.push_back(std::move(f));
  }
  return figures;
}

// 6.2.5, 6.2.6, 6.4.1
Outcome jones_fig5(const Run& run) {
  const Published& p = run.published;
  static constexpr const char* kContexts[] = {"INT", "DPC", "THR 24", "THR 8", "RES 2/8"};
  const Setup used = perturbed(run, trace("INT", run.seed, true));
  const double worst_us = std::round(constant("worst_us").get(used));
  CallLog calls[5];
  run.parallel(5, [&](std::size_t i) { calls[i] = run_logged(run, trace(kContexts[i], run.seed, true)); });
  const auto most = [&](int i) {
    return std::max(calls[i].result.pending_max[static_cast<int>(Phase::kConnecting)],
                    calls[i].result.pending_max[static_cast<int>(Phase::kConnected)]);
  };
  // How often it reached INT's maximum during training and connection.
  const auto cases = [&](int i) {
    const auto points = calls[i].figures.pending.points();
    const double begin_s = stretch(calls[i].figures, Phase::kConnecting).begin_s;
    return std::count_if(points.begin(), points.end(), [&](const SeriesPoint& s) {
      return s.value >= most(0) && static_cast<double>(s.time_ns) * 1e-9 >= begin_s;
    });
  };
  const auto overrun = [&](int i) { return static_cast<double>(calls[i].result.card.overrun_samples); };

  Outcome out;
  const double thr24 = p.number("thr24_max_pending");
  out.rows = {at_most("INT, pending at most", "samples", p.number("int_max_pending"), most(0)),
              at_most("DPC, pending at most", "samples", p.number("dpc_max_pending"), most(1)),
              at_most("THR 24, pending at most", "samples", thr24, most(2)),
              holds("THR 24, cases at INT's maximum", "more than INT",
                    fmt::format("{} of INT, {} of THR 24", cases(0), cases(2)), cases(2) > cases(0)),
              holds("THR 8 with the spinner", p.text("thr8_with_spinner"),
                    fmt::format("{:.0f} samples overwritten unread, {}", overrun(3),
                                calls[3].result.transfer.connected ? "connected" : "never connected"),
                    overrun(3) > 0 && !calls[3].result.transfer.connected),
              holds("RES 2/8, pending at most", p.text("res_2_8_max_pending"),
                    fmt::format("{} samples, {:.0f} overwritten", most(4), overrun(4)),
                    most(4) > most(2) && most(4) <= OH_MODEM_RING_SAMPLES / 2 && overrun(4) == 0)};
  const double rate_hz = used.profile.phases[static_cast<int>(Phase::kConnecting)].rate_hz;
  for (const std::size_t i : {0u, 1u, 2u}) {
    const double published = *out.rows[i].published.number;
    out.rows[i].note = fmt::format(
        "{:.1f} samples arrive at {:g} Hz during the longest block, {:.2f} ms without the kernel's logging; {:g} would "
        "take {:.2f} ms (--perturb worst_us={:g})",
        worst_us / 1e6 * rate_hz, rate_hz, worst_us / 1e3, published, 1e3 * published / rate_hz,
        1e6 * published / rate_hz);
  }
  out.rows[3].note =
      "one block of the training is as long as the published worst case; the paper's vary by unpublished amounts";
  out.figures = pending_figures(calls, thr24);
  out.summary = "One call in each context with the spinner, with the cost of event logging.";
  return out;
}

namespace {

/// Figures 8 and 9: a wake-up of THR 24 takes as long as INT's handler; one of THR 8, which cannot dial, little.
void add_elapsed_rows(Outcome& out, const Published& p, const CallLog& thr24, const CallLog& thr8, const CallLog& isr) {
  const auto in = [](const CallLog& call, const auto& series, Phase phase) {
    return values_in(series.points(), stretch(call.figures, phase));
  };
  const auto thread = in(thr24, thr24.figures.service_run_elapsed_over_time, Phase::kConnected);
  const auto handler = in(isr, isr.figures.isr_elapsed_over_time, Phase::kConnected);
  const double typical = quantile(thread, 0.5), in_handler = quantile(handler, 0.5);
  const double longest = largest(in(thr24, thr24.figures.service_run_elapsed_over_time, Phase::kConnecting)),
               longest_handler = largest(in(isr, isr.figures.isr_elapsed_over_time, Phase::kConnecting));
  constexpr double kAlike = 0.02;
  out.rows.push_back(
      holds("THR 24, time per wake-up (Figure 8)", p.text("fig8"),
            fmt::format("median {:.3f} ms, longest {:.3f} ms; INT {:.3f} and {:.3f} ms", typical, longest, in_handler,
                        longest_handler),
            std::abs(typical / in_handler - 1) < kAlike && std::abs(longest / longest_handler - 1) < kAlike));
  const auto failed = thr8.figures.service_run_elapsed_over_time.points();
  std::vector<double> times;
  for (const SeriesPoint& s : failed) times.push_back(s.value);
  Row little = holds("THR 8, time per wake-up (Figure 9)", p.text("fig9"),
                     fmt::format("median {:.3f} ms, THR 24 {:.3f} ms", quantile(times, 0.5), typical),
                     quantile(times, 0.5) < typical / 2);
  little.note = fmt::format(
      "{} wake-ups, mean {:.3f} ms: a wake-up of the simulated thread serves all blocks that a quantum of the spinner "
      "left waiting; that of the paper's driver serves one",
      times.size(), mean(times));
  out.rows.push_back(std::move(little));
}

}  // namespace

// 6.2.7, 6.4.2
Outcome jones_fig15(const Run& run) {
  const Published& p = run.published;
  static constexpr const char* kContexts[] = {"THR 24", "THR 8", "RES 2/8", "INT"};
  CallLog calls[4];
  run.parallel(4, [&](std::size_t i) { calls[i] = run_logged(run, trace(kContexts[i], run.seed, true)); });
  const auto cluster = p.numbers("cluster_ms");
  const auto elapsed = [&](int i) { return calls[i].figures.service_run_elapsed_over_time.points(); };
  const auto connected = values_in(elapsed(2), stretch(calls[2].figures, Phase::kConnected));
  std::vector<double> long_ones;
  const double needed = quantile(values_in(elapsed(0), stretch(calls[0].figures, Phase::kConnected)), 1);
  for (const double v : connected) {
    if (v > 1.5 * needed) long_ones.push_back(v);
  }
  const double inside = static_cast<double>(std::count_if(
      long_ones.begin(), long_ones.end(), [&](double v) { return v >= cluster.at(0) && v <= cluster.at(1); }));

  Outcome out;
  Row row = between("RES 2/8, median of the calls that had to wait for a slot", "ms", cluster.at(0), cluster.at(1),
                    quantile(long_ones, 0.5));
  row.note = fmt::format(
      "{} of {} calls once connected took more than 1.5 times the time of THR 24, {:.0f} % of those between {:g} and "
      "{:g} ms: the rest of a block waits for the next slot, 6 to 8 ms later",
      long_ones.size(), connected.size(), long_ones.empty() ? 0 : 100 * inside / static_cast<double>(long_ones.size()),
      cluster.at(0), cluster.at(1));
  out.rows.push_back(std::move(row));
  add_elapsed_rows(out, p, calls[0], calls[1], calls[3]);
  const char* ids[] = {"jones.fig8", "jones.fig9", "jones.fig15"};
  const char* titles[] = {"Figure 8: Elapsed times in thread run (THR 24)",
                          "Figure 9: Elapsed times in thread run (THR 8)",
                          "Figure 15: Elapsed times in thread run (RES 2ms/8ms - 25%)"};
  const char* captions[] = {
      "It resembles the handler of INT, because nothing of higher priority competes.",
      "Holes break the tones of the digits, so there is no answer. The thread only does its dialling work: the blocks "
      "that arrived in a quantum of the spinner (94 ms) and are still in the ring.",
      "A block that does not fit into the rest of a slot waits for the next one, or for the spinner's quantum."};
  for (int i = 0; i < 3; ++i) {
    Figure f{ids[i],
             titles[i],
             captions[i],
             time_axis(),
             from_zero("time per wake-up (ms)"),
             {series_of("simulated", elapsed(i))},
             {}};
    if (i == 2) f.marks.push_back({Mark::Axis::kY, cluster.at(0), cluster.at(1), "published: 6 to 8 ms"});
    out.figures.push_back(std::move(f));
  }
  out.summary = "Each wake-up of the modem's thread from start to end, including preemption.";
  return out;
}

}  // namespace offhook::reproduce
