// SPDX-License-Identifier: MIT
#include "src/measure/rehearsal.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "driver/core/card_memory.h"
#include "hostsim/call/connection.h"
#include "offhook/driver.h"

namespace offhook::measure {
namespace {

constexpr std::size_t kMostOctets = 1u << 30;
constexpr double kMostSamples = double{kMostOctets} / sizeof(std::int16_t);

oh_driver_config served_at_once(oh_driver* driver, const hostsim::Scenario& scenario) {
  static constexpr auto kOps = [] {
    oh_context_ops ops{};
    ops.struct_size = sizeof ops;
    ops.start = [](void*) { return 0; };
    ops.stop = [](void*) {};
    ops.request = [](void* self) { oh_driver_service(static_cast<oh_driver*>(self)); };
    return ops;
  }();
  const hostsim::SoftDevice device = hostsim::device_at_work(scenario);
  oh_driver_config config{};
  config.context = {&kOps, driver};
  config.policy = scenario.policy;
  config.transmit_lead_samples = device.lead();
  config.block_plan_length = static_cast<std::uint32_t>(device.block_plan.size());
  std::copy(device.block_plan.begin(), device.block_plan.end(), config.block_plan);
  return config;
}

}  // namespace

Rehearsal::Rehearsal(const hostsim::Scenario& scenario, double seconds, const std::function<bool(double)>& progress) {
  const auto connection = hostsim::make_device_connection(scenario, nullptr);
  const oh_streams streams = connection->streams();
  const std::uint32_t rate_hz = oh_streams_rate_hz(&streams);
  heard_a_period_ = streams.rx.rate_hz / rate_hz;
  sent_a_period_ = streams.tx.rate_hz / rate_hz;
  const double samples = seconds * (streams.rx.rate_hz + streams.tx.rate_hz);
  if (samples > kMostSamples)
    throw std::invalid_argument("a recording of " + std::to_string(seconds) + " s is " +
                                std::to_string(static_cast<std::uint64_t>(samples)) + " samples; expected at most " +
                                std::to_string(static_cast<std::uint64_t>(kMostSamples)));
  const auto periods = static_cast<std::size_t>(seconds * rate_hz);
  heard_.reserve(periods * heard_a_period_);
  sent_.reserve(periods * sent_a_period_);
  struct Tap {
    Rehearsal* kept;
    oh_line_end inner;
  } tap{this, connection->line()};
  const oh_line_end line = {[](void* self, const void* played, void* captured, std::size_t n) {
                              const auto& [kept, inner] = *static_cast<Tap*>(self);
                              inner.exchange(inner.self, played, captured, n);
                              const auto append = [n](auto& to, const void* from, std::size_t a_period) {
                                const auto* s = static_cast<const std::int16_t*>(from);
                                to.insert(to.end(), s, s + n * a_period);
                              };
                              append(kept->heard_, captured, kept->heard_a_period_);
                              append(kept->sent_, played, kept->sent_a_period_);
                            },
                            &tap};
  CardMemory memory(streams);
  oh_card_engine engine{};
  oh_card_engine_init(&engine, &memory.card(), nullptr);
  oh_driver driver{};
  oh_driver_config config = served_at_once(&driver, scenario);
  std::vector<std::uint64_t> staging(oh_driver_staging_size(&memory.card()) / sizeof(std::uint64_t) + 1);
  config.card = memory.card();
  config.staging = staging.data();
  config.pump = connection->near_pump();
  if (oh_driver_init(&driver, &config) != 0) throw std::invalid_argument("invalid block length or transmit lead");
  connection->start(0);
  oh_card_engine_start(&engine, 0);
  while (engine.position < periods) {
    if (oh_card_engine_run(&engine, &line, oh_card_engine_left(&engine), 0) > 0) oh_driver_isr(&driver);
    if (!progress(static_cast<double>(engine.position) / static_cast<double>(periods))) return;
  }
}

void Rehearsal::play(void* self, const void* played, void* captured, std::size_t n) {
  auto& r = *static_cast<Rehearsal*>(self);
  const std::size_t heard = r.heard_a_period_, sent = r.sent_a_period_, end = r.heard_.size() / heard;
  const std::size_t there = std::min(n, end - std::min(end, r.at_));
  auto* out = static_cast<std::int16_t*>(captured);
  std::copy_n(r.heard_.data() + r.at_ * heard, there * heard, out);
  std::fill_n(out + there * heard, (n - there) * heard, std::int16_t{0});
  const auto* in = static_cast<const std::int16_t*>(played);
  for (std::size_t k = 0; k < there; ++k)
    r.sent_otherwise_ +=
        std::memcmp(in + k * sent, r.sent_.data() + (r.at_ + k) * sent, sent * sizeof(std::int16_t)) != 0;
  r.at_ += there;
}

}  // namespace offhook::measure
