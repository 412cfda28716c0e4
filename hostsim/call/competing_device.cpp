// SPDX-License-Identifier: MIT
#include "hostsim/call/competing_device.h"

#include <algorithm>
#include <stdexcept>

#include "hostsim/engine/random.h"

namespace offhook::hostsim {
namespace {

// Random streams, four of each device, above those of a call.
constexpr std::uint64_t kBesideStream = 0x62657300;
enum CompetingStream : std::uint64_t { kIsr, kCost, kStart, kStreams };

Random random_of(const Scenario& s, std::size_t i, CompetingStream stream) {
  return Random(s.seed, kBesideStream + i * kStreams + stream);
}

}  // namespace

DeviceOnHost::DeviceOnHost(const Scenario& s, std::size_t i, Engine& engine, Cpu& cpu, HostPolicies& policies,
                           int level)
    : what_(s.load.soft_devices.at(i)),
      engine_(engine),
      cpu_(cpu),
      work_(no_samples(what_.device)),
      profile_(what_.device.profile()),
      cost_(profile_, false, random_of(s, i, kIsr), random_of(s, i, kCost)),
      card_({.streams = work_.streams, .clock_ppm = s.host.clock_ppm, .block = what_.device.block_plan.at(0)},
            oh_line_end{}),
      card_event_(engine, card_),
      start_(card_event_) {
  const ContextScenario& where = what_.context;
  if (const std::string why = refusal(s.host, where); !why.empty())
    throw std::invalid_argument(what_.name + ": " + why);
  ContextParts parts = policies.place(where, cpu, driver_, cost_, level);
  parts.policy = [&policies, i](const ContextSpec&) { return policies.beside(i); };
  context_ = make_context(parts);
  cost_.enter(Phase::kConnected);
  card_.set_rate(0, what_.device.rate_hz);
  oh_driver_config config{};
  config.card = card_.card();
  config.context = context_->driver_context();
  config.now_ns = [](void* e) { return static_cast<std::uint64_t>(static_cast<Engine*>(e)->now()); };
  config.clock = &engine;
  config.policy = s.policy;
  config.transmit_lead_samples = what_.device.lead();
  std::copy(what_.device.block_plan.begin(), what_.device.block_plan.end(), config.block_plan);
  config.block_plan_length = static_cast<std::uint32_t>(what_.device.block_plan.size());
  if (oh_driver_init(&driver_, &config) != 0)
    throw std::invalid_argument(what_.name + ": the driver refused its configuration");
  card_.on_interrupt([this](Ns now) {
    if (first_loss_ < 0 && samples_lost(driver_, card_)) first_loss_ = now;
    context_->interrupt(card_.next_interrupt());
  });
  const oh_context table = context_->driver_context();
  (void)table.ops->start(table.self);
  // Like the card of the call, it starts at a random phase of the host's clock.
  started_ = static_cast<Ns>(20e6 * random_of(s, i, kStart).uniform(0));
  engine.at(started_, start_);
}

DeviceResult DeviceOnHost::result() const {
  DeviceResult r{.name = what_.name, .context = what_.context.str()};
  r.driver = driver_.counters;
  r.card = card_.counters();
  if (first_loss_ >= 0) r.first_loss_s = static_cast<double>(first_loss_) * 1e-9;
  if (const Ns ran = engine_.now() - started_; ran > 0)
    r.share = static_cast<double>(cpu_.cpu_time(context_->server())) / static_cast<double>(ran);
  return r;
}

}  // namespace offhook::hostsim
