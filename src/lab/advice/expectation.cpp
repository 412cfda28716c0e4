// SPDX-License-Identifier: MIT
#include "src/lab/advice/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "hostsim/call/host_policies.h"
#include "src/lab/advice/law.h"

namespace offhook::advice {

using hostsim::HostLatencies;
using hostsim::LatencyDistribution;
using hostsim::Modality;
using hostsim::Scenario;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

constexpr int kHighestBoosted = 15;  ///< priorities 16 to 31 of Windows are not boosted (hostsim/sched/windows_nt.h)

double at_most_a_week(double seconds) {
  return std::min(seconds, kWeekS);
}

/// The time covered by a replayed recording is its own length.
double independent_s(const Scenario& s, const Seen& seen) {
  if (!s.load.recorded) return seen.seconds;
  return std::min(seen.seconds, static_cast<double>(s.load.recorded->duration) * 1e-9);
}

/// A loss that is replayed counts as one loss.
std::uint64_t once(std::uint64_t count, const Seen& seen, double independent_s) {
  if (seen.seconds <= independent_s) return count;
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(count) * independent_s / seen.seconds - 1e-9));
}

Expectation from_losses(const Scenario& s, const Seen& seen) {
  const double of = independent_s(s, seen);
  const Interval between = time_between_losses(seen, of);
  const std::string replayed =
      seen.seconds > of ? fmt::format(", which replayed {} of recording", span(of)) : std::string();
  Expectation e{Evidence::kLosses,
                of / static_cast<double>(once(seen.losses, seen, of)),
                {at_most_a_week(between.low), between.high},
                fmt::format("{} of {} blocks lost samples in {} of simulation{}", seen.losses, seen.blocks,
                            span(seen.seconds), replayed)};
  e.evidence_s = of;
  return e;
}

/// Only the absence of losses is known.
Expectation from_seconds(Evidence evidence, double seconds, const std::string& because) {
  Expectation e{evidence, kInfinite, {at_most_a_week(rule_of_three(seconds)), kInfinite}, because};
  e.evidence_s = seconds;
  return e;
}

/// Whether only work that the law includes takes time.
bool undisturbed(const Scenario& s) {
  return s.host.latencies.empty() && s.load.devices.empty() && s.load.trace.empty() && s.load.reservations.empty() &&
         s.load.soft_devices.empty();
}

/// Only for slots at the law's positions, not for a budget counted at ticks.
std::optional<Expectation> from_law(const Scenario& s) {
  const bool slots =
      s.context.kind == OH_CONTEXT_RESERVATION && s.context.in_ticks() && s.host.reservations == "rialto";
  if (!slots || !undisturbed(s)) return std::nullopt;
  const double tick_ms = 1000.0 / s.host.tick_hz;
  DeviceTiming device = device_timing(s.device);
  device.cost_ms *= 1 + device.cost_spread;
  device.cost_spread = 0;
  HostWork host = host_work(s.host, s.device);
  host.isr_ms = static_cast<double>(s.device.isr_max_ns) * 1e-6;
  if (s.load.timer_callback) host.clock_isr_ms += host.dispatch_ms;  // including the DPC that wakes the callback
  const LawResult law = full_law(device, static_cast<double>(s.context.x_ticks) * tick_ms,
                                 static_cast<double>(s.context.y_ticks) * tick_ms,
                                 static_cast<double>(s.device.worst_cost_ns) * 1e-6, host);
  if (!law.sufficient) return std::nullopt;
  return Expectation{Evidence::kLaw,
                     kInfinite,
                     {kWeekS, kInfinite},
                     fmt::format("The reservation law leaves {:.3g} ms in its worst case, from every phase, with every "
                                 "block at its costliest. This assumes that only the clock runs above the slots",
                                 law.margin_ms)};
}

