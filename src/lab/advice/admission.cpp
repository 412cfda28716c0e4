// SPDX-License-Identifier: MIT
#include "src/lab/advice/admission.h"

#include <algorithm>
#include <cmath>

#include "hostsim/call/call.h"
#include "hostsim/call/host_policies.h"
#include "src/lab/advice/law.h"

namespace offhook::law {
namespace {

using hostsim::ContextScenario;
using hostsim::Scenario;
using hostsim::SoftDevice;

DeviceShare share_of(const std::string& name, const SoftDevice& device, const ContextScenario& context,
                     const hostsim::HostScenario& host) {
  const DeviceTiming timing = device_timing(device);
  DeviceShare s{.name = name, .context = context.str()};
  s.demand = timing.share() + static_cast<double>(device.isr_mean_ns) * 1e-6 / timing.mean_period_ms();
  if (context.kind != OH_CONTEXT_RESERVATION) return s;
  s.reserved = context.share();
  const double tick_ms = 1e3 / host.tick_hz;
  const double x_ms = context.in_ticks() ? static_cast<double>(context.x_ticks) * tick_ms
                                         : static_cast<double>(context.budget_ns) * 1e-6,
               y_ms = context.in_ticks() ? static_cast<double>(context.y_ticks) * tick_ms
                                         : static_cast<double>(context.period_ns) * 1e-6;
  const LawResult law =
      full_law(timing, x_ms, y_ms, static_cast<double>(device.worst_cost_ns) * 1e-6, host_work(host, device));
  if (!law.overloaded) s.margin_ms = law.margin_ms;
  s.overloaded = law.overloaded;
  return s;
}

void grow_device(SoftDevice& device, double factor) {
  const auto times = [factor](hostsim::Ns ns) { return static_cast<hostsim::Ns>(std::llround(factor * double(ns))); };
  device.cost_ns = times(device.cost_ns);
  device.worst_cost_ns = times(device.worst_cost_ns);
}

}  // namespace

bool Admission::admitted() const {
  return demand <= cpus && reserved <= reserved_most + 1e-9 &&
         std::none_of(devices.begin(), devices.end(),
                      [](const DeviceShare& d) { return d.overloaded || (d.margin_ms && *d.margin_ms < 0); });
}

Admission admission_of(const Scenario& s) {
  Admission a;
  a.cpus = s.host.cpus;
  const auto linux_admission = hostsim::deadline_admission(s.host);
  a.reserved_most = linux_admission ? hostsim::DeadlineAdmission::percent(linux_admission->most()) / 100 : a.cpus;
  a.devices.push_back(share_of(s.device.name, s.device, s.context, s.host));
  for (const hostsim::CompetingDevice& d : s.load.soft_devices)
    a.devices.push_back(share_of(d.name, d.device, d.context, s.host));
  for (const DeviceShare& d : a.devices) {
    a.demand += d.demand;
    a.reserved += d.reserved;
  }
  for (const hostsim::ReservedThread& r : s.load.reservations) a.reserved += static_cast<double>(r.x_ticks) / r.y_ticks;
  return a;
}

std::vector<DeviceOutcome> run_devices(const Scenario& s) {
  const auto call = hostsim::make_device_call(s, nullptr);
  while (call->advance(call->now() + 1'000'000'000)) {
  }
  const hostsim::CallResult r = call->result();
  std::vector<DeviceOutcome> all;
  for (const hostsim::DeviceResult& d : r.devices) {
    all.push_back(
        {.blocks = d.driver.blocks_served,
         .blocks_late = d.driver.blocks_late,
         .samples_lost = std::max(d.driver.samples_late, d.card.underrun_samples) + d.driver.samples_filled_in,
         .first_loss_s = d.first_loss_s,
         .share = d.share});
  }
  return all;
}

Scenario grown(const Scenario& scenario, double growth) {
  Scenario s = scenario;
  grow_device(s.device, growth);
  for (hostsim::CompetingDevice& d : s.load.soft_devices) grow_device(d.device, growth);
  return s;
}

std::vector<Growth> grow(const Scenario& scenario, const GrowthOptions& options) {
  std::vector<Growth> all;
  std::vector<bool> broken(1 + scenario.load.soft_devices.size());
  for (int k = 0;; ++k) {
    const double factor = 1 + k * options.step;
    if (factor > options.most + options.step / 2 || (options.stop && options.stop())) break;
    if (options.progress) options.progress(factor);
    all.push_back({factor, run_devices(grown(scenario, factor))});
    for (std::size_t d = 0; d < broken.size(); ++d)
      if (all.back().devices[d].first_loss_s >= 0) broken[d] = true;
    if (std::all_of(broken.begin(), broken.end(), [](bool b) { return b; })) break;
  }
  return all;
}

std::optional<std::size_t> breaks_first(const std::vector<Growth>& growths) {
  for (const Growth& g : growths) {
    std::optional<std::size_t> first;
    for (std::size_t d = 0; d < g.devices.size(); ++d) {
      const double at = g.devices[d].first_loss_s;
      if (at >= 0 && (!first || at < g.devices[*first].first_loss_s)) first = d;
    }
    if (first) return first;
  }
  return std::nullopt;
}

std::optional<double> breaks_at(const std::vector<Growth>& growths, std::size_t device) {
  for (const Growth& g : growths)
    if (g.devices[device].first_loss_s >= 0) return g.factor;
  return std::nullopt;
}

}  // namespace offhook::law
