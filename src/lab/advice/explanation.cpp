// SPDX-License-Identifier: MIT
#include "src/lab/advice/explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hostsim/call/host_policies.h"
#include "src/lab/advice/law.h"
#include "traces/scenario/context_words.h"

namespace offhook::advice {

using hostsim::Scenario;

namespace {

/// Two measurements of one machine, of 10 s and of 15 s, differ by a factor of two in rare events (docs/hosts.md).
constexpr double kShortestMeasurementS = 600;

/// Between losses: the required time, otherwise the longest that advice names.
double required_or_week(const Advice& advice) {
  return advice.required_s > 0 ? advice.required_s : kWeekS;
}

std::string why(const Advice& advice, const Trial& t) {
  if (advice.one_only) return "No other context was tried: only this one was given.";
  switch (t.context.kind) {
    case OH_CONTEXT_RESERVATION:
      return fmt::format(
          "It is guaranteed {:.1f} % of the CPU, independent of later threads, and takes no more from them.",
          100 * t.context.share());
    case OH_CONTEXT_THREAD:
      if (t.pinned) {
        return fmt::format(
            "Its interrupt and its thread are pinned to CPU {}, away from the interrupts of CPU {}; no other thread "
            "is.",
            t.context.cpu, advice.base.context.interrupt_cpu);
      }
      return "It is the lowest such priority that was tried, and leaves the most priorities above it. A busy thread "
             "of a higher priority would starve it.";
    case OH_CONTEXT_NORMAL:
      return "It needs no privilege. Programs that start later share the CPU with it.";
    default:
      break;
  }
  return "No thread priority is sufficient; this context preempts all threads.";
}

bool is_linux(const Scenario& s) {
  return hostsim::has_linux_classes(s.host);
}

/// Linux's name for the host's reservations; empty if it has none.
std::string_view reservation_class(const Scenario& base) {
  const std::string& name = base.host.reservations;
  if (name.starts_with("deadline")) return "SCHED_DEADLINE";
  if (name == "cpu-max") return "cpu.max";
  if (name == "hcbs") return "cpu.rt.max";
  return "";
}

/// A context's name for Linux administrators; empty on other hosts, or if the grammar's word is the host's own. Threads
/// of hosts like linux-hz250 are SCHED_FIFO with their priority. On `linux`, which replays a trace, all classes are on
/// one scale of 141 (hostsim/host/host_load.h): nice n is 19 - n, SCHED_FIFO p is 40 + p.
std::string linux_name(const Scenario& base, const Trial& t) {
  const bool one_scale = base.host.priorities == hostsim::kLinuxPriorities;
  if (!is_linux(base) && !one_scale) return "";
  switch (t.context.kind) {
    case OH_CONTEXT_INTERRUPT:
      return "hard interrupt";
    case OH_CONTEXT_DPC:
      return "softirq";
    case OH_CONTEXT_RESERVATION: {
      const std::string_view name = reservation_class(base);
      if (name.empty() || !t.context.in_ticks()) return std::string(name);
      const double tick_ms = 1000.0 / base.host.tick_hz;
      return fmt::format("{} {:.4g}/{:.4g} ms", name, static_cast<double>(t.context.x_ticks) * tick_ms,
                         static_cast<double>(t.context.y_ticks) * tick_ms);
    }
    case OH_CONTEXT_THREAD: {
      const int priority = static_cast<int>(t.context.priority);
      if (!one_scale) return fmt::format("SCHED_FIFO {}", priority);
      if (priority == 40 || priority == hostsim::kLinuxPriorities - 1)
        return "";  // limits between the classes of Linux; SCHED_DEADLINE
      if (priority > 40) return fmt::format("SCHED_FIFO {}", priority - 40);
      return fmt::format("SCHED_OTHER, nice {}", 19 - priority);
    }
    default:
      return "";
  }
}

/// "THR 25 (SCHED_FIFO 25)", "RES 1/6 strict (0.9766/5.859 ms)"
std::string full_name(const Scenario& base, const Trial& t) {
  const std::string there = linux_name(base, t);
  if (!there.empty()) return fmt::format("{} ({})", t.name, there);
  const bool named_so = t.name == t.context.str();  // otherwise it is pinned
  return named_so ? config::context_in_full(t.context, base.host.tick_hz) : t.name;
}

/// The basis of the verdict: the host, its load, the duration; and whether that is insufficient.
void say_basis(Advice& advice) {
  const Scenario& base = advice.base;
  double seconds = 0;  // for one that was not refused
  for (const Trial& t : advice.trials) seconds = std::max(seconds, t.seconds);
  const double trace_s = base.load.recorded ? static_cast<double>(base.load.recorded->duration) * 1e-9 : 0;
  const std::string others = load_in_words(base);
  advice.reasons.push_back(
      fmt::format("Simulated: {} in each context, on {}, with {}.", span(seconds), base.host.name, others));
  if (!advice.host_source.empty()) advice.reasons.push_back(fmt::format("The host's numbers: {}.", advice.host_source));
  if (others == "nothing")
    advice.warnings.push_back("an idle machine was simulated; a busy one may differ: use load.* or --trace.");
  if (advice.assumed) {
    advice.warnings.push_back(
        "this host was not measured: its numbers and all durations here are assumptions. Measure yours with "
        "offhook measure host-profile, or record it (--trace).");
  }
  const bool mixed = advice.suffices && advice.trials[*advice.chosen].expectation.evidence == Evidence::kDistribution;
  if (base.load.recorded && !mixed) {  // otherwise the latencies limit the part that the recording cannot
    advice.warnings.push_back(fmt::format(
        "the trace lasts {}{}: that supports {} between losses with 95 % confidence, and no more. Record for three "
        "times as long as the device must work.",
        span(trace_s),
        trace_s < seconds ? fmt::format(" and was replayed {:.0f} times", std::ceil(seconds / trace_s)) : "",
        span(rule_of_three(std::min(trace_s, seconds)))));
  }
  if (base.load.recorded) {
    const auto is_interrupt = [](const auto& source) { return source.kind == hostsim::HostLoad::Kind::kInterrupt; };
    if (const auto& sources = base.load.recorded->sources; std::none_of(sources.begin(), sources.end(), is_interrupt))
      advice.warnings.push_back(
          "the trace has no interrupts (perf sched records none), so the verdict ignores their time. Record irq, "
          "softirq and timer events too (trace-cmd record -e sched -e irq -e timer).");
  }
  if (base.host.latency) {
    const double measured_s = base.host.latency->measured_s();
    if (measured_s < std::max(seconds, kShortestMeasurementS)) {
      advice.warnings.push_back(
          fmt::format("this host's latencies come from {} of measurement: the verdict ignores rarer events. Measure "
                      "for ten minutes or more, under the load that matters.",
                      span(measured_s)));
    }
  }
}

/// The result as a share of a radio's slots.
void say_slots(Advice& advice) {
  if (advice.slot_s <= 0 || !advice.chosen) return;
  const double most = advice.miss_ratio_at_most(advice.trials[*advice.chosen]);
  advice.reasons.push_back(
      fmt::format("Slots of {:g} ms: at most {:.2g} of them are missed, if each loss is one slot; radios may miss "
                  "{:g}, one loss in {}.",
                  1e3 * advice.slot_s, most, kSlotsMissed, span(advice.required_s)));
}

std::string between(const Expectation& e) {
  if (!std::isfinite(e.expected_s)) return fmt::format("no loss expected within {}", span(e.interval_s.low));
  return std::isfinite(e.interval_s.high)
             ? fmt::format("one every {} (95 %: {} to {})", span(e.expected_s), span(e.interval_s.low),
                           span(e.interval_s.high))
             : fmt::format("one every {} (95 %: {} at least)", span(e.expected_s), span(e.interval_s.low));
}

/// The evidence that a context without losses lacks for the required time.
std::string longer_evidence(const Advice& advice, const Trial& t) {
  const std::string needed = span(std::min(3 * advice.required_s, kWeekS * (1 - 1e-9)));
  switch (t.expectation.evidence) {
    case Evidence::kDistribution:
      return fmt::format("Evidence that would suffice: latencies measured for {} or more, none of them longer.",
                         needed);
    case Evidence::kSeen:
      if (advice.base.load.recorded)
        return fmt::format("Evidence that would suffice: a recording of {} or more without a loss.", needed);
      [[fallthrough]];
    default:
      return fmt::format(
          "The simulation was too short for that: simulate {} or more in each context (--seconds, --repeats){}.",
          needed, advice.assumed ? ", or measure the host" : "");
  }
}

/// The chosen context is not sufficient, or none came close.
void say_what_is_missing(Advice& advice) {
  const std::uint32_t buffers = advice.base.device.buffers;
  if (!advice.chosen) {
    advice.headline =
        fmt::format("{} with {} buffers: {} the device's input was overwritten.",
                    advice.one_only ? advice.trials.front().name + " does not suffice" : "No context suffices", buffers,
                    advice.one_only ? "there" : "in each");
    return;
  }
  const Trial& t = advice.trials[*advice.chosen];
  if (t.loses_nothing()) {
    advice.headline =
        fmt::format("{} with {} buffers{}: nothing was lost in {} of simulation, but the evidence does not support {}.",
                    advice.one_only ? t.name + " does not suffice" : "No context suffices", buffers,
                    advice.one_only ? "" : fmt::format("; {} comes closest", t.name), span(t.seconds),
                    span(required_or_week(advice)));
    advice.reasons.push_back(fmt::format("Expected losses: {}; {}.", between(t.expectation), t.expectation.because));
    if (t.expectation.expects_none()) advice.reasons.push_back(longer_evidence(advice, t));
    return;
  }
  advice.headline = advice.one_only ? fmt::format("{} does not suffice with {} buffers; it needs {}.", t.name, buffers,
                                                  t.buffers_needed)
                                    : fmt::format("No context suffices with {} buffers; {} comes closest and needs {}.",
                                                  buffers, t.name, t.buffers_needed);
  advice.reasons.push_back(fmt::format("Its output was at most {:.3g} ms late.", -t.margin_ms));
  advice.reasons.push_back(fmt::format("Expected losses: {}; {}.", between(t.expectation), t.expectation.because));
}

/// Why the law does not apply to a reservation of this Linux.
std::string no_law(const Scenario& base) {
  if (base.host.reservations == "cpu-max")
    return "cpu.max is a limit: it promises no CPU time, and other threads of the class may run first.";
  if (base.host.reservations == "deadline-hrtick")
    return "The kernel gives its budget in each period but not at a fixed position; other deadline threads run first.";
  return fmt::format(
      "The law does not cover it. Without HRTICK the kernel checks budgets at ticks of {:.4g} ms: a deadline thread "
      "may overrun by that much, and is then throttled for as long.",
      1000.0 / base.host.tick_hz);
}

/// A reservation in time, and its form for the kernel if the host is Linux.
void say_how(Advice& advice, const Trial& t) {
  const Scenario& base = advice.base;
  const double tick_ms = 1000.0 / base.host.tick_hz;
  if (t.context.kind == OH_CONTEXT_RESERVATION && t.context.in_ticks()) {
    advice.reasons.push_back(fmt::format("In time: {:.4g} ms of every {:.4g} ms, because a tick is {:.4g} ms.",
                                         static_cast<double>(t.context.x_ticks) * tick_ms,
                                         static_cast<double>(t.context.y_ticks) * tick_ms, tick_ms));
  }
  if (!is_linux(base)) return;
  if (t.context.kind == OH_CONTEXT_RESERVATION) {
    advice.reasons.push_back(no_law(base));
    return;
  }
  if (t.context.kind != OH_CONTEXT_THREAD) return;
  advice.reasons.push_back(fmt::format("The device takes {:.1f} % of the CPU.", 100 * t.share));
  for (const Trial& other : advice.trials) {
    if (other.context.kind != OH_CONTEXT_RESERVATION || !other.loses_nothing()) continue;
    advice.reasons.push_back(fmt::format("{} also loses nothing, with {:.1f} % of the CPU reserved. {}", other.in_full,
                                         100 * other.context.share(), no_law(base)));
    return;
  }
}

/// The limit that work before all threads exceeds. PC 99 is the System Design Guide for PCs by Microsoft and Intel.
/// Linux has no such limit, so the same value is used.
std::string over_limit(const Scenario& base, const Trial& t) {
  const bool isr = t.isr_max_us > kPc99InterruptUs;
  const double us = isr ? t.isr_max_us : t.dpc_max_us, limit = isr ? kPc99InterruptUs : kPc99DpcUs;
  if (is_linux(base))
    return fmt::format("Its {} ran {:.0f} us; more than {:.0f} us there delay every other device",
                       isr ? "interrupt routine" : "softirq", us, limit);
  return fmt::format("Its {} ran {:.0f} us; PC 99, the design guide for PCs of its time, allows {:.0f}",
                     isr ? "interrupt routine" : "DPC", us, limit);
}

/// One buffer is always being filled and consumed. The others are for waits.
std::string buffers_in_words(const Advice& advice, const Trial& t) {
  const std::uint32_t buffers = advice.base.device.buffers;
  return fmt::format("Buffers: {} of {:.4g} ms {} needed at the worst moment of this simulation; the device has {}{}.",
                     t.buffers_needed, advice.buffer_ms, t.buffers_needed == 1 ? "was" : "were", buffers,
                     t.buffers_needed + 1 < buffers ? ": fewer would suffice, for less delay"
                     : t.thin()                     ? ": one more is advised"
                                                    : "");
}

/// Reasons for this context: its margin, its cost for all other work, the number of buffers that it needs.
void say_why(Advice& advice, const Trial& t) {
  advice.headline = fmt::format(
      "{}: nothing is lost, {}", t.in_full,
      t.margin_ms < t.least_margin_ms ? fmt::format("but only {:.3g} of the {:.3g} ms that a block can wait were left.",
                                                    t.margin_ms, advice.limit_ms)
      : t.thin() ? fmt::format("but the longest known wait leaves only {:.3g} of the {:.3g} ms that a block can wait.",
                               t.worst_margin_ms(), advice.limit_ms)
                 : fmt::format("and {:.3g} of the {:.3g} ms that a block can wait were never needed.", t.margin_ms,
                               advice.limit_ms));
  if (t.thin()) {
    advice.reasons.push_back(
        fmt::format("That margin is unreliable (less than {:.3g} ms): rarer events than in this simulation may need "
                    "it. One more buffer gives {:.3g} ms.",
                    t.least_margin_ms, advice.buffer_ms));
  }
  advice.reasons.push_back(fmt::format("Between losses: {}{}, by {}. {}.", span(t.expectation.interval_s.low),
                                       t.expectation.interval_s.low < kWeekS ? " at least" : "",
                                       in_words(t.expectation.evidence), t.expectation.because));
  advice.reasons.push_back(why(advice, t));
  say_how(advice, t);
  if (!t.within_pc99()) advice.reasons.push_back(over_limit(advice.base, t) + ".");
  advice.reasons.push_back(buffers_in_words(advice, t));
  advice.reasons.push_back(
      fmt::format("Effect on others: a 1 ms timer's callback is at most {:.3g} ms late (without the device {:.3g} ms), "
                  "999 in 1000 within {:.3g} ms ({:.3g} ms); {:.2f} % of the CPU goes to the device before any thread.",
                  t.timer_late_max_ms, advice.control_late_max_ms, t.timer_late_p999_ms, advice.control_late_p999_ms,
                  100 * t.stolen_share));
}

/// A thread is not sufficient unless it is pinned.
void say_whether_pinned(Advice& advice, const Trial& t) {
  const auto thread_does = [&](bool pinned) {
    return std::find_if(advice.trials.begin(), advice.trials.end(), [pinned](const Trial& o) {
      return o.context.kind == OH_CONTEXT_THREAD && o.pinned == pinned && o.loses_nothing();
    });
  };
  if (const auto pinned = thread_does(true);
      !t.pinned && pinned != advice.trials.end() && thread_does(false) == advice.trials.end()) {
    advice.reasons.push_back(
        fmt::format("A thread also loses nothing once it and its interrupt are pinned to CPU {}: {}.",
                    pinned->context.cpu, pinned->name));
  }
}

/// Why no reservation could be tried. @return empty if one was, or the question was about a single context
std::string no_reservation(const Advice& advice) {
  const auto is_one = [](const Trial& t) { return t.context.kind == OH_CONTEXT_RESERVATION; };
  if (advice.one_only || std::any_of(advice.trials.begin(), advice.trials.end(), is_one)) return "";
  const double tick_ms = 1000.0 / advice.base.host.tick_hz;
  const hostsim::SoftDevice& device = advice.base.device;
  DeviceTiming costliest = device_timing(device);
  costliest.cost_ms *= 1 + costliest.cost_spread;
  const double first_ms = static_cast<double>(device.worst_cost_ns) * 1e-6;
  if (is_linux(advice.base)) {
    const auto admission = hostsim::deadline_admission(advice.base.host);
    return fmt::format(
        "Not tried: the device takes up to {:.1f} % of a CPU, and with a reserve of a tenth SCHED_DEADLINE admits "
        "{:.1f} % at most.",
        100 * costliest.share(), admission ? hostsim::DeadlineAdmission::percent(admission->most()) : 100.0);
  }
  return fmt::format(
      "Not tried: no reservation in whole ticks of {:.4g} ms meets the reservation law with a reserve of a tenth. The "
      "device tolerates gaps of at most {:.3g} ms and takes up to {:.1f} % of the CPU{}.",
      tick_ms, std::max(costliest.longest_gap_ms(), 0.0), 100 * costliest.share(),
      first_ms > costliest.cost_ms ? fmt::format(", its first block {:.4g} ms", first_ms) : "");
}

/// Why the chosen context is preferred to this one, which is also sufficient: the order at the top of advice.h.
std::string less_preferred(const Scenario& base, const Trial& t, const Trial& chosen) {
  if (!t.within_pc99()) {
    return fmt::format("{}, and a timer's callback was at most {:.3g} ms late.", over_limit(base, t),
                       t.timer_late_max_ms);
  }
  switch (t.context.kind) {
    case OH_CONTEXT_RESERVATION:
      if (chosen.context.kind != OH_CONTEXT_RESERVATION || chosen.expectation.evidence != t.expectation.evidence)
        return is_linux(base) ? no_law(base)
                              : "The reservation law does not cover it on this host, because the position of its "
                                "budget is not known.";
      if (t.context.share() <= chosen.context.share())
        return fmt::format("It reserves as much of the CPU as {}.", chosen.name);
      return fmt::format("It reserves {:.1f} % of the CPU, although {:.1f} % is enough.", 100 * t.context.share(),
                         100 * chosen.context.share());
    case OH_CONTEXT_THREAD:
      if (chosen.context.kind == OH_CONTEXT_RESERVATION)
        return "A busy thread of a higher priority that starts later would starve it; a reservation is guaranteed its "
               "share.";
      if (t.pinned && !chosen.pinned)
        return fmt::format("It must be pinned to CPU {}; {} need not be.", t.context.cpu, chosen.name);
      return fmt::format("{} suffices at a lower priority, and leaves more priorities above it.", chosen.name);
    case OH_CONTEXT_NORMAL:
      return "Programs that start later share the CPU with it.";
    default:
      if (chosen.context.kind == OH_CONTEXT_DPC || chosen.context.kind == OH_CONTEXT_SOFTIRQ)
        return fmt::format("It also delays other interrupts; {} does not.", chosen.name);
      return fmt::format("It preempts every thread of the machine, with {:.2f} % of the CPU; {} does not.",
                         100 * t.stolen_share, chosen.name);
  }
}

/// Why this one was not chosen.
std::string against(const Advice& advice, const Trial& t) {
  if (!t.refusal.empty()) return fmt::format("Not tried: {}.", t.refusal);
  if (!t.loses_nothing())
    return fmt::format("It loses samples: {} of {} blocks late{}, {}.", t.blocks_lost(), t.blocks_that_came(),
                       t.blocks_given_up > 0 ? " or given up" : "", between(t.expectation));
  if (advice.suffices && advice.unmeasured(t) && !advice.enough(t)) {
    return fmt::format("This priority was not measured on this host: only {} and above were.",
                       advice.base.host.latency ? advice.base.host.latency->measured_priority : 0);
  }
  if (advice.suffices && advice.required_s <= 0 && !advice.enough(t) && t.expectation.expects_none()) {
    return fmt::format("The evidence supports only {} for it, but {} for another context. {}.",
                       span(t.expectation.interval_s.low), span(advice.best_supported_s()), t.expectation.because);
  }
  if (!advice.enough(t)) {
    return fmt::format("The evidence supports {} without a loss, not {}. {}.", span(t.expectation.interval_s.low),
                       span(required_or_week(advice)), t.expectation.because);
  }
  const Trial& chosen = advice.trials[*advice.chosen];
  if (t.thin() && !chosen.thin() && t.within_pc99() == chosen.within_pc99()) {
    return t.margin_ms < t.least_margin_ms
               ? fmt::format("It left only {:.3g} ms of transmit lead; less than {:.3g} ms is an unreliable margin.",
                             t.margin_ms, t.least_margin_ms)
               : fmt::format(
                     "The longest known wait leaves only {:.3g} ms of transmit lead; less than {:.3g} ms is an "
                     "unreliable margin.",
                     t.worst_margin_ms(), t.least_margin_ms);
  }
  std::string because = less_preferred(advice.base, t, chosen);
  if (t.expectation.interval_s.low > 1.05 * chosen.expectation.interval_s.low)
    because += fmt::format(" Its evidence supports a longer time: {}, compared with {} for {}.",
                           span(t.expectation.interval_s.low), span(chosen.expectation.interval_s.low), chosen.name);
  return because;
}

}  // namespace

void explain(Advice& advice) {
  for (Trial& t : advice.trials) t.in_full = full_name(advice.base, t);
  if (advice.suffices) {
    const Trial& t = advice.trials[*advice.chosen];
    say_why(advice, t);
    say_whether_pinned(advice, t);
  } else {
    say_what_is_missing(advice);
  }
  say_slots(advice);
  say_basis(advice);
  for (std::size_t i = 0; i < advice.trials.size(); ++i) {
    if (i != advice.chosen) advice.trials[i].against = against(advice, advice.trials[i]);
  }
}

std::vector<PassedOver> passed_over(const Advice& advice) {
  std::vector<PassedOver> out;
  for (const Trial& t : advice.trials) {
    if (t.against.empty()) continue;
    const auto same = std::find_if(out.begin(), out.end(), [&](const PassedOver& p) { return p.because == t.against; });
    if (same != out.end()) {
      same->contexts.push_back(t.in_full);
    } else {
      out.push_back({{t.in_full}, t.against});
    }
  }
  if (std::string because = no_reservation(advice); !because.empty()) out.push_back({{"RES"}, std::move(because)});
  return out;
}

std::string load_in_words(const Scenario& base) {
  std::vector<std::string> names;
  if (base.load.spinner) names.push_back("a thread that never blocks");
  if (base.load.timer_callback) names.push_back("a 1 ms timer callback");
  for (const auto& device : base.load.devices) names.push_back(device.name);
  for (const auto& thread : base.load.threads) names.push_back(thread.name);
  for (const auto& thread : base.load.reservations) names.push_back(thread.name);
  for (const auto& device : base.load.soft_devices) names.push_back(device.name);
  if (base.load.recorded) {
    names.push_back(fmt::format("CPU {} of the recorded {} ({})", base.load.trace_cpu, base.load.trace,
                                span(static_cast<double>(base.load.recorded->duration) * 1e-9)));
  }
  if (base.host.latency) names.push_back("latencies measured there");
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace offhook::advice