/// A thread that is not more urgent than one that never blocks also waits for its turn, in addition to the host's
/// latencies. That wait was not measured.
bool takes_turns(const Scenario& s) {
  if (hostsim::has_linux_classes(s.host))  // if the thread that never blocks is SCHED_OTHER
    return s.load.spinner && s.context.kind == OH_CONTEXT_NORMAL;
  return s.load.spinner && s.context.kind == OH_CONTEXT_THREAD && s.context.priority <= s.load.spinner_priority;
}

bool is_thread(const ContextSpec& context) {
  return context.kind == OH_CONTEXT_THREAD || context.kind == OH_CONTEXT_FIFO || context.kind == OH_CONTEXT_ROUND_ROBIN;
}

/// A thread that is less urgent than the measured one.
bool below_what_was_measured(const Scenario& s) {
  return s.host.latency && is_thread(s.context) &&
         static_cast<int>(s.context.priority) < s.host.latency->measured_priority;
}

/// Whether no block needs more than the budget of one period: it then waits like any thread of SCHED_DEADLINE.
bool within_one_budget(const Scenario& s) {
  const double block_ns = static_cast<double>(s.device.cost_ns) * (1 + s.device.cost_spread);
  return !s.context.in_ticks() && static_cast<double>(s.context.budget_ns) >= block_ns &&
         static_cast<double>(s.context.period_ns) <= 1e6 * device_timing(s.device).mean_period_ms();
}

const LatencyDistribution* latency_of(const Scenario& s) {
  if (!s.host.latency || !s.load.devices.empty() || !s.load.threads.empty()) return nullptr;
  if (s.load.recorded && !is_thread(s.context)) return nullptr;  // the trace has more about interrupts
  try {
    switch (s.context.kind) {
      case OH_CONTEXT_INTERRUPT:
        return &s.host.latency->to(Modality::kInterrupt, 0);
      case OH_CONTEXT_DPC:
        return &s.host.latency->to(Modality::kDpc, 0);
      case OH_CONTEXT_THREAD:
      case OH_CONTEXT_FIFO:
      case OH_CONTEXT_ROUND_ROBIN:
        if (takes_turns(s) || below_what_was_measured(s)) return nullptr;
        return &s.host.latency->to(Modality::kThread, s.context.priority);
      case OH_CONTEXT_RESERVATION:
      case OH_CONTEXT_NORMAL: {
        const hostsim::ThreadKind kind = hostsim::thread_kind(s.context);
        if (!s.host.latency->knows(kind) || takes_turns(s)) return nullptr;
        if (kind == hostsim::ThreadKind::kDeadline && !within_one_budget(s)) return nullptr;
        return &s.host.latency->to_thread(kind, 0);
      }
      default:
        return nullptr;
    }
  } catch (const std::invalid_argument&) {  // a host without DPCs
    return nullptr;
  }
}

/// The longest wait after which a block's output is still on time. If the driver serves all owed blocks, blocks that
/// arrive meanwhile are served in the same call. The output of n blocks is ready when a part of the work of all n is
/// done.
double longest_wait_ms(const Scenario& s, const DeviceTiming& device) {
  const double output_ms = device.output_fraction * (1 + device.cost_spread) * device.cost_ms;
  double begin_ms = 0;  // of the waits during which n blocks are owed
  for (int n = 1;; ++n) {
    const double end_ms = s.policy == OH_SERVICE_DRAIN_ALL ? n * device.mean_period_ms() : kInfinite;
    const double longest_ms = device.least_slack_ms() - n * output_ms;
    if (longest_ms < end_ms) return n == 1 ? longest_ms : std::max(longest_ms, begin_ms);
    begin_ms = end_ms;
  }
}

/// The time for which a measurement of latencies is evidence for a device: its duration, and the time in which the
/// device has as many waits.
double measured_for_s(const HostLatencies& host, const LatencyDistribution& latency, double period_s) {
  const double waits = 1 / latency.rarest();
  return std::min(waits / host.waits_per_s, waits * period_s);
}

