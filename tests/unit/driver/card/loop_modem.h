// SPDX-License-Identifier: MIT
//
// A modem on a sound device of loop_device.h, whose samples tell whether one is missing.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "driver/live/live_card.h"
#include "dsp/pump/pump_type.h"
#include "offhook/driver.h"
#include "tests/unit/driver/manual_context.h"

namespace offhook::test {

/// A pump that sends 1, 2, 3 ... and keeps what it hears.
struct CountingPump {
  std::uint64_t clock = 0, filled_in = 0;
  std::vector<std::int16_t> heard;
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) {
    heard.insert(heard.end(), rx, rx + n);
    for (std::size_t i = 0; i < n; ++i) tx[i] = static_cast<std::int16_t>(++clock % 32'000 + 1);
  }
  void report_gap(std::size_t n) {
    clock += n;
    filled_in += n;
  }
  /// @return how many of what was heard from `first` on are each one more than the one before, at most
  std::size_t longest_run(std::size_t first) const {
    std::size_t longest = 0, run = 0;
    for (std::size_t i = first + 1; i < heard.size(); ++i) {
      run = heard[i] > 0 && heard[i] == heard[i - 1] + 1 ? run + 1 : 0;
      longest = std::max(longest, run);
    }
    return longest;
  }
  oh_pump pump() { return pump_of(*this); }
};

/// Card, driver and pump, served by the thread that waits.
template <typename Card>
struct LoopModem {
  explicit LoopModem(const std::string& device) : card(device) {
    oh_driver_config config{};
    config.card = card.card();
    staging.resize(oh_driver_staging_size(&config.card) / sizeof staging[0]);
    config.staging = staging.data();
    config.pump = pump.pump();
    config.context = context.context();
    config.transmit_lead_samples = 2 * card.period();
    config.block_plan[0] = card.period();
    config.block_plan_length = 1;
    config.policy = OH_SERVICE_DRAIN_ALL;
    EXPECT_EQ(oh_driver_init(&driver, &config), 0);
  }
  void run(std::uint64_t samples) {
    card.start();
    while (oh_card_position(&card.state()) < samples) {
      ASSERT_EQ(card.wait(), LiveCard::Wait::kInterrupt) << card.failure();
      oh_driver_isr(&driver);
      oh_driver_service(&driver);
    }
  }
  Card card;
  CountingPump pump;
  ManualContext context;
  oh_driver driver{};
  std::vector<std::uint64_t> staging;
};

}  // namespace offhook::test
