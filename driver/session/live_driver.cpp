// SPDX-License-Identifier: MIT
#include "driver/session/live_driver.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "driver/base/thread.h"

namespace offhook {

void init_driver(LiveCard& card, const oh_pump& pump, const oh_context& context, LiveDriverConfig* config,
                 oh_driver* driver, std::vector<std::uint64_t>* staging) {
  if (const std::uint32_t period = card.period(); period > 0) {
    config->block_plan = {period};
    config->transmit_lead_samples = 2 * period;
  }
  card.log_to(config->log, 0);
  oh_driver_config c{};
  c.card = card.card();
  staging->resize(oh_driver_staging_size(&c.card) / sizeof staging->front());
  c.staging = staging->data();
  c.pump = pump;
  c.context = context;
  c.now_ns = [](void*) { return static_cast<std::uint64_t>(monotonic_ns()); };
  c.log = config->log;
  c.policy = config->policy;
  c.transmit_lead_samples = config->transmit_lead_samples;
  if (config->block_plan.empty() || config->block_plan.size() > OH_BLOCK_PLAN_MAX)
    throw std::runtime_error("a block plan has 1 to " + std::to_string(OH_BLOCK_PLAN_MAX) + " blocks");
  std::copy(config->block_plan.begin(), config->block_plan.end(), c.block_plan);
  c.block_plan_length = static_cast<std::uint32_t>(config->block_plan.size());
  if (oh_driver_init(driver, &c) != 0) {
    const oh_streams& streams = card.card().streams;
    throw std::runtime_error("the driver refused its configuration: expected blocks of at most " +
                             std::to_string(oh_streams_block_max(&streams)) +
                             " samples, and a transmit lead of at least the longest of them and at most " +
                             std::to_string(oh_ring_of(&streams, &streams.tx, nullptr).periods));
  }
}

LiveDriver::LiveDriver(LiveCard& card, const oh_pump& pump, const LiveDriverConfig& config)
    : card_(card), config_(config), context_(config.context, [this] { return oh_driver_service(&driver_); }) {
  init_driver(card_, pump, context_.driver_context(), &config_, &driver_, &staging_);
  context_.start();
  card_.start();
  std::atomic<bool> up{false};
  interrupt_thread_ = start_thread([this, &up] {
    if (config_.context.cpu) interrupt_shortcoming_ = keep_to_cpu(*config_.context.cpu);
    if (config_.interrupt_priority > 0 && interrupt_shortcoming_.empty())
      interrupt_shortcoming_ = become_fifo(config_.interrupt_priority, &interrupt_rule_);
    up.store(true);
    interrupts();
  });
  // On one CPU, a caller of a higher priority would never yield to it.
  while (!up.load()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  if (!interrupt_shortcoming_.empty() && !config_.context.best_effort) {
    stop();
    throw std::runtime_error("the interrupt thread: " + interrupt_shortcoming_ +
                             "; or continue without it by --best-effort");
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
        report_to_watchdog();
        break;
      case LiveCard::Wait::kGone:
        gone_.store(true, std::memory_order_release);
        return;
      case LiveCard::Wait::kStopped:
        return;
    }
  }
}

oh_driver_counters counters_of(const oh_driver& driver) {
  const oh_driver_counters& c = driver.counters;
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
  if (interrupt_rule_.demoted.load())
    all.push_back("the interrupt thread: the watchdog demoted the thread to normal priority");
  return all;
}

}  // namespace offhook
