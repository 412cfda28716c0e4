// SPDX-License-Identifier: MIT
//
// The analogue modem's own signal in the channel that PCM comes from, at 16 000 Hz. It is learnt by least squares while
// the analogue modem trains and the digital one is silent. The sent signal has no power above 4000 Hz, so its samples
// at 8000 Hz are enough: one filter for the even samples of the channel, one for the odd ones.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace offhook::decode {

class PcmEcho {
 public:
  static constexpr int kTaps = 192;  ///< 24 ms

  /// @param wide  the channel at 16 000 Hz  @param other  the other one at 8000 Hz, or empty
  /// @param from_s, to_s  of the training: without it there is no echo
  PcmEcho(std::span<const std::int16_t> wide, std::span<const float> other, double from_s, double to_s);

  /// The echo in a sample of `wide`.
  float at(std::size_t sample) const;

 private:
  void find_lag(std::span<const std::int16_t> wide, long from, long to);
  bool learn(std::span<const std::int16_t> wide, long from, long to);
  float other(long t) const {
    return t >= 0 && t < static_cast<long>(other_.size()) ? other_[static_cast<std::size_t>(t)] : 0.f;
  }

  std::span<const float> other_;
  long lag_ = 0;                            // samples of 8000 Hz from a sent sample to the first tap's
  std::array<std::vector<float>, 2> taps_;  // of the even and of the odd samples; empty: there is no echo
};

}  // namespace offhook::decode
