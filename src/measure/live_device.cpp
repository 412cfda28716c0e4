// SPDX-License-Identifier: MIT
#include "src/measure/live_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "driver/live/timer_card.h"
#include "driver/session/devices.h"
#include "driver/session/live_driver.h"
#include "hostsim/call/pump_call.h"
#include "hostsim/call/radio_call.h"
#include "hostsim/call/subscriber_call.h"
#include "src/measure/real_time.h"
#include "src/measure/rehearsal.h"

namespace offhook::measure {
namespace {

constexpr double kSpareS = 0.5;

/// Decides by the received data, because a rehearsal has no far end.
bool near_in_data(const hostsim::Scenario& scenario, const LiveDevice& r) {
  if (r.radio) return r.radio->received.due > 0;
  if (r.pump) return r.pump->near_in_data;
  return r.dmt && (scenario.role == OH_PUMP_ANSWER ? r.dmt->up : r.dmt->down).bits > 0;
}

/// A card of this machine with the samples of a device.
std::unique_ptr<LiveCard> open_card_for(const std::string& address, const oh_streams& streams) {
  std::unique_ptr<LiveCard> card = open_card(address, {streams.rx.rate_hz, streams.tx.rate_hz});
  const oh_streams& given = card->card().streams;
  if (given.rx.rate_hz != streams.rx.rate_hz || given.tx.rate_hz != streams.tx.rate_hz ||
      given.rx.encoding != streams.rx.encoding || given.tx.encoding != streams.tx.encoding) {
    throw std::invalid_argument(
        fmt::format("--card {}: has {} samples/s received and {} sent; expected {} and {} in the device's encoding",
                    address, given.rx.rate_hz, given.tx.rate_hz, streams.rx.rate_hz, streams.tx.rate_hz));
  }
  return card;
}

/// Blocks and lead of the device, limited by the rings of the card.
LiveDriverConfig driver_config(const hostsim::SoftDevice& device, const LiveCard& card) {
  const oh_streams& streams = card.card().streams;
  const std::uint32_t longest = oh_streams_block_max(&streams);
  LiveDriverConfig config;
  config.block_plan = device.block_plan;
  for (std::uint32_t& block : config.block_plan) block = std::min(block, longest);
  config.transmit_lead_samples = std::min(device.lead(), oh_ring_of(&streams, &streams.tx, nullptr).periods);
  return config;
}

}  // namespace

void take_counts(const LiveDriver& driver, const LiveCard& card, LiveDevice* result) {
  const LiveContext& context = driver.context();
  result->driver = driver.counters();
  result->card = oh_card_counts(&card.state());
  result->dispatch = context.dispatch_latency();
  result->service = context.service_time();
  result->yields = context.yields();
  result->throttles = context.throttles();
  result->demoted = context.demoted();
  result->without = driver.shortcomings();
}

LiveDevice measure_live_device(const hostsim::Scenario& scenario, const LiveDeviceConfig& config,
                               const std::function<bool(double)>& progress) {
  if (scenario.fax.pages > 0)
    throw std::invalid_argument(
        "a fax needs T.30 as well as its modem signals; expected `offhook fax`, which runs live");
  const hostsim::SoftDevice device = hostsim::device_at_work(scenario);
  const auto connection = hostsim::make_device_connection(scenario, nullptr);
  std::optional<Rehearsal> rehearsal;
  // The card reads samples before the first check and after the last one.
  if (config.recorded) rehearsal.emplace(scenario, config.seconds + kSpareS, progress);
  const std::unique_ptr<LiveCard> card =
      config.card.empty()
          ? std::make_unique<TimerCard>(rehearsal ? rehearsal->line() : connection->line(), connection->streams())
          : open_card_for(config.card, connection->streams());
  connection->start(0);
  LiveDevice result;
  result.buffer_samples = device.buffer();
  LiveDriverConfig live = driver_config(device, *card);
  live.context = config.context;
  live.interrupt_priority = config.interrupt_priority;
  live.policy = scenario.policy;
  live.log = config.watch.log;
  LiveDriver driver(*card, connection->near_pump(), live);
  const std::int64_t began = now_ns();
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    result.seconds = static_cast<double>(now_ns() - began) * 1e-9;
    if (config.watch.look) config.watch.look(driver, *card);
  } while (result.seconds < config.seconds && !driver.is_gone() && progress(result.seconds / config.seconds));
  driver.stop();
  if (driver.is_gone()) throw std::runtime_error(card->failure());
  take_counts(driver, *card, &result);
  // This thread owns the pumps now and can read their status.
  connection->exchange_user_data(static_cast<hostsim::Ns>(result.seconds * 1e9));
  result.dmt = connection->dmt_status();
  result.radio = connection->radio_status();
  result.pump = connection->pump_status();
  result.in_data = rehearsal || !config.card.empty() ? near_in_data(scenario, result) : connection->in_data();
  if (rehearsal) result.sent_otherwise = rehearsal->sent_otherwise();
  return result;
}

}  // namespace offhook::measure
