// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/decode/line/samples.h"

namespace offhook::decode {

/// Band-limited conversion of a signal to 8000 Hz, block by block: a windowed sinc at the lower of the two rates, flat
/// to 3.8 kHz and 80 dB down from 4.2 kHz on (from 8000 Hz up). Before and after the signal is silence.
/// It keeps the whole output, but of the input only the filter's length.
class RateConverter {
 public:
  /// @param from_hz  4000 to 192 000
  explicit RateConverter(int from_hz);
  /// @param x  [n] samples at from_hz
  void add(std::span<const float> x);
  /// The whole signal at 8000 Hz, as if `offset` had been subtracted from each sample of the input. Not twice.
  /// @return [inputs * 8000 / from_hz, rounded down]
  std::vector<float> finish(float offset);

 private:
  void put_out();
  void take_off(float offset);
  const std::vector<float>& taps_at(std::size_t n) const { return taps_[n % taps_.size()]; }
  /// The last input that lies at or before output n.
  std::size_t input_at(std::size_t n) const { return n * static_cast<std::size_t>(from_hz_) / kRateHz; }

  int from_hz_;
  std::size_t half_ = 0;                  // taps on each side
  std::vector<std::vector<float>> taps_;  // by phase; none: the rate is 8000 Hz already
  std::vector<float> in_;                 // [0] is input number first_ - (half_ - 1)
  std::size_t first_ = 0, inputs_ = 0;
  std::vector<float> out_;
};

}  // namespace offhook::decode