/// The longest time that more urgent entities of a recording (interrupts, softirqs, threads) take from a running
/// thread. A window of work begins with each of their intervals.
/// @param most_ms  an upper limit for the result
double taken_from_work_ms(const Scenario& s, double work_ms, double most_ms) {
  const hostsim::HostLoad& load = *s.load.recorded;
  const auto cpu =
      std::find_if(load.cpus.begin(), load.cpus.end(), [&](const auto& c) { return c.number == s.load.trace_cpu; });
  if (cpu == load.cpus.end()) return 0;
  const int priority = static_cast<int>(s.context.priority);
  const int own = s.host.priorities >= hostsim::kLinuxPriorities ? priority : hostsim::linux_priority(99 - priority);
  std::vector<const hostsim::HostLoad::Interval*> before;
  for (const auto& i : cpu->intervals) {
    const auto& source = load.sources[i.source];
    if (source.kind != hostsim::HostLoad::Kind::kThread || source.priority > own) before.push_back(&i);
  }
  const auto work = static_cast<hostsim::Ns>(work_ms * 1e6), most = static_cast<hostsim::Ns>(most_ms * 1e6);
  hostsim::Ns worst = 0;
  for (std::size_t first = 0; first < before.size() && worst <= most; ++first) {
    hostsim::Ns taken = 0;
    for (std::size_t i = first; i < before.size() && taken <= most; ++i) {
      if (before[i]->start >= before[first]->start + work + taken) break;
      taken += before[i]->cpu;
    }
    worst = std::max(worst, taken);
  }
  return static_cast<double>(worst) * 1e-6;
}

/// Combines hours of latencies with seconds of recording. Each gives one bound. Latencies bound the wait. The recording
/// bounds the time taken from the work after it, which shortens the permissible wait of a block. The latencies include
/// events too rare for the recording: a thread that wakes waits for anything that takes the CPU from a running thread.
/// It can delay a block twice, while it waits and while it works, so the latencies count for half as long.
struct Mixed {
  double taken_ms = 0;   ///< from the recording; 0: none
  double exposures = 1;  ///< of a block
  std::string because;
};

Mixed mixed(const Scenario& s, const DeviceTiming& device) {
  if (!s.load.recorded) return {};
  const double work_ms = device.output_fraction * (1 + device.cost_spread) * device.cost_ms;
  Mixed m{taken_from_work_ms(s, work_ms, std::max(device.least_slack_ms(), 0.0)), 2, ""};
  m.because = fmt::format(
      ". The {} of recording limit the time that others take from a block's work to {:.3g} ms; the permitted wait is "
      "shorter by that time. Rarer events can delay both the wait and the work of a block, so the latencies count for "
      "half of their time",
      span(static_cast<double>(s.load.recorded->duration) * 1e-9), m.taken_ms);
  return m;
}

Expectation from_latencies(const Scenario& s, const LatencyDistribution& latency) {
  const DeviceTiming device = device_timing(s.device);
  const double period_s = device.mean_period_ms() * 1e-3;
  const Mixed with = mixed(s, device);
  const double wait_ms = longest_wait_ms(s, device) - with.taken_ms;
  const double longer = wait_ms > 0 ? std::min(1.0, with.exposures * latency.longer_than(wait_ms)) : 1;
  const double measured_s = measured_for_s(*s.host.latency, latency, period_s) / with.exposures;
  Expectation e;
  if (longer <= 0) {
    e = from_seconds(Evidence::kDistribution, measured_s,
                     fmt::format("A block can wait {:.3g} ms. None of the {:.0f} waits that were measured on this host "
                                 "was longer than {:.3g} ms: they represent {} of this device",
                                 wait_ms, 1 / latency.rarest(), latency.worst_ms(), span(measured_s)) +
                         with.because);
    e.margin_ms = wait_ms - latency.worst_ms();
    return e;
  }
  // The number of measured waits of at least this length, which limits their frequency.
  const Interval count =
      poisson_interval(static_cast<std::uint64_t>(std::lround(longer / with.exposures / latency.rarest())));
  const double in_device_s = period_s / latency.rarest();
  e = {Evidence::kDistribution,
       period_s / longer,
       {at_most_a_week(measured_s / count.high), count.low > 0 ? in_device_s / count.low : kInfinite},
       fmt::format("A block can wait {:.3g} ms; one latency in {:.0f} of this host is longer. This assumes that waits "
                   "are independent",
                   wait_ms, with.exposures / longer) +
           with.because};
  e.evidence_s = measured_s;
  return e;
}

