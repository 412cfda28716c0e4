// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <vector>

#include "offhook/driver.h"
#include "tests/unit/driver/fake_card.h"

namespace offhook::test {

/// A driver between a fake card and an echo pump, with a log whose clock is the card's position.
struct Rig {
  FakeCard card;
  EchoPump pump;
  ManualContext context;
  std::vector<oh_event> slots = std::vector<oh_event>(1 << 14);
  oh_event_log log{};
  std::unique_ptr<oh_driver> driver = std::make_unique<oh_driver>();

  oh_driver_config config(std::initializer_list<std::uint32_t> plan, std::uint32_t lead, oh_service_policy policy) {
    oh_driver_config c{};
    c.card = card.card();
    c.staging = card.staging_memory();
    c.pump = pump.pump();
    c.context = context.context();
    c.now_ns = [](void* clock) { return static_cast<FakeCard*>(clock)->position; };
    c.clock = &card;
    c.log = &log;
    c.id = 7;
    c.policy = policy;
    c.transmit_lead_samples = lead;
    std::copy(plan.begin(), plan.end(), c.block_plan);
    c.block_plan_length = static_cast<std::uint32_t>(plan.size());
    return c;
  }

  Rig(std::initializer_list<std::uint32_t> plan, std::uint32_t lead, oh_service_policy policy = OH_SERVICE_DRAIN_ALL) {
    oh_event_log_init(&log, slots.data(), slots.size(), 0);
    const oh_driver_config c = config(plan, lead, policy);
    EXPECT_EQ(oh_driver_init(driver.get(), &c), 0);
  }

  /// To the end of the current block, and its interrupt.
  void interrupt() {
    ASSERT_TRUE(card.advance(card.to_boundary()));
    oh_driver_isr(driver.get());
  }
  std::uint32_t serve() { return oh_driver_service(driver.get()); }

  std::vector<oh_event> events() {
    std::vector<oh_event> out(slots.size());
    out.resize(oh_event_log_read(&log, out.data(), out.size()));
    return out;
  }
};

}  // namespace offhook::test
