// SPDX-License-Identifier: MIT
//
// A whole channel mixed down from a carrier and filtered to the band of a symbol rate, readable at any time. It is
// computed on demand, in blocks, of which the latest are kept: its memory does not grow with the recording.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "src/decode/line/samples.h"

namespace offhook::decode {

class Baseband {
 public:
  /// @param x  real samples at 8000 Hz, which must stay in memory
  Baseband(std::span<const float> x, double carrier_hz, double symbol_rate_hz);

  /// Value, and derivative per sample of 8000 Hz, at a time in samples; 0 outside the recording.
  void at(double t, Cf* value, Cf* derivative) const;
  Cf at(double t) const {
    Cf v, d;
    at(t, &v, &d);
    return v;
  }
  std::size_t size() const { return x_.size(); }

 private:
  static constexpr int kHalf = 64;                 // taps of the lowpass on each side
  static constexpr std::size_t kBlock = 4096;      // samples; a block includes the margin of an interpolator, too
  static constexpr std::size_t kMostBlocks = 192;  // 98 s, 6 MB
  const Cf* block(std::size_t number) const;
  std::vector<Cf> compute(std::size_t number) const;
  struct Table;  // of an interpolator
  static const Table& table();

  const Table& table_;
  std::span<const float> x_;
  double carrier_hz_;
  std::array<float, 2 * kHalf + 1> taps_;
  mutable std::vector<std::vector<Cf>> blocks_;  // by number; empty: not there
  mutable std::deque<std::size_t> kept_;         // those that are there, the oldest first
};

}  // namespace offhook::decode
