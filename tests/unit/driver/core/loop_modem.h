// SPDX-License-Identifier: MIT
//
// A modem on a sound device of loop_device.h, whose samples tell whether one is missing.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "driver/live/card_kind.h"
#include "dsp/pump/pump_type.h"
#include "offhook/driver.h"
#include "tests/unit/driver/manual_context.h"

namespace offhook::test {

/// A pump that sends 1, 2, 3 ... and keeps what it receives.
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
  /// @return the maximum number of successive received values, from `first` on, that increase by one
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

/// A pump of a card with kModemRates that sends a tone and keeps what it hears, at 16,000 samples/s where the card has
/// them.
struct TonePump {
  double hz = 1000;
  std::uint64_t clock = 0, filled_in = 0;
  std::size_t ratio = 1;  ///< samples heard for each that is sent
  std::vector<std::int16_t> heard;
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) {
    heard.insert(heard.end(), rx, rx + n * ratio);
    for (std::size_t i = 0; i < n; ++i, ++clock)
      tx[i] = static_cast<std::int16_t>(8000 * std::sin(2 * std::numbers::pi * hz / 8000 * static_cast<double>(clock)));
  }
  void report_gap(std::size_t n) {
    clock += n;
    filled_in += n;
  }
  /// Amplitude of a tone in one tenth of a second after the other: the median, which a gap does not change.
  double amplitude(double tone_hz) const {
    const double rate_hz = 8000. * static_cast<double>(ratio);
    const std::size_t n = 800 * ratio;
    std::vector<double> found;
    for (std::size_t at = 0; at + n <= heard.size(); at += n) {
      std::complex<double> sum = 0;
      for (std::size_t i = 0; i < n; ++i)
        sum += static_cast<double>(heard[at + i]) *
               std::polar(1., 2 * std::numbers::pi * tone_hz / rate_hz * static_cast<double>(i));
      found.push_back(2 * std::abs(sum) / static_cast<double>(n));
    }
    const auto middle = found.begin() + static_cast<std::ptrdiff_t>(found.size() / 2);
    std::nth_element(found.begin(), middle, found.end());
    return found.empty() ? 0 : *middle;
  }
  oh_pump pump() { return pump_of(*this); }
};

/// Card, driver and pump, served by the thread that waits.
template <typename Card, typename Pump = CountingPump>
struct LoopModem {
  explicit LoopModem(const std::string& device, const SoundConfig& sound = {}) : card(device, sound) {
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
  Pump pump;
  ManualContext context;
  oh_driver driver{};
  std::vector<std::uint64_t> staging;
};

}  // namespace offhook::test
