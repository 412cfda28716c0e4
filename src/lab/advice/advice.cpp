// SPDX-License-Identifier: MIT
#include "src/lab/advice/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "hostsim/call/host_policies.h"
#include "src/lab/advice/explanation.h"
#include "src/lab/advice/law.h"
#include "src/lab/sweep/parallel.h"
#include "traces/scenario/device.h"
#include "traces/scenario/scenario.h"

namespace offhook::advice {

using hostsim::ContextScenario;
using hostsim::Scenario;

namespace {

constexpr double kTimerPeriodMs = 1;

ContextScenario context(oh_context_kind kind, int priority) {
  ContextScenario c;
  c.kind = kind;
  c.priority = priority;
  return c;
}

void worst_of(Measured& all, const Measured& one) {
  const auto most = [](auto& a, auto b) { a = std::max(a, b); };
  static_cast<Lost&>(all) += one;
  all.margin_ms = std::min(all.margin_ms, one.margin_ms);
  most(all.buffers_needed, one.buffers_needed);
  most(all.swamped, one.swamped);
  most(all.latency_p999_ms, one.latency_p999_ms);
  most(all.latency_max_ms, one.latency_max_ms);
  most(all.isr_max_us, one.isr_max_us);
  most(all.dpc_max_us, one.dpc_max_us);
  most(all.share, one.share);
  most(all.stolen_share, one.stolen_share);
  most(all.timer_late_max_ms, one.timer_late_max_ms);
  most(all.timer_late_p999_ms, one.timer_late_p999_ms);
  all.longest_ms.insert(all.longest_ms.end(), one.longest_ms.begin(), one.longest_ms.end());
  std::sort(all.longest_ms.begin(), all.longest_ms.end(), std::greater<>());
  all.longest_ms.resize(std::min(all.longest_ms.size(), kLongestKept));
}

Seen seen_of(const Lost& lost, const std::vector<double>& longest_ms = {}) {
  return {lost.seconds, lost.blocks, lost.losses(), longest_ms, lost.late_bursts, lost.longest_burst};
}

/// The better of two contexts without losses, by the order at the top of the header.
bool better(const Trial& a, const Trial& b) {
  if (a.within_pc99() != b.within_pc99()) return a.within_pc99();
  const auto rank = [](const Trial& t) {
    switch (t.context.kind) {
      case OH_CONTEXT_RESERVATION:
        return t.expectation.evidence == Evidence::kLaw ? 0 : 2;
      case OH_CONTEXT_NORMAL:
        return 3;
      case OH_CONTEXT_DPC:
      case OH_CONTEXT_SOFTIRQ:
        return 4;
      case OH_CONTEXT_INTERRUPT:
        return 5;
      default:
        return 1;  // a thread
    }
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (a.pinned != b.pinned) return b.pinned;
  if (a.context.kind == OH_CONTEXT_RESERVATION) return a.context.share() < b.context.share();
  return a.context.priority < b.context.priority;
}

/// Among insufficient contexts: the longer time between losses; if each lost samples, the fewer additional buffers.
bool closer(const Trial& a, const Trial& b) {
  if (a.loses_nothing() != b.loses_nothing()) return a.loses_nothing();
  if (a.loses_nothing()) return a.expectation.interval_s.low > b.expectation.interval_s.low;
  return a.buffers_needed < b.buffers_needed;
}

/// The recommended context, or the one that comes closest.
void choose(Advice& advice) {
  std::optional<std::size_t> best, clear, solid, closest;
  for (std::size_t i = 0; i < advice.trials.size(); ++i) {
    const Trial& t = advice.trials[i];
    if (!t.refusal.empty()) continue;
    const auto over = [&](const std::optional<std::size_t>& other) {
      return !other || better(t, advice.trials[*other]);
    };
    const bool enough = advice.enough(t);
    if (enough && over(best)) best = i;
    if (enough && advice.keeps_clear(t) && over(clear)) clear = i;
    if (enough && !t.thin() && over(solid)) solid = i;
    if (!t.swamped && (!closest || closer(t, advice.trials[*closest]))) closest = i;
  }
  // The limits are more important than a margin, because no vendor ships an interrupt routine of milliseconds.
  const auto keeps_limits = [&](const Trial& a, const Trial& b) {
    const bool to_interrupt = b.context.kind == OH_CONTEXT_INTERRUPT && a.context.kind != OH_CONTEXT_INTERRUPT;
    return a.within_pc99() == b.within_pc99() && (b.within_pc99() || !to_interrupt);
  };
  if (best && solid && keeps_limits(advice.trials[*best], advice.trials[*solid])) best = solid;
  if (clear) best = clear;
  advice.suffices = best.has_value();
  advice.chosen = best ? best : closest;
}

/// The CPU, other than the one with the card's interrupt, that other devices use least.
int quietest_cpu(const Scenario& base) {
  int quietest = -1;
  double least = 0;
  for (int cpu = 0; cpu < base.host.cpus; ++cpu) {
    double taken = 0;
    for (const hostsim::LoadDevice& d : base.load.devices) taken += d.cpu == cpu ? d.share() : 0;
    if (cpu == base.context.interrupt_cpu || (quietest >= 0 && taken >= least)) continue;
    quietest = cpu;
    least = taken;
  }
  return quietest;
}

}  // namespace

namespace {

/// Priorities of threads to try, in descending order. On PREEMPT_RT, none is as urgent as interrupt threads. Includes
/// the priority whose waits were measured on this host, because it is evidence for that one and higher ones.
std::vector<int> priorities_for(const Scenario& base) {
  std::vector<int> out;
  for (const int eighths : {7, 6, 4, 2}) out.push_back(base.host.priorities * eighths / 8);
  for (int& p : out)
    if (base.host.threaded_interrupts && p == hostsim::kInterruptThreadPriority) p++;
  std::vector<int> measured;
  if (base.host.latency) {
    measured.push_back(base.host.latency->measured_priority);
    for (const auto& m : base.host.latency->more) measured.push_back(m.priority);
  }
  for (const int p : measured)
    if (p > 0 && std::find(out.begin(), out.end(), p) == out.end()) out.push_back(p);
  std::sort(out.begin(), out.end(), std::greater<>());
  return out;
}

/// Budgets of SCHED_DEADLINE, in microseconds: in each block's period 1.1 times
/// and 1.65 times its costliest work. A job gets its budget within a period of
/// its release, so the period is at most the block's permissible wait.
std::vector<ContextScenario> deadline_reservations(const Scenario& base) {
  constexpr double kLeastPeriodUs = 100;  // sched_deadline_period_min_us
  const DeviceTiming device = device_timing(base.device);
  const double cost_us = 1e3 * device.cost_ms * (1 + device.cost_spread);
  const double period_us = std::floor(1e3 * std::min(device.mean_period_ms(), std::max(device.least_slack_ms(), 0.1)));
  std::vector<ContextScenario> out;
  for (const double reserve : {1.1, 1.6}) {
    const double budget_us = std::ceil(reserve * cost_us * std::max(1.0, period_us / (1e3 * device.mean_period_ms())));
    ContextScenario c = context(OH_CONTEXT_RESERVATION, 24);
    c.budget_ns = static_cast<std::uint64_t>(budget_us) * 1000;
    c.period_ns = static_cast<std::uint64_t>(period_us) * 1000;
    c.strict = true;
    if (period_us >= kLeastPeriodUs && hostsim::admission_problem(base.host, c).empty()) out.push_back(c);
  }
  return out;
}

/// Slots of whole ticks, as recommended by the law.
std::vector<ContextScenario> slot_reservations(const Scenario& base) {
  std::vector<ContextScenario> out;
  RecommendOptions wanted;
  wanted.tick_ms = 1000.0 / base.host.tick_hz;
  wanted.reserve = 1.1 * (1 + base.device.cost_spread) - 1;
  wanted.worst_cost_ms = static_cast<double>(base.device.worst_cost_ns) * 1e-6;
  const DeviceTiming device = device_timing(base.device);
  for (const bool standard : {false, true}) {
    wanted.power_of_two = standard;
    wanted.margin_ms = 0;
    const auto least = recommend(device, wanted);
    if (!least) continue;
    wanted.margin_ms = wanted.tick_ms;
    const auto safer = recommend(device, wanted);
    const bool same = safer && safer->x == least->x && safer->y == least->y;
    for (const auto& r : {least, same ? std::nullopt : safer}) {
      if (!r) continue;
      ContextScenario c = context(OH_CONTEXT_RESERVATION, 24);
      c.x_ticks = r->x;
      c.y_ticks = r->y;
      c.strict = !standard;
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace

std::vector<ContextScenario> contexts_for(const Scenario& base) {
  std::vector<ContextScenario> out = {context(OH_CONTEXT_INTERRUPT, 24), context(OH_CONTEXT_DPC, 24)};
  for (const int priority : priorities_for(base)) out.push_back(context(OH_CONTEXT_THREAD, priority));
  const bool linux_host = hostsim::has_linux_classes(base.host);
  for (ContextScenario& c : linux_host ? deadline_reservations(base) : slot_reservations(base)) out.push_back(c);
  // Without a measurement, the waits of a program without real-time priority are unknown.
  if (linux_host && base.host.latency && base.host.latency->knows(hostsim::ThreadKind::kNormal))
    out.push_back(context(OH_CONTEXT_NORMAL, 0));
  for (ContextScenario& c : out) {
    c.cpu = base.context.cpu;
    c.interrupt_cpu = base.context.interrupt_cpu;
    c.dpc_cpu = base.context.dpc_cpu;
    c.dpc_importance = base.context.dpc_importance;
  }
  if (const int away = quietest_cpu(base); away >= 0 && base.context.cpu == hostsim::kAnyCpu) {
    for (std::size_t i = 0, n = out.size(); i < n; ++i) {
      if (out[i].kind != OH_CONTEXT_THREAD) continue;
      out.push_back(out[i]);
      out.back().cpu = out.back().interrupt_cpu = away;
    }
  }
  return out;
}

namespace {

Advice describe(const Scenario& base) {
  Advice advice;
  advice.base = base;
  advice.device = base.device.name;
  advice.host = base.host.name;
  advice.lead_ms = 1000.0 * base.device.lead() / base.device.rate_hz;
  advice.buffer_ms = 1000.0 * base.device.buffer() / base.device.rate_hz;
  advice.limit_ms = device_timing(base.device).least_slack_ms();
  return advice;
}

std::vector<Trial> trials_of(const Scenario& base, const Options& options, double lead_ms) {
  std::vector<Trial> trials;
  for (const ContextScenario& c : options.only ? std::vector{*options.only} : contexts_for(base)) {
    Trial trial;
    trial.pinned = c.cpu != base.context.cpu;
    trial.name = c.str() + (trial.pinned ? fmt::format(", CPU {}", c.cpu) : "");
    trial.context = c;
    trial.margin_ms = lead_ms;
    trial.least_margin_ms = thin_margin_ms(base, c);
    const bool measured = base.host.latency && base.host.latency->knows(hostsim::ThreadKind::kDeadline);
    if (c.kind == OH_CONTEXT_RESERVATION && !base.host.latencies.empty() && !measured) {
      trial.refusal = "no reservation has been measured on this host";
    }
    trials.push_back(std::move(trial));
  }
  return trials;
}

/// The scenario of a trial. @param control  the device without any work
Scenario of_trial(const Scenario& base, const Trial& trial, bool control) {
  Scenario s = base;
  s.context = trial.context;
  s.load.timer_callback = true;
  if (control) {
    s.device.cost_ns = s.device.worst_cost_ns = 1;
    s.device.isr_mean_ns = s.device.isr_max_ns = 0;
  }
  return s;
}

/// Runs all trials, and the control, which is the last of them. @return false when stopped
bool run_trials(const Scenario& base, const Options& options, std::vector<Trial>& trials) {
  const std::size_t jobs = trials.size() * options.repeats;
  std::size_t done = 0;
  std::mutex mutex;
  sweep::parallel(
      jobs, options.threads,
      [&](std::size_t job) {
        Trial& trial = trials[job / options.repeats];
        Scenario s = of_trial(base, trial, &trial == &trials.back());
        s.device_s = options.seconds;
        s.seed += job % options.repeats;
        std::optional<Measured> measured;
        std::string refusal;
        {
          const std::lock_guard lock(mutex);
          refusal = trial.refusal;
        }
        if (refusal.empty()) {
          try {
            measured = options.run(config::ScenarioBuilder(s).finish());
          } catch (const std::exception& e) {
            refusal = e.what();
          }
        }
        const std::lock_guard lock(mutex);
        if (measured) {
          worst_of(trial, *measured);
        } else {
          trial.refusal = refusal;
        }
        if (options.progress) options.progress(++done, jobs);
      },
      options.stop);
  return !options.stop || !options.stop();
}

std::optional<Advice> try_contexts(const Scenario& base, const Options& options) {
  Advice advice = describe(base);
  advice.slot_s = options.slot_s;
  advice.required_s = options.slot_s > 0 ? options.slot_s / kSlotsMissed : options.required_s;
  advice.host_source = options.host_source;
  advice.assumed = options.assumed;
  advice.warnings = options.notes;
  advice.one_only = options.only.has_value();
  advice.trials = trials_of(base, options, advice.lead_ms);
  advice.trials.emplace_back().context = context(OH_CONTEXT_INTERRUPT, 24);  // the control
  if (!run_trials(base, options, advice.trials)) return std::nullopt;
  advice.control_late_max_ms = advice.trials.back().timer_late_max_ms;
  advice.control_late_p999_ms = advice.trials.back().timer_late_p999_ms;
  advice.trials.pop_back();
  for (Trial& t : advice.trials) {
    if (t.refusal.empty())
      t.expectation = expectation(of_trial(base, t, false), seen_of(t, t.longest_ms), advice.assumed);
  }
  choose(advice);
  explain(advice);
  return advice;
}

}  // namespace

double Advice::best_supported_s() const {
  double best = 0, assumed_best = 0;
  for (const Trial& t : trials) {
    if (!t.loses_nothing() || !t.expectation.expects_none()) continue;
    double& of = unmeasured(t) ? assumed_best : best;
    of = std::max(of, t.expectation.interval_s.low);
  }
  return best > 0 ? best : assumed_best;
}

bool Advice::enough(const Trial& t) const {
  constexpr double kAsLong = 0.5;
  if (!t.loses_nothing()) return false;
  const auto is_better = [this](const Trial& o) {
    return o.loses_nothing() && o.expectation.expects_none() && !unmeasured(o);
  };
  if (unmeasured(t) && std::any_of(trials.begin(), trials.end(), is_better)) return false;
  if (required_s > 0) return t.expectation.carries(required_s);
  return t.expectation.expects_none() && t.expectation.carries(kAsLong * best_supported_s());
}

Lost::Lost(const ServiceTally& service, double simulated_s)
    : seconds(simulated_s),
      blocks(service.blocks),
      blocks_late(service.losses.blocks_late),
      samples_lost(std::max(service.losses.samples_late, service.losses.underrun_samples) +
                   service.losses.samples_filled_in),
      late_bursts(service.late_bursts),
      longest_burst(service.longest_burst) {
  // Work that never ran took no time, so no block counted as late: every block that arrived was lost.
  if (blocks == 0 && samples_lost > 0) blocks = blocks_late = service.interrupts;
  const bool gave_up = service.losses.samples_filled_in > 0 && service.interrupts > blocks;
  if (gave_up) blocks_given_up = service.interrupts - blocks;
}

Lost& Lost::operator+=(const Lost& other) {
  seconds += other.seconds;
  blocks += other.blocks;
  blocks_late += other.blocks_late;
  blocks_given_up += other.blocks_given_up;
  samples_lost += other.samples_lost;
  late_bursts += other.late_bursts;
  longest_burst = std::max(longest_burst, other.longest_burst);
  return *this;
}

Measured measure(const Figures& f, const Scenario& scenario) {
  const double sample_ms = 1000.0 / scenario.device.rate_hz;
  const PhaseFigures& total = f.total;
  const double span_ns = static_cast<double>(std::max<std::uint64_t>(f.end_ns - f.begin_ns, 1));
  Measured m;
  static_cast<Lost&>(m) = Lost(total, span_ns * 1e-9);
  const bool starved = total.blocks == 0 && m.samples_lost > 0;
  m.swamped = total.losses.samples_filled_in > 0 || starved;
  std::uint64_t left = kLongestKept;
  const std::vector<HistogramBar> bars = f.interrupt_to_output.bars(LogLinearHistogram::kPrecisionBits);
  for (auto bar = bars.rbegin(); bar != bars.rend() && left > 0; ++bar) {
    const std::uint64_t n = std::min(left, bar->count);
    m.longest_ms.insert(m.longest_ms.end(), n,
                        static_cast<double>(std::min(bar->high, f.interrupt_to_output.max())) * 1e-6);
    left -= n;
  }
  const double used = total.lead_used_max_samples;
  m.margin_ms = std::min(scenario.device.lead() - used, static_cast<double>(scenario.device.lead())) * sample_ms;
  if (starved) m.margin_ms -= span_ns * 1e-6;  // at least this, because its output never came
  // The codec never ran out of samples. The sample of the card's crystal that makes a block seem late does not count.
  if (m.samples_lost == 0) m.margin_ms = std::max(m.margin_ms, 0.0);
  m.buffers_needed = static_cast<std::uint32_t>(std::ceil(used / scenario.device.buffer()));
  const auto ms = [](std::uint64_t ns) { return static_cast<double>(ns) * 1e-6; };
  m.latency_p999_ms = ms(f.interrupt_to_output.quantile(0.999));
  m.latency_max_ms = ms(f.interrupt_to_output.max());
  m.isr_max_us = 1e3 * ms(f.isr_elapsed.max());
  const oh_context_kind kind = scenario.context.kind;
  const bool deferred = kind == OH_CONTEXT_DPC || kind == OH_CONTEXT_SOFTIRQ;
  m.dpc_max_us = deferred                       ? 1e3 * ms(f.service_run_elapsed.max())
                 : kind == OH_CONTEXT_INTERRUPT ? 0
                                                : static_cast<double>(scenario.host.dispatch_ns) * 1e-3;
  m.share = total.modem_cpu_ns / span_ns;
  // The interrupt routine, and for a thread also the DPC that signals it, precede every thread of the machine.
  const double above = kind == OH_CONTEXT_INTERRUPT || deferred
                           ? total.modem_cpu_ns
                           : static_cast<double>(total.interrupts) *
                                 static_cast<double>(scenario.device.isr_mean_ns + scenario.host.dispatch_ns);
  m.stolen_share = above / span_ns;
  const auto late = [&](std::uint64_t interval_ns) { return std::max(0.0, ms(interval_ns) - kTimerPeriodMs); };
  m.timer_late_max_ms = late(f.timer_interval_log.max());
  m.timer_late_p999_ms = late(f.timer_interval_log.quantile(0.999));
  return m;
}

double thin_margin_ms(const Scenario& base, const ContextScenario& context) {
  const double share = 0.05 * 1000.0 * base.device.lead() / base.device.rate_hz;
  return context.kind == OH_CONTEXT_RESERVATION ? std::max(share, 1000.0 / base.host.tick_hz) : share;
}

std::optional<Verification> verify(const Advice& advice, double seconds, std::uint32_t runs, const Options& options) {
  constexpr std::uint64_t kOtherSeeds = 1'000'000;  // larger than the repeats of any advice
  const Trial& t = advice.trials.at(advice.chosen.value());
  Lost all;
  std::mutex mutex;
  std::size_t done = 0;
  sweep::parallel(
      runs, options.threads,
      [&](std::size_t i) {
        Scenario s = advice.base;
        s.context = t.context;
        s.load.timer_callback = true;
        s.device_s = seconds;
        s.seed += kOtherSeeds + i;
        const Lost one = options.count(config::ScenarioBuilder(s).finish());
        const std::lock_guard lock(mutex);
        all += one;
        if (options.progress) options.progress(++done, runs);
      },
      options.stop);
  if (options.stop && options.stop()) return std::nullopt;
  Verification v{all, time_between_losses(seen_of(all), all.seconds), false};
  // The lower end is the reliable time. A claim of a week is refuted by the first loss.
  v.safer = all.losses() > 0 && (t.expectation.carries(kWeekS) || t.expectation.interval_s.low > v.interval_s.high);
  return v;
}

namespace {

/// Whether more buffers cannot help: a context lost nothing, but the evidence is too short for the required time.
bool lacks_evidence_only(const Advice& advice) {
  return std::any_of(advice.trials.begin(), advice.trials.end(), [](const Trial& t) {
    return t.loses_nothing() && t.expectation.expects_none() && t.expectation.evidence != Evidence::kTail;
  });
}

/// Separates start-up from steady work. @return the context that suffices once the costly first block is done; empty:
/// the same as before
std::optional<std::string> without_first_block(const Scenario& base, const Options& options) {
  if (base.device.worst_cost_ns <= base.device.cost_ns) return std::nullopt;
  Scenario steady = base;
  steady.device.worst_cost_ns = 0;
  const std::optional<Advice> other = try_contexts(steady, options);
  if (!other || !other->suffices) return std::nullopt;
  return fmt::format(
      "Only the first block is too costly: {:.4g} ms, while later blocks take {:.4g} ms. If that work is done before "
      "the device starts, these buffers suffice: {}",
      static_cast<double>(base.device.worst_cost_ns) * 1e-6, static_cast<double>(base.device.cost_ns) * 1e-6,
      other->headline);
}

}  // namespace

std::optional<Advice> advise(const Scenario& base, const Options& options) {
  std::optional<Advice> advice = try_contexts(base, options);
  if (!advice || advice->suffices || lacks_evidence_only(*advice)) return advice;
  if (const double demand = device_timing(base.device).share(); demand > 1) {
    advice->reasons.insert(advice->reasons.begin(),
                           fmt::format("The device's blocks alone need {:.1f} % of the CPU, more than exists. No "
                                       "buffering can compensate for that.",
                                       100 * demand));
    return advice;
  }
  if (auto steady = without_first_block(base, options)) {
    advice->reasons.push_back(std::move(*steady));
    return advice;
  }
  if (options.stop && options.stop()) return std::nullopt;
  Scenario deeper = base;
  while (deeper.device.buffers <= kMostBuffersTried / 2) {
    deeper.device.buffers *= 2;
    const std::optional<Advice> other = try_contexts(deeper, options);
    if (!other) return std::nullopt;
    if (!other->suffices) continue;
    advice->buffers_that_suffice = deeper.device.buffers;
    advice->reasons.push_back(
        fmt::format("With {} buffers (doubled until a context suffices): {}", deeper.device.buffers, other->headline));
    return advice;
  }
  advice->reasons.push_back(
      fmt::format("No context suffices with up to {} buffers either (doubled each time).", deeper.device.buffers));
  return advice;
}

}  // namespace offhook::advice
