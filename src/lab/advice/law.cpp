// SPDX-License-Identifier: MIT
#include "src/lab/advice/law.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "traces/scenario/profile.h"

namespace offhook {

namespace {
constexpr std::uint32_t kLongestBacklog = 100'000;
}

double DeviceTiming::mean_period_ms() const {
  const double samples = std::accumulate(block_plan.begin(), block_plan.end(), 0.0);
  return 1000 * samples / static_cast<double>(block_plan.size()) / rate_hz;
}

double DeviceTiming::slack_ms(std::uint32_t samples) const {
  return 1000 * (static_cast<double>(transmit_lead_samples) - static_cast<double>(samples)) / rate_hz;
}

double DeviceTiming::least_slack_ms() const {
  return slack_ms(*std::max_element(block_plan.begin(), block_plan.end()));
}

DeviceTiming device_timing(const hostsim::SoftDevice& device) {
  DeviceTiming timing;
  timing.rate_hz = device.rate_hz;
  timing.block_plan = device.block_plan;
  timing.transmit_lead_samples = device.lead();
  timing.cost_ms = static_cast<double>(device.cost_ns) * 1e-6;
  timing.output_fraction = device.output_fraction;
  timing.cost_spread = device.cost_spread;
  return timing;
}

double HostWork::supplied_ms(double x_ms) const {
  const double clock = tick_ms > 0 ? clock_isr_ms * std::ceil(x_ms / tick_ms - 1e-9) : 0;
  return std::max(0.0, x_ms - clock - dispatch_ms);
}

HostWork host_work(const hostsim::HostScenario& host, const hostsim::SoftDevice& device) {
  HostWork work;
  work.tick_ms = 1000.0 / host.tick_hz;
  work.clock_isr_ms = static_cast<double>(host.clock_isr_ns) * 1e-6;
  work.dispatch_ms = static_cast<double>(host.dispatch_ns + host.switch_ns) * 1e-6;
  work.isr_ms = static_cast<double>(device.isr_mean_ns) * 1e-6;
  return work;
}

DeviceTiming device_timing(const hostsim::Scenario& scenario, hostsim::Phase phase) {
  if (scenario.pump == hostsim::PumpKind::kDevice) return device_timing(scenario.device);
  return device_timing(scenario, config::load_profile(scenario.cost_profile), phase);
}

DeviceTiming device_timing(const hostsim::Scenario& scenario, const hostsim::CostProfile& profile,
                           hostsim::Phase phase) {
  const hostsim::PhaseProfile& of = profile.phases[static_cast<int>(phase)];
  // A scenario's own block plan is that of the connected phase (hostsim/call/call.cpp).
  const bool own = phase == hostsim::Phase::kConnected && !scenario.block_plan.empty();
  DeviceTiming device;
  device.rate_hz = of.rate_hz;
  device.block_plan = own ? scenario.block_plan : of.block_plan;
  device.transmit_lead_samples = scenario.transmit_lead_samples;
  double mean_samples = 0;
  for (const std::uint32_t n : device.block_plan)
    mean_samples += static_cast<double>(n) / static_cast<double>(device.block_plan.size());
  hostsim::Ns cost = of.service_ns;
  if (scenario.event_logging_cost)
    cost += profile.logging.in(static_cast<hostsim::Ns>(mean_samples * 1e9 / device.rate_hz));
  device.cost_ms = static_cast<double>(cost) * 1e-6;
  device.output_fraction = profile.phi;
  device.cost_spread = profile.service_spread;
  return device;
}

double supply_time_ms(double work_ms, double x_ms, double y_ms) {
  assert(0 < x_ms && x_ms <= y_ms && work_ms >= 0);
  if (work_ms == 0) return 0;
  // The last required slot is used for more than nothing and at most x.
  const double slots = std::ceil(work_ms / x_ms);
  return slots * (y_ms - x_ms) + work_ms;
}

double begin_time_ms(double work_ms, double x_ms, double y_ms) {
  assert(0 < x_ms && x_ms <= y_ms && work_ms >= 0);
  return (std::floor(work_ms / x_ms) + 1) * (y_ms - x_ms) + work_ms;
}

bool simple_law(const DeviceTiming& device, double x_ms, double y_ms) {
  return x_ms / y_ms > device.share() && y_ms - x_ms <= device.longest_gap_ms();
}

bool authors_rule(const DeviceTiming& device, double x_ms, double y_ms) {
  return x_ms / y_ms > device.share() && y_ms - x_ms < device.mean_period_ms();
}

LawResult full_law(const DeviceTiming& device, double slot_ms, double y_ms, double first_cost_ms,
                   const HostWork& host) {
  LawResult result;
  result.margin_ms = -std::numeric_limits<double>::infinity();
  const double x_ms = host.supplied_ms(slot_ms), cost_ms = device.cost_ms + host.isr_ms;
  if (x_ms / y_ms <= cost_ms / device.mean_period_ms()) {
    result.overloaded = true;
    return result;
  }
  const std::size_t blocks = device.block_plan.size();
  const double more = std::max(0.0, first_cost_ms - device.cost_ms);
  const double spread_ms = device.cost_spread * device.cost_ms;
  // Uniform costs have a deviation of spread / sqrt(3).
  const auto work = [&](double n) {
    return n * cost_ms + spread_ms * std::min(n, kSpreadDeviations * std::sqrt(n / 3));
  };
  double margin = std::numeric_limits<double>::infinity();
  for (std::size_t start = 0; start < blocks; ++start) {
    double arrival = 0;
    for (std::uint32_t k = 0;; ++k) {
      if (k == kLongestBacklog) {
        result.overloaded = true;
        return result;
      }
      const std::uint32_t samples = device.block_plan[(start + k) % blocks];
      const double owed = work(k + device.output_fraction) + (k > 0 ? more : device.output_fraction * more);
      const double ready =
          device.output_fraction > 0 ? supply_time_ms(owed, x_ms, y_ms) : begin_time_ms(owed, x_ms, y_ms);
      const double left = device.slack_ms(samples) - (ready - arrival);
      if (left < margin) {
        margin = left;
        result.worst_k = k;
      }
      arrival += 1000.0 * device.block_plan[(start + k + 1) % blocks] / device.rate_hz;
      if (supply_time_ms(work(k + 1) + more, x_ms, y_ms) <= arrival) break;  // the backlog has ended
    }
  }
  result.margin_ms = margin;
  result.sufficient = margin >= 0;
  return result;
}

LawResult full_law_of_call(const DeviceTiming& training, const DeviceTiming& connected, double slot_ms, double y_ms,
                           const HostWork& host) {
  const LawResult before = full_law(training, slot_ms, y_ms, 0, host);
  const LawResult after = full_law(connected, slot_ms, y_ms, 0, host);
  return before.overloaded || (!after.overloaded && before.margin_ms < after.margin_ms) ? before : after;
}

double longest_period_ms(const DeviceTiming& device, double x_ms, double first_cost_ms, const HostWork& host) {
  const auto sufficient = [&](double y_ms) { return full_law(device, x_ms, y_ms, first_cost_ms, host).sufficient; };
  if (!sufficient(x_ms)) return 0;  // not even with the whole CPU
  double good = x_ms;
  double bad = x_ms / device.share();
  while (bad - good > 1e-3) {
    const double middle = (good + bad) / 2;
    (sufficient(middle) ? good : bad) = middle;
  }
  return good;
}

std::optional<TickReservation> recommend(const DeviceTiming& device, const RecommendOptions& options) {
  DeviceTiming costlier = device;
  costlier.cost_ms *= 1 + options.reserve;
  costlier.cost_spread = 0;  // the reserve applies to every block
  std::optional<TickReservation> best;
  double best_margin = 0;
  for (int y = 1; y <= kLongestPeriodTicks; y = options.power_of_two ? 2 * y : y + 1) {
    for (int x = 1; x < y; ++x) {
      const TickReservation r{x, y};
      if (best && r.share() > best->share()) break;
      const double x_ms = x * options.tick_ms, y_ms = y * options.tick_ms;
      const LawResult law = full_law(costlier, x_ms, y_ms);
      if (!law.sufficient || law.margin_ms < options.margin_ms) continue;
      if (!full_law(costlier, x_ms, y_ms, options.worst_cost_ms).sufficient) continue;
      if (!best || r.share() < best->share() || law.margin_ms > best_margin) {
        best = r;
        best_margin = law.margin_ms;
      }
      break;  // a larger X in the same period has at least the same share
    }
  }
  return best;
}

}  // namespace offhook
