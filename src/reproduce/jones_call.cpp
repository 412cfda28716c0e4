// SPDX-License-Identifier: MIT
//
// Figures 1 to 9, 14 and 15: a dial-up connection with a normal-priority spinning competitor (6.2).
#include <fmt/format.h>

#include <algorithm>

#include "src/reproduce/call_log.h"
#include "src/reproduce/jones.h"

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

Outcome jones_fig1(const Run& run) {
  const Published& p = run.published;
  CallLog call;
  run.parallel(1, [&](std::size_t) { call = run_logged(trace("INT", run.seed, false)); });
  const auto points = call.figures.interrupt_period_over_time.points();
  const Stretch on_hook = stretch(call.figures, Phase::kOnHook), dialling = stretch(call.figures, Phase::kDialling),
                connected = stretch(call.figures, Phase::kConnected);
  // The first intervals of a phase belong to the change of rate and block length.
  const auto settled = [&](const Stretch& s) { return values_in(points, {s.begin_s + 0.1, s.end_s}); };
  const auto steady = settled(connected);

  Outcome out;
  const Grade grade = p.grade();
  constexpr double kTolerance = 0.01;  // ms; both clocks are crystals
  for (const auto& [name, where] : {std::pair{"on_hook", on_hook}, {"dialling", dialling}}) {
    const Published phase = p.table(name);
    const double period = phase.number("period_ms");
    out.rows.push_back(within(fmt::format("{}, interrupt period", name), "ms", period, quantile(settled(where), 0.5),
                              kTolerance, grade));
    out.rows.back().note = fmt::format("{:.0f} samples at {:.0f} Hz", phase.number("samples"), phase.number("rate_hz"));
    Row lasts = within(fmt::format("{}, duration", name), "s", phase.number("lasts_s"), where.end_s - where.begin_s,
                       0.1, grade);
    lasts.note = "the length of the phase is an input of the cost profile";
    out.rows.push_back(std::move(lasts));
  }
  const Published steady_state = p.table("connected");
  const auto periods = steady_state.numbers("period_ms");
  const auto samples = steady_state.numbers("samples");
  for (std::size_t i = 0; i < periods.size(); ++i) {
    const double nearest = *std::min_element(steady.begin(), steady.end(), [&](double a, double b) {
      return std::abs(a - periods[i]) < std::abs(b - periods[i]);
    });
    out.rows.push_back(within(fmt::format("connected, blocks of {:.0f} samples", samples.at(i)), "ms", periods[i],
                              nearest, kTolerance, grade));
  }
  out.rows.back().note = fmt::format("at {:.0f} Hz", steady_state.number("rate_hz"));
  out.rows.push_back(
      within("connected, mean interrupt period", "ms", steady_state.number("mean_ms"), mean(steady), 0.05, grade));
  out.rows.push_back(within("connection established", "s", p.number("connection_established_s"),
                            connected.begin_s - on_hook.begin_s, 0.5, grade));
  out.rows.back().note = "the lengths of the phases are inputs of the cost profile; training succeeds when they say";

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
  out.summary =
      "One call in context INT beside a spinning thread, from off the shelf until five seconds of steady state.";
  return out;
}

}  // namespace offhook::reproduce
