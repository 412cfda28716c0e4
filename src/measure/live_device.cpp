// SPDX-License-Identifier: MIT
#include "src/measure/live_device.h"

#include <chrono>
#include <thread>

#include "driver/live/timer_card.h"
#include "driver/session/live_driver.h"
#include "hostsim/call/radio_call.h"
#include "hostsim/call/subscriber_call.h"
#include "src/measure/real_time.h"
#include "src/measure/rehearsal.h"

namespace offhook::measure {
namespace {

constexpr double kSpareS = 0.5;

/// What it received says so: the far end of a rehearsal is not there to be asked.
bool near_in_data(const hostsim::Scenario& scenario, const LiveDevice& r) {
  if (r.radio) return r.radio->received.due > 0;
  return r.dmt && (scenario.role == OH_PUMP_ANSWER ? r.dmt->up : r.dmt->down).bits > 0;
}

}  // namespace

LiveDevice measure_live_device(const hostsim::Scenario& scenario, const LiveDeviceConfig& config,
                               const std::function<bool(double)>& progress) {
  const hostsim::SoftDevice device = hostsim::device_at_work(scenario);
  const auto connection = hostsim::make_device_connection(scenario, nullptr);
  std::optional<Rehearsal> rehearsal;
  // The card takes samples before the first look and after the last.
  if (config.recorded) rehearsal.emplace(scenario, config.seconds + kSpareS, progress);
  TimerCard card(rehearsal ? rehearsal->line() : connection->line(), connection->streams());
  connection->start(0);
  LiveDevice result;
  result.buffer_samples = device.buffer();
  LiveDriver driver(card, connection->near_pump(),
                    {.context = config.context,
                     .interrupt_priority = config.interrupt_priority,
                     .block_plan = device.block_plan,
                     .transmit_lead_samples = device.lead(),
                     .policy = scenario.policy});
  const std::int64_t began = now_ns();
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    result.seconds = static_cast<double>(now_ns() - began) * 1e-9;
  } while (result.seconds < config.seconds && progress(result.seconds / config.seconds));
  driver.stop();
  result.driver = driver.counters();
  result.card = oh_card_counts(&card.state());
  result.dispatch = driver.context().dispatch_latency();
  result.service = driver.context().service_time();
  result.yields = driver.context().yields();
  result.throttles = driver.context().throttles();
  result.without = driver.shortcomings();
  // The pumps are ours now, and can be asked.
  connection->exchange_user_data(static_cast<hostsim::Ns>(result.seconds * 1e9));
  result.dmt = connection->dmt_status();
  result.radio = connection->radio_status();
  result.in_data = rehearsal ? near_in_data(scenario, result) : connection->in_data();
  if (rehearsal) result.sent_otherwise = rehearsal->sent_otherwise();
  return result;
}

}  // namespace offhook::measure