/// Next to a thread that never blocks, both below priority 16. Turns then depend on boosts and remaining quanta, which
/// rarely coincide. Waits of a second follow waits of microseconds, with nothing in between.
bool waits_for_boosts(const Scenario& s) {
  return s.host.scheduler == "windows-nt" && s.load.spinner && s.load.spinner_priority <= kHighestBoosted &&
         s.context.kind == OH_CONTEXT_THREAD && s.context.priority <= kHighestBoosted;
}

Expectation from_tail(const Scenario& s, const Seen& seen) {
  const double wait_ms = device_timing(s.device).least_slack_ms(),
               period_s = device_timing(s.device).mean_period_ms() * 1e-3;
  const std::string nothing = fmt::format("Nothing was lost in {} of simulation", span(seen.seconds));
  // At most a tenth of the blocks belongs to the tail.
  const std::size_t k =
      std::min(seen.longest_ms.empty() ? 0 : seen.longest_ms.size() - 1, static_cast<std::size_t>(seen.blocks / 10));
  if (waits_for_boosts(s)) {
    return from_seconds(Evidence::kSeen, seen.seconds,
                        nothing +
                            ". Windows boosts threads below priority 16, so this thread may have to wait for the "
                            "thread that never blocks. Such waits are rarer and longer than a tail shows");
  }
  if (s.host.latency && takes_turns(s)) {
    return from_seconds(Evidence::kSeen, seen.seconds,
                        nothing +
                            ". The thread takes turns with the thread that never blocks: a whole turn and a long "
                            "latency together are rarer than a tail shows");
  }
  if (k < 8 || seen.longest_ms[k] <= 0 || wait_ms <= seen.longest_ms[k])
    return from_seconds(Evidence::kSeen, seen.seconds, nothing + ", too little for an extrapolation");
  double sum = 0;
  for (std::size_t i = 0; i < k; ++i) sum += std::log(seen.longest_ms[i] / seen.longest_ms[k]);
  const double n = static_cast<double>(k), alpha = sum > 0 ? n / sum : kInfinite;
  const auto time = [&](double exponent) {
    const double longer = n / static_cast<double>(seen.blocks) * std::pow(wait_ms / seen.longest_ms[k], -exponent);
    return longer > 0 ? period_s / longer : kInfinite;
  };
  const double error = 1.96 / std::sqrt(n);
  const auto within_a_week = [](double seconds) { return seconds < kWeekS ? seconds : kInfinite; };
  return {Evidence::kTail,
          within_a_week(time(alpha)),
          {at_most_a_week(time(alpha * (1 - error))), within_a_week(time(alpha * (1 + error)))},
          fmt::format("{}. This assumes that times beyond the observed {:.3g} ms become rarer as the longest {} of {} "
                      "did, up to the {:.3g} ms that a block can wait",
                      nothing, seen.longest_ms.front(), k, seen.blocks, wait_ms)};
}

/// For a recording, at most its own length, however often it was replayed.
Expectation from_recording(const Scenario& s, const Seen& seen) {
  const double of = independent_s(s, seen);
  return from_seconds(Evidence::kSeen, of,
                      fmt::format("Nothing was lost in {} of recording{}. Rarer events are not in it", span(of),
                                  seen.seconds > of ? ", replayed" : ""));
}

/// A result drawn from latencies is only as good as they are, whatever its tail shows.
Expectation within_the_measurement(const Scenario& s, Expectation e) {
  const HostLatencies& host = *s.host.latency;
  const double most = rule_of_three(host.measured_s());
  e.interval_s.low = std::min(e.interval_s.low, most);
  e.evidence_s = std::min(e.evidence_s, host.measured_s());
  return e;
}

}  // namespace

