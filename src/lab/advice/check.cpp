// SPDX-License-Identifier: MIT
#include "src/lab/advice/check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <numeric>

#include "hostsim/call/call.h"
#include "hostsim/engine/random.h"
#include "src/lab/sweep/parallel.h"
#include "traces/scenario/scenario.h"

namespace offhook::law {

using hostsim::Scenario;
using hostsim::SoftDevice;

namespace {

constexpr std::uint64_t kStream = 0x6c61770000;
constexpr int kRandomPhases = 4;
constexpr int kMostTicks = 4096;
constexpr double kBlocks = 600;         // minimum length of a run; backlogs of a granted reservation are shorter
constexpr double kMostBlocks = 20'000;  // for shares that are only slightly too small

double uniform(const hostsim::Random& random, std::uint64_t& at, double low, double high) {
  return low + (high - low) * random.uniform(at++);
}

std::size_t one_of(const hostsim::Random& random, std::uint64_t& at, std::size_t n) {
  return std::min(n - 1, static_cast<std::size_t>(uniform(random, at, 0, static_cast<double>(n))));
}

CheckedDevice draw(std::uint64_t seed, std::uint64_t index) {
  const hostsim::Random random(seed, kStream + index);
  std::uint64_t at = 0;
  CheckedDevice out;
  out.index = index;
  SoftDevice& d = out.device;
  d.name = "random";
  d.rate_hz = static_cast<std::uint32_t>(std::exp(uniform(random, at, std::log(4e3), std::log(2e6))));
  d.block_plan.clear();
  const double period_ms = std::exp(uniform(random, at, std::log(1.0), std::log(25.0)));
  for (std::size_t i = 0, n = 1 + one_of(random, at, 3); i < n; ++i) {
    const double samples = uniform(random, at, 0.6, 1.4) * period_ms * 1e-3 * d.rate_hz;
    d.block_plan.push_back(std::max<std::uint32_t>(1, static_cast<std::uint32_t>(samples)));
  }
  d.buffers = 2 + static_cast<std::uint32_t>(one_of(random, at, 4));
  d.transmit_lead_samples =
      static_cast<std::uint32_t>(uniform(random, at, d.longest_block() + 1.0, d.buffers * d.longest_block() + 1.0));
  const double mean_ms = device_timing(d).mean_period_ms();
  d.cost_ns = std::max<hostsim::Ns>(1000, static_cast<hostsim::Ns>(uniform(random, at, 0.03, 0.8) * mean_ms * 1e6));
  const std::array<double, 3> phis = {0, uniform(random, at, 0, 1), 1};
  d.output_fraction = phis.at(one_of(random, at, 8) < 2 ? one_of(random, at, 2) * 2 : 1);
  d.isr_mean_ns = d.isr_max_ns = 0;
  constexpr std::array kTicks = {250, 1000, 1024, 4096, 10'000};
  out.tick_hz = kTicks.at(one_of(random, at, kTicks.size()));
  const double longest_x = std::max(1.0, 2 * mean_ms * out.tick_hz / 1000);
  out.x_ticks = 1 + static_cast<int>(one_of(random, at, static_cast<std::size_t>(longest_x)));
  return out;
}

Scenario scenario_of(const CheckedDevice& c, int y_ticks, double blocks) {
  Scenario s = config::ScenarioBuilder().finish();
  s.name = "check";
  s.pump = hostsim::PumpKind::kDevice;
  s.device = c.device;
  s.device_s = blocks * device_timing(c.device).mean_period_ms() * 1e-3;
  s.stop_at_loss = true;
  s.host.tick_hz = c.tick_hz;
  s.host.clock_isr_ns = s.host.dispatch_ns = 0;
  s.host.clock_ppm = s.host.clock_ppm_spread = 0;
  s.context = ContextSpec::parse("RES 1/1 strict");
  s.context.x_ticks = c.x_ticks;
  s.context.y_ticks = y_ticks;
  return s;
}

/// Whether nothing is lost. @param phase of the first slot, as a share of Y
bool loses_nothing(Scenario s, double phase) {
  s.context.slot_phase = phase;
  const auto call = hostsim::make_device_call(s, hostsim::no_samples(s.device), nullptr);
  while (call->advance(call->now() + 1'000'000'000)) {
  }
  return call->result().completed;
}

/// Arrival of the first blocks, ns. It does not depend on the slots.
std::vector<std::uint64_t> arrivals(const CheckedDevice& c, std::size_t n) {
  std::vector<oh_event> ring(1 << 12), events(ring.size());
  oh_event_log log{};
  oh_event_log_init(&log, ring.data(), ring.size(), 0);
  Scenario s = scenario_of(c, c.x_ticks, static_cast<double>(n) + 1);
  s.stop_at_loss = false;
  const auto call = hostsim::make_device_call(s, hostsim::no_samples(s.device), &log);
  std::vector<std::uint64_t> out;
  for (bool more = true; more && out.size() < n;) {
    more = call->advance(call->now() + 1'000'000);
    const std::size_t read = oh_event_log_read(&log, events.data(), events.size());
    for (std::size_t i = 0; i < read; ++i) {
      if (events[i].kind == OH_EV_INTERRUPT) out.push_back(events[i].time_ns);
    }
  }
  out.resize(std::min(out.size(), n));
  return out;
}

/// From a slot that ends when one of the first blocks arrives, each of the plan twice; and random phases.
bool loses_nothing(const CheckedDevice& c, std::uint64_t seed, int y_ticks, double blocks) {
  const double tick_ns = 1e9 / c.tick_hz, y_ns = y_ticks * tick_ns;
  constexpr double kBefore = 3;  // ns, so that the slot has ended in spite of rounding
  const Scenario s = scenario_of(c, y_ticks, blocks);
  for (const std::uint64_t at : arrivals(c, 1 + 2 * c.device.block_plan.size())) {
    const double begin_ns = static_cast<double>(at) - kBefore - c.x_ticks * tick_ns;
    if (!loses_nothing(s, begin_ns / y_ns - std::floor(begin_ns / y_ns))) return false;
  }
  const hostsim::Random random(seed, kStream + c.index);
  for (std::uint64_t i = 0; i < kRandomPhases; ++i) {
    if (!loses_nothing(s, random.uniform((1 << 20) + i))) return false;
  }
  return true;
}

constexpr double kRoundingMs = 1e-4;

}  // namespace

std::string_view to_string(Agreement agreement) {
  static constexpr std::array<std::string_view, 5> kNames = {"equal", "within a rounding", "overload too small to show",
                                                             "lost although granted", "nothing lost beyond"};
  return kNames.at(static_cast<std::size_t>(agreement));
}

bool explained(Agreement agreement) {
  return agreement != Agreement::kStarved && agreement != Agreement::kUnharmed;
}

CheckedDevice check_device(std::uint64_t seed, std::uint64_t index) {
  CheckedDevice c = draw(seed, index);
  DeviceTiming device = device_timing(c.device);
  ++device.transmit_lead_samples;  // of the card, see the header
  const double tick_ms = 1000.0 / c.tick_hz;
  const auto law = [&](int y) { return full_law(device, c.x_ticks * tick_ms, y * tick_ms); };
  int y = c.x_ticks;
  while (y < kMostTicks && law(y).sufficient) ++y;
  c.y_ticks = y == c.x_ticks ? 0 : y - 1;
  const LawResult beyond = law(y);
  c.beyond_ms = beyond.margin_ms;
  if (c.y_ticks > 0) {
    c.margin_ms = law(c.y_ticks).margin_ms;
    if (!loses_nothing(c, seed, c.y_ticks, kBlocks)) {
      c.agreement = c.margin_ms < kRoundingMs ? Agreement::kRounding : Agreement::kStarved;
      return c;
    }
  }
  if (beyond.sufficient) return c;  // any period up to the largest number of ticks
  if (!loses_nothing(c, seed, y, kBlocks)) return c;
  if (!beyond.overloaded) {
    c.agreement = -beyond.margin_ms < kRoundingMs ? Agreement::kRounding : Agreement::kUnharmed;
    return c;
  }
  if (loses_nothing(c, seed, y, kMostBlocks)) {
    // The growth of the owed work during the run, relative to the lead that hides it.
    const double deficit = device.share() - static_cast<double>(c.x_ticks) / y;
    const double owed_ms = deficit * kMostBlocks * device.mean_period_ms();
    c.agreement = owed_ms < 1000.0 * c.device.lead() / c.device.rate_hz ? Agreement::kSlow : Agreement::kUnharmed;
  }
  return c;
}

std::vector<CheckedDevice> check_devices(const CheckOptions& options) {
  std::vector<CheckedDevice> out(options.devices);
  std::mutex mutex;
  std::size_t done = 0;
  sweep::parallel(
      out.size(), options.threads,
      [&](std::size_t i) {
        out[i] = check_device(options.seed, i);
        const std::lock_guard lock(mutex);
        ++done;
        if (options.progress) options.progress(done);
      },
      options.stop);
  if (options.stop()) out.clear();
  return out;
}

}  // namespace offhook::law
