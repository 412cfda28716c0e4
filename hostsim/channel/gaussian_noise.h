// SPDX-License-Identifier: MIT
//
// Gaussian noise of a given power spectral density, and impulses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "hostsim/engine/random.h"

namespace offhook::hostsim {

/// One normal number per sample, filtered with linear phase. Sample i uses number i of the stream.
class GaussianNoise {
 public:
  static constexpr std::size_t kTaps = 256;
  /// @param psd  one-sided, square units per Hz, at a frequency from 0 to rate_hz / 2, after folding
  GaussianNoise(const Random& random, double rate_hz, const std::function<double(double hz)>& psd);
  float next();

 private:
  static constexpr std::size_t kBlock = 256;
  Random random_;
  std::vector<float> taps_;
  std::vector<float> normals_;  // [kTaps + kBlock]
  std::uint64_t drawn_ = 0;
  std::size_t at_ = kBlock;
};

/// Impulses at Poisson instants: damped cosines of either sign; several may overlap.
class LoopImpulses {
 public:
  static constexpr double kHz = 150e3, kDecayS = 30e-6, kLengthS = 200e-6;
  /// @param mean_hz  mean number per second, 0 for none  @param peak  of an impulse
  LoopImpulses(const Random& random, double rate_hz, double mean_hz, double peak);
  float next();
  std::uint64_t impulses() const { return impulses_; }

 private:
  Random random_;
  double mean_gap_;
  double next_at_;  // samples
  std::uint64_t now_ = 0, impulses_ = 0;
  std::vector<float> shape_, pending_;  // pending_: a ring of the remaining contributions of impulses
};

}  // namespace offhook::hostsim
