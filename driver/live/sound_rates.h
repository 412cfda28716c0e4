// SPDX-License-Identifier: MIT
//
// The rates of a sound device and of its card. A device whose rate is a whole multiple of the card's passes through a
// low-pass: the number of samples stays exact, so the modem's clock is the device's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "offhook/stream.h"

namespace offhook {

/// A device's rate divided by the card's, such as 6 for a device of 48,000 Hz and a card of 8000.
inline constexpr std::uint32_t kRateRatios[] = {1, 2, 3, 4, 6, 12};
/// The rates that suit a card, for messages: "8000 Hz or 2, 3, 4, 6 or 12 times as many".
std::string suitable_rates(std::uint32_t card_hz);

/// One sample of the lower rate for `ratio` of the higher one. Passes 0.45 of the lower rate within 0.1 dB; what would
/// fold below that is 80 dB down.
class RateDivider {
 public:
  explicit RateDivider(std::uint32_t ratio);
  /// @param fast [n * ratio]  @param[out] slow [n]
  void process(const std::int16_t* fast, std::int16_t* slow, std::size_t n);

 private:
  std::size_t ratio_, at_ = 0;
  std::vector<float> taps_, history_;
};

/// `ratio` samples of the higher rate for each of the lower one, by the same filter: images are 80 dB down.
class RateMultiplier {
 public:
  explicit RateMultiplier(std::uint32_t ratio);
  /// @param slow [n]  @param[out] fast [n * ratio]
  void process(const std::int16_t* slow, std::int16_t* fast, std::size_t n);

 private:
  std::size_t ratio_, at_ = 0;
  std::vector<float> taps_, history_;
};

/// Both directions of a card on a device.
class SoundRates {
 public:
  SoundRates() = default;
  /// @pre the device's rates are multiples of the card's by kRateRatios
  SoundRates(const oh_streams& card, std::uint32_t captured_hz, std::uint32_t played_hz);
  /// Frames of the device in a sample period of the card.
  std::uint32_t captured_frames() const { return captured_frames_; }
  std::uint32_t played_frames() const { return played_frames_; }
  /// Sample periods by which both filters together delay, at the least: an impulse has its peak kBefore later, and is
  /// 50 dB down before.
  std::uint32_t delay() const { return delay_ > kBefore ? delay_ - kBefore : 0; }
  static constexpr std::uint32_t kBefore = 24;
  /// @param device [n * captured_frames()]  @param[out] card [n periods]
  void captured(const std::int16_t* device, std::int16_t* card, std::size_t n);
  /// @param card [n periods]  @param[out] device [n * played_frames()]
  void played(const std::int16_t* card, std::int16_t* device, std::size_t n);

 private:
  std::uint32_t captured_frames_ = 1, played_frames_ = 1;
  std::uint32_t delay_ = 0;                      // to the peak
  std::size_t rx_samples_ = 1, tx_samples_ = 1;  // of the card in a period
  RateDivider divider_{1};
  RateMultiplier multiplier_{1};
};

}  // namespace offhook
