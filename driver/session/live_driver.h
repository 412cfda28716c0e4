// SPDX-License-Identifier: MIT
//
// A driver that runs on a live card: the card's interrupt thread, the driver, and the context that serves a pump.
//
//   interrupt thread   waits for the card, runs the driver's isr
//   context            runs its service, and the pump in it
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "driver/context/live_context.h"
#include "driver/live/live_card.h"
#include "offhook/driver.h"

namespace offhook {

struct LiveDriverConfig {
  LiveContextConfig context;
  int interrupt_priority = 80;  ///< SCHED_FIFO priority of the thread that acts as the interrupt; 0: a normal thread
  /// If the card has a period, blocks have that length, and two of them are queued ahead.
  std::vector<std::uint32_t> block_plan = {105, 105, 90};
  std::uint32_t transmit_lead_samples = 204;
  std::uint32_t device_delay_samples = 0;  ///< in devices behind the card, not counted by it, both directions together
  oh_service_policy policy = OH_SERVICE_DRAIN_ALL;
  oh_event_log* log = nullptr;  ///< the owner drains it; may be null
};

/// Sets a live card's driver up, with plan and lead of the card if it has a period.
/// @param[in,out] config  receives plan and lead  @param[out] driver, staging  outlive the card's samples
/// @throws std::runtime_error if the blocks are not possible
void init_driver(LiveCard& card, const oh_pump& pump, const oh_context& context, LiveDriverConfig* config,
                 oh_driver* driver, std::vector<std::uint64_t>* staging);
/// A copy; the driver's threads continue to count.
oh_driver_counters counters_of(const oh_driver& driver);

class LiveDriver {
 public:
  /// Starts the card. @param card, pump  outlive the driver  @throws std::runtime_error: privileges, device, blocks
  LiveDriver(LiveCard& card, const oh_pump& pump, const LiveDriverConfig& config);
  ~LiveDriver() { stop(); }
  LiveDriver(const LiveDriver&) = delete;
  LiveDriver& operator=(const LiveDriver&) = delete;

  /// Stops the samples and ends the running service; then only the owner uses the pump.
  void stop();
  std::uint32_t transmit_lead_samples() const { return config_.transmit_lead_samples; }
  std::uint32_t device_delay_samples() const { return config_.device_delay_samples; }
  /// Whether the card vanished or failed.
  bool is_gone() const { return gone_.load(std::memory_order_acquire); }
  const LiveContext& context() const { return context_; }
  oh_driver_counters counters() const { return counters_of(driver_); }
  std::vector<std::string> shortcomings() const;

 private:
  void interrupts();

  LiveCard& card_;
  LiveDriverConfig config_;
  oh_driver driver_{};
  std::vector<std::uint64_t> staging_;  // the driver's
  LiveContext context_;
  std::atomic<bool> gone_{false};
  std::string interrupt_shortcoming_;
  WatchRule interrupt_rule_;
  std::thread interrupt_thread_;
};

}  // namespace offhook
