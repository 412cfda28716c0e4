// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/decode/line/samples.h"

namespace offhook::decode {

/// Band-limited conversion of a signal to another rate, block by block: a windowed sinc at the lower of the two rates,
/// for 8000 Hz flat to 3.8 kHz and 80 dB down from 4.2 kHz on. Before and after the signal is silence.
/// It keeps the output until it is taken, but of the input only the filter's length.
class RateConverter {
 public:
  /// @param from_hz, to_hz  4000 to 192 000
  explicit RateConverter(int from_hz, int to_hz = kRateHz);
  /// @param x  [n] samples at from_hz
  void add(std::span<const float> x);
  /// The output since the last call, as far as its inputs have arrived.
  std::vector<float> take();
  /// The rest of the signal, or the whole if nothing was taken, as if `offset` had been subtracted from each sample of
  /// the input. Not twice.
  /// @return [inputs * to_hz / from_hz, rounded down, less those taken]
  std::vector<float> finish(float offset);

 private:
  void put_out();
  void take_off(float offset);
  const std::vector<float>& taps_at(std::size_t n) const { return taps_[n % taps_.size()]; }
  /// The last input that lies at or before output n.
  std::size_t input_at(std::size_t n) const { return n * static_cast<std::size_t>(from_hz_) / to_hz_; }
  std::size_t next() const { return taken_ + out_.size(); }  // output

  int from_hz_;
  std::size_t to_hz_;
  std::size_t half_ = 0;                  // taps on each side
  std::vector<std::vector<float>> taps_;  // by phase; none: both rates are the same
  std::vector<float> in_;                 // [0] is input number first_ - (half_ - 1)
  std::size_t first_ = 0, inputs_ = 0, taken_ = 0;
  std::vector<float> out_;
};

}  // namespace offhook::decode
