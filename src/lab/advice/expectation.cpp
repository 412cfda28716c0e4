// SPDX-License-Identifier: MIT
#include "src/lab/advice/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "src/lab/law/law.h"

namespace offhook::advice {

using hostsim::LatencyDistribution;
using hostsim::Modality;
using hostsim::Scenario;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

constexpr int kHighestBoosted = 15;  ///< priorities 16 to 31 of Windows know no boosts (hostsim/sched/windows_nt.h)

double at_most_a_week(double seconds) {
  return std::min(seconds, kWeekS);
}

Interval between_losses(double seconds, std::uint64_t losses) {
  const Interval count = poisson_interval(losses);
  return {at_most_a_week(seconds / count.high), count.low > 0 ? seconds / count.low : kInfinite};
}

Expectation from_losses(const Seen& seen) {
  return {
      Evidence::kLosses, seen.seconds / static_cast<double>(seen.losses), between_losses(seen.seconds, seen.losses),
      fmt::format("{} of {} blocks lost something in {} of simulation", seen.losses, seen.blocks, span(seen.seconds))};
}

/// Whether nothing takes time but what the law knows of.
bool undisturbed(const Scenario& s) {
  return s.host.latencies.empty() && s.load.devices.empty() && s.load.trace.empty() && s.load.reservations.empty() &&
         s.load.soft_devices.empty();
}

/// Of slots that are where the law has them; a budget that is counted at ticks is not.
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
  if (s.load.timer_callback) host.clock_isr_ms += host.dispatch_ms;  // the DPC that wakes the callback
  const LawResult law = full_law(device, static_cast<double>(s.context.x_ticks) * tick_ms,
                                 static_cast<double>(s.context.y_ticks) * tick_ms,
                                 static_cast<double>(s.device.worst_cost_ns) * 1e-6, host);
  if (!law.sufficient) return std::nullopt;
  return Expectation{Evidence::kLaw,
                     kInfinite,
                     {kWeekS, kInfinite},
                     fmt::format("The reservation law leaves {:.3g} ms in its worst case, from every phase, with every "
                                 "block at its costliest. This assumes that nothing but the clock runs above the slots",
                                 law.margin_ms)};
}

/// No more urgent than the thread that never blocks, a thread waits for its turn besides the host's latencies, of which
/// nobody measured anything.
bool takes_turns(const Scenario& s) {
  return s.load.spinner && s.context.kind == OH_CONTEXT_THREAD && s.context.priority <= s.load.spinner_priority;
}

const LatencyDistribution* latency_of(const Scenario& s) {
  if (!s.host.latency || !s.load.devices.empty() || !s.load.trace.empty()) return nullptr;
  try {
    switch (s.context.kind) {
      case OH_CONTEXT_INTERRUPT:
        return &s.host.latency->to(Modality::kInterrupt, 0);
      case OH_CONTEXT_DPC:
        return &s.host.latency->to(Modality::kDpc, 0);
      case OH_CONTEXT_THREAD:
        if (takes_turns(s)) return nullptr;
        return &s.host.latency->to(Modality::kThread, s.context.priority);
      default:
        return nullptr;
    }
  } catch (const std::invalid_argument&) {  // a host without DPCs
    return nullptr;
  }
}

/// The longest wait after which a block's output is still in time. Blocks that come meanwhile are served with it in one
/// call, where the driver serves all that is owed: the output of n blocks is ready when a part of the work of all n is
/// done.
double longest_wait_ms(const Scenario& s, const DeviceTiming& device) {
  const double output_ms = device.output_fraction * (1 + device.cost_spread) * device.cost_ms;
  double begin_ms = 0;  // of the waits in which n blocks are owed
  for (int n = 1;; ++n) {
    const double end_ms = s.policy == OH_SERVICE_DRAIN_ALL ? n * device.mean_period_ms() : kInfinite;
    const double longest_ms = device.least_slack_ms() - n * output_ms;
    if (longest_ms < end_ms) return n == 1 ? longest_ms : std::max(longest_ms, begin_ms);
    begin_ms = end_ms;
  }
}

Expectation from_latencies(const Scenario& s, const LatencyDistribution& latency) {
  const DeviceTiming device = device_timing(s.device);
  const double period_s = device.mean_period_ms() * 1e-3;
  const double wait_ms = longest_wait_ms(s, device);
  const double longer = wait_ms > 0 ? latency.longer_than(wait_ms) : 1;
  if (longer <= 0) {
    return {
        Evidence::kLatencies,
        kInfinite,
        {kWeekS, kInfinite},
        fmt::format("A block can wait {:.3g} ms, and this host's distribution, which is known down to once in {:.0f} "
                    "waits, ends at {:.3g} ms. This assumes that no wait is ever longer (without that: {}, 95 %)",
                    wait_ms, 1 / latency.rarest(), latency.worst_ms(),
                    span(period_s / latency.rarest() / poisson_interval(0).high)),
        wait_ms - latency.worst_ms()};
  }
  // So many of the waits that were measured were as long: what is known of their frequency.
  const double waits = 1 / latency.rarest();
  const Interval count = poisson_interval(static_cast<std::uint64_t>(std::lround(longer * waits)));
  return {Evidence::kLatencies,
          period_s / longer,
          {at_most_a_week(period_s * waits / count.high), count.low > 0 ? period_s * waits / count.low : kInfinite},
          fmt::format("A block can wait {:.3g} ms, and one latency in {:.0f} of this host is longer. This assumes "
                      "that waits do not depend on one another",
                      wait_ms, 1 / longer)};
}

