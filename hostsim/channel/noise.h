// SPDX-License-Identifier: MIT
//
// Noise at a receiver: white Gaussian noise, and impulses of a Poisson process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hostsim/engine/random.h"

namespace offhook::hostsim {

/// White noise over 0 to 4000 Hz. Sample i uses normal number i of the stream.
class WhiteNoise {
 public:
  WhiteNoise(const Random& random, double dbm0);
  float next();

 private:
  Random random_;
  float rms_;
  std::uint64_t index_ = 0;
  std::array<float, 64> block_{};
};

/// Each impulse is a damped cosine of 2000 Hz (time constant 0.5 ms, 4 ms long) of either sign; several may overlap.
class ImpulseNoise {
 public:
  /// @param rate_hz mean number per second, 0 for none  @param dbm0 the impulse's peak is that of a sine of this level
  ImpulseNoise(const Random& random, double rate_hz, double dbm0);
  float next();
  std::uint64_t impulses() const { return impulses_; }

  static constexpr std::size_t kLength = 32;

 private:
  Random random_;
  double mean_gap_samples_;
  double next_at_;  // time of the next impulse, in samples
  std::uint64_t now_ = 0;
  std::uint64_t impulses_ = 0;
  std::array<float, kLength> shape_{};
  std::array<float, kLength> pending_{};  // a ring: the remaining parts of the impulses
};

}  // namespace offhook::hostsim
