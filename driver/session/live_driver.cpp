// SPDX-License-Identifier: MIT
#include "driver/session/live_driver.h"

#include <algorithm>
#include <stdexcept>

namespace offhook {

LiveDriver::LiveDriver(LiveCard& card, const oh_pump& pump, const LiveDriverConfig& config)
    : card_(card), config_(config), context_(config.context, [this] { return oh_driver_service(&driver_); }) {
  if (const std::uint32_t period = card_.period(); period > 0) {
    config_.block_plan = {period};
    config_.transmit_lead_samples = 2 * period;
  }
  card_.log_to(config_.log, 0);
  oh_driver_config driver{};
  driver.card = card_.card();
  staging_.resize(oh_driver_staging_size(&driver.card) / sizeof staging_[0]);
  driver.staging = staging_.data();
  driver.pump = pump;
  driver.context = context_.driver_context();
  driver.now_ns = [](void*) { return static_cast<std::uint64_t>(monotonic_ns()); };
  driver.log = config_.log;
  driver.policy = config_.policy;
  driver.transmit_lead_samples = config_.transmit_lead_samples;
  if (config_.block_plan.empty() || config_.block_plan.size() > OH_BLOCK_PLAN_MAX)
    throw std::runtime_error("a block plan has 1 to " + std::to_string(OH_BLOCK_PLAN_MAX) + " blocks");
  std::copy(config_.block_plan.begin(), config_.block_plan.end(), driver.block_plan);
  driver.block_plan_length = static_cast<std::uint32_t>(config_.block_plan.size());
  if (oh_driver_init(&driver_, &driver) != 0) {
    const oh_streams& streams = card_.card().streams;
    throw std::runtime_error("the driver refused its configuration: expected blocks of at most " +
                             std::to_string(oh_streams_block_max(&streams)) +
                             " samples, and a transmit lead of at least the longest of them and at most " +
                             std::to_string(oh_ring_of(&streams, &streams.tx, nullptr).periods));
  }
  context_.start();
  card_.start();
  std::atomic<bool> up{false};
  interrupt_thread_ = std::thread([this, &up] {
    if (config_.context.cpu) interrupt_shortcoming_ = keep_to_cpu(*config_.context.cpu);
    if (config_.interrupt_priority > 0 && interrupt_shortcoming_.empty())
      interrupt_shortcoming_ = become_fifo(config_.interrupt_priority, &interrupt_rule_);
    up.store(true);
    interrupts();
  });
  while (!up.load()) std::this_thread::yield();
  if (!interrupt_shortcoming_.empty() && !config_.context.best_effort) {
    stop();
    throw std::runtime_error("the interrupt thread: " + interrupt_shortcoming_ + "; or go on without by --best-effort");
  }
}

void LiveDriver::stop() {
  card_.stop();
  if (interrupt_thread_.joinable()) interrupt_thread_.join();
  context_.stop();
}

void LiveDriver::interrupts() {
  for (;;) {
    switch (card_.wait()) {
      case LiveCard::Wait::kInterrupt:
        oh_driver_isr(&driver_);
        break;
      case LiveCard::Wait::kGone:
        gone_.store(true, std::memory_order_release);
        return;
      case LiveCard::Wait::kStopped:
        return;
    }
  }
}

// The driver's threads go on counting.
oh_driver_counters LiveDriver::counters() const {
  const oh_driver_counters& c = driver_.counters;
  const auto now = [](const auto& field) { return __atomic_load_n(&field, __ATOMIC_RELAXED); };
  oh_driver_counters copy{};
  copy.interrupts = now(c.interrupts);
  copy.blocks_served = now(c.blocks_served);
  copy.blocks_late = now(c.blocks_late);
  copy.samples_served = now(c.samples_served);
  copy.samples_late = now(c.samples_late);
  copy.samples_filled_in = now(c.samples_filled_in);
  copy.pending_last = now(c.pending_last);
  copy.pending_max = now(c.pending_max);
  return copy;
}

std::vector<std::string> LiveDriver::shortcomings() const {
  std::vector<std::string> all = context_.shortcomings();
  if (!interrupt_shortcoming_.empty()) all.push_back("the interrupt thread: " + interrupt_shortcoming_);
  if (interrupt_rule_.demoted.load()) all.push_back("the interrupt thread: the watchdog made a normal thread of it");
  return all;
}

}  // namespace offhook