/// Beside a thread that never blocks, and below 16 as that is: whose turn it is depends on boosts and on what is left
/// of quanta, which come together seldom. Waits of a second follow on waits of microseconds, with nothing between.
bool waits_for_boosts(const Scenario& s) {
  return s.host.scheduler == "windows-nt" && s.load.spinner && s.load.spinner_priority <= kHighestBoosted &&
         s.context.kind == OH_CONTEXT_THREAD && s.context.priority <= kHighestBoosted;
}

Expectation from_tail(const Scenario& s, const Seen& seen) {
  const double wait_ms = device_timing(s.device).least_slack_ms(),
               period_s = device_timing(s.device).mean_period_ms() * 1e-3;
  // A tenth of the blocks at most are tail.
  const std::size_t k =
      std::min(seen.longest_ms.empty() ? 0 : seen.longest_ms.size() - 1, static_cast<std::size_t>(seen.blocks / 10));
  if (waits_for_boosts(s)) {
    return {
        Evidence::kTail, kInfinite, between_losses(seen.seconds, 0),
        fmt::format("Nothing was lost in {} of simulation. How Windows boosts threads below priority 16 can leave this "
                    "one behind the thread that never blocks, more rarely and for longer than a tail shows",
                    span(seen.seconds))};
  }
  if (s.host.latency && takes_turns(s)) {
    return {
        Evidence::kTail, kInfinite, between_losses(seen.seconds, 0),
        fmt::format("Nothing was lost in {} of simulation. The thread takes turns with the one that never blocks: a "
                    "whole turn and a long latency at once are rarer than a tail shows",
                    span(seen.seconds))};
  }
  if (k < 8 || seen.longest_ms[k] <= 0 || wait_ms <= seen.longest_ms[k]) {
    return {Evidence::kTail, kInfinite, between_losses(seen.seconds, 0),
            fmt::format("Nothing was lost in {} of simulation, which is too little to extrapolate from",
                        span(seen.seconds))};
  }
  double sum = 0;
  for (std::size_t i = 0; i < k; ++i) sum += std::log(seen.longest_ms[i] / seen.longest_ms[k]);
  const double n = static_cast<double>(k), alpha = sum > 0 ? n / sum : kInfinite;
  const auto time = [&](double exponent) {
    const double longer = n / static_cast<double>(seen.blocks) * std::pow(wait_ms / seen.longest_ms[k], -exponent);
    return longer > 0 ? period_s / longer : kInfinite;
  };
  const double error = 1.96 / std::sqrt(n);
  const auto within_a_week = [](double seconds) { return seconds < kWeekS ? seconds : kInfinite; };
  return {
      Evidence::kTail,
      within_a_week(time(alpha)),
      {at_most_a_week(time(alpha * (1 - error))), within_a_week(time(alpha * (1 + error)))},
      fmt::format("Nothing was lost in {} of simulation. This assumes that times longer than the {:.3g} ms seen go on "
                  "becoming rarer as the longest {} of {} did, up to the {:.3g} ms that a block can wait",
                  span(seen.seconds), seen.longest_ms.front(), k, seen.blocks, wait_ms)};
}

}  // namespace

std::string_view to_string(Evidence evidence) {
  static constexpr std::array<std::string_view, 4> kNames = {"losses", "law", "latencies", "tail"};
  return kNames.at(static_cast<std::size_t>(evidence));
}

std::string_view in_words(Evidence evidence) {
  static constexpr std::array<std::string_view, 4> kWords = {
      "the losses that were seen, with 95 % confidence", "the reservation law, if what it assumes holds",
      "the latencies measured on this host, if what is assumed of them holds",
      "how the longest times fall, with 95 % confidence"};
  return kWords.at(static_cast<std::size_t>(evidence));
}

Expectation expectation(const Scenario& scenario, const Seen& seen) {
  if (const LatencyDistribution* latency = latency_of(scenario)) {
    Expectation known = from_latencies(scenario, *latency);
    const Interval count = poisson_interval(seen.losses);
    const double of_that_rate = seen.seconds / known.expected_s;  // losses in the time that was simulated
    if (of_that_rate >= count.low && of_that_rate <= count.high) return known;
    if (seen.losses == 0) return known;  // fewer than expected: the rarer of the two is not to be relied on
  }
  if (seen.losses > 0) return from_losses(seen);
  if (const auto law = from_law(scenario)) return *law;
  return from_tail(scenario, seen);
}

std::string span(double seconds) {
  if (seconds >= kWeekS) return "a week or more";
  if (seconds < 1) return fmt::format("{:.2g} s", seconds);
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 36 * 3600) return fmt::format("{:.0f} h", seconds / 3600);
  return fmt::format("{:.1f} days", seconds / 86400);
}

}  // namespace offhook::advice
