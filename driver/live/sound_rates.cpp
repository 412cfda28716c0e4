// SPDX-License-Identifier: MIT
#include "driver/live/sound_rates.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "dsp/blocks/kernels.h"
#include "dsp/blocks/sincos.h"
#include "dsp/blocks/window.h"

namespace offhook {

namespace {

// Periods of the lower rate that the filter spans. With Kaiser's window of shape 8 (80 dB) its transition takes
// 5.1 / kSpan of the lower rate: from 0.46 to 0.54.
constexpr int kSpan = 64;
constexpr double kShape = 8;

/// A low-pass at half of the lower rate, of `ratio * kSpan` taps at the higher one, with gain 1 at 0 Hz.
std::vector<double> low_pass(std::size_t ratio) {
  const std::size_t n = ratio * kSpan;
  std::vector<double> taps(n);
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double t = static_cast<double>(k) - (static_cast<double>(n) - 1) / 2;  // never 0: n is even
    const double turn = t / static_cast<double>(ratio);
    taps[k] = sincos_turns(turn / 2).sin / (turn * kPi) * kaiser(2 * t / static_cast<double>(n), kShape);
    sum += taps[k];
  }
  for (double& tap : taps) tap /= sum;
  return taps;
}

std::int16_t sample(float x) {
  return static_cast<std::int16_t>(std::lrint(std::clamp(x, -32768.F, 32767.F)));
}

/// The next sample of a history that is kept twice, so that the last `n` lie in one piece, from the result on.
const float* remember(std::vector<float>& history, std::size_t& at, float x) {
  const std::size_t n = history.size() / 2;
  history[at] = history[at + n] = x;
  at = at + 1 == n ? 0 : at + 1;
  return history.data() + at;
}

}  // namespace

std::string suitable_rates(std::uint32_t card_hz) {
  std::string text = std::to_string(card_hz) + " Hz or ";
  for (const std::uint32_t& ratio : kRateRatios) {
    if (ratio == 1) continue;
    text += std::to_string(ratio) + (&ratio == std::end(kRateRatios) - 1   ? " times as many"
                                     : &ratio == std::end(kRateRatios) - 2 ? " or "
                                                                           : ", ");
  }
  return text;
}

RateDivider::RateDivider(std::uint32_t ratio) : ratio_(ratio), history_(2 * kSpan * ratio_) {
  for (const double tap : low_pass(ratio)) taps_.push_back(static_cast<float>(tap));
}

void RateDivider::process(const std::int16_t* fast, std::int16_t* slow, std::size_t n) {
  const Kernels& kernels = best_kernels();
  for (std::size_t i = 0; i < n; ++i) {
    const float* last = history_.data();
    for (std::size_t k = 0; k < ratio_; ++k) last = remember(history_, at_, *fast++);
    slow[i] = sample(kernels.dot(taps_.data(), last, static_cast<int>(taps_.size())));
  }
}

RateMultiplier::RateMultiplier(std::uint32_t ratio) : ratio_(ratio), taps_(kSpan * ratio_), history_(2 * kSpan) {
  // Phase after phase, each from the oldest sample on.
  const std::vector<double> taps = low_pass(ratio);
  for (std::size_t phase = 0; phase < ratio_; ++phase) {
    for (std::size_t k = 0; k < kSpan; ++k)
      taps_[phase * kSpan + k] =
          static_cast<float>(taps[(kSpan - 1 - k) * ratio_ + phase] * static_cast<double>(ratio_));
  }
}

void RateMultiplier::process(const std::int16_t* slow, std::int16_t* fast, std::size_t n) {
  const Kernels& kernels = best_kernels();
  for (std::size_t i = 0; i < n; ++i) {
    const float* last = remember(history_, at_, slow[i]);
    for (std::size_t phase = 0; phase < ratio_; ++phase)
      *fast++ = sample(kernels.dot(taps_.data() + phase * kSpan, last, kSpan));
  }
}

SoundRates::SoundRates(const oh_streams& card, std::uint32_t captured_hz, std::uint32_t played_hz)
    : captured_frames_(captured_hz / oh_streams_rate_hz(&card)),
      played_frames_(played_hz / oh_streams_rate_hz(&card)),
      rx_samples_(card.rx.rate_hz / oh_streams_rate_hz(&card)),
      tx_samples_(card.tx.rate_hz / oh_streams_rate_hz(&card)),
      divider_(captured_hz / card.rx.rate_hz),
      multiplier_(played_hz / card.tx.rate_hz) {
  if (captured_frames_ > rx_samples_) delay_ += static_cast<std::uint32_t>(kSpan / 2 / rx_samples_);
  if (played_frames_ > tx_samples_) delay_ += static_cast<std::uint32_t>(kSpan / 2 / tx_samples_);
}

void SoundRates::captured(const std::int16_t* device, std::int16_t* card, std::size_t n) {
  if (captured_frames_ > rx_samples_) {
    divider_.process(device, card, n * rx_samples_);
  } else {
    std::copy_n(device, n * rx_samples_, card);
  }
}

void SoundRates::played(const std::int16_t* card, std::int16_t* device, std::size_t n) {
  if (played_frames_ > tx_samples_) {
    multiplier_.process(card, device, n * tx_samples_);
  } else {
    std::copy_n(card, n * tx_samples_, device);
  }
}

}  // namespace offhook