std::string_view to_string(Evidence evidence) {
  static constexpr std::array<std::string_view, 6> kNames = {"losses",       "seen", "law",
                                                             "distribution", "tail", "assumed"};
  return kNames.at(static_cast<std::size_t>(evidence));
}

std::string_view in_words(Evidence evidence) {
  static constexpr std::array<std::string_view, 6> kWords = {
      "the observed losses, with 95 % confidence",
      "the time without a loss, with 95 % confidence",
      "the reservation law, if its assumptions hold",
      "the latencies measured on this host, with 95 % confidence",
      "the tail of the longest times, with 95 % confidence",
      "the simulated time, if the assumptions about the host hold"};
  return kWords.at(static_cast<std::size_t>(evidence));
}

Interval time_between_losses(const Seen& seen, double independent_s) {
  const Interval losses = poisson_interval(once(seen.losses, seen, independent_s));
  Interval between{independent_s / losses.high, losses.low > 0 ? independent_s / losses.low : kInfinite};
  if (seen.longest_burst > 1) {
    const Interval bursts = poisson_interval(once(seen.late_bursts, seen, independent_s));
    const double every_block = seen.seconds / static_cast<double>(std::max(seen.blocks, seen.losses));
    const double worst = independent_s / (bursts.high * static_cast<double>(seen.longest_burst));
    between.low = std::min(between.low, std::max(every_block, worst));
    between.high = std::max(between.high, independent_s / bursts.low);
  }
  return between;
}

Expectation expectation(const Scenario& scenario, const Seen& seen, bool assumed) {
  const auto of_a_model = [&](const std::string& because) {
    return from_seconds(Evidence::kAssumed, seen.seconds, because);
  };
  const std::string nothing = fmt::format("Nothing was lost in {} of simulation", span(seen.seconds));
  if (const LatencyDistribution* latency = latency_of(scenario)) {
    Expectation known = from_latencies(scenario, *latency);
    if (assumed) {
      known.evidence = Evidence::kAssumed;
      known.interval_s.low = std::min(known.interval_s.low, rule_of_three(seen.seconds));
      known.because += ". These latencies are assumptions, not measurements";
    }
    const Interval count = poisson_interval(seen.losses);
    const double of_that_rate = seen.seconds / known.expected_s;  // losses in the simulated time
    if (of_that_rate >= count.low && of_that_rate <= count.high) return known;
    if (seen.losses == 0) return known;  // fewer than expected, so the smaller frequency is not reliable
  }
  if (seen.losses > 0) return from_losses(scenario, seen);
  if (const auto law = from_law(scenario)) return *law;
  if (scenario.load.recorded) return from_recording(scenario, seen);
  if (assumed) return of_a_model(nothing + " of a host without measured numbers");
  if (below_what_was_measured(scenario)) {
    return within_the_measurement(
        scenario,
        of_a_model(fmt::format("{}, with the waits of a thread at priority {}. Priority {} was not measured", nothing,
                               scenario.host.latency->measured_priority, scenario.context.priority)));
  }
  const Expectation tail = from_tail(scenario, seen);
  return scenario.host.latency ? within_the_measurement(scenario, tail) : tail;
}

std::string span(double seconds) {
  if (seconds >= kWeekS) return "a week or more";
  const auto digits = [](double value) {  // three, rounded down: 179.999999999 is still 180
    const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
    return fmt::format("{:.10g}", std::floor(value / unit * (1 + 1e-12) + 1e-9) * unit);
  };
  if (seconds <= 0) return "0 s";
  if (seconds < 120) return digits(seconds) + " s";
  if (seconds < 120 * 60) return digits(seconds / 60) + " min";
  if (seconds < 48 * 3600) return digits(seconds / 3600) + " h";
  return digits(seconds / 86400) + " days";
}

}  // namespace offhook::advice
