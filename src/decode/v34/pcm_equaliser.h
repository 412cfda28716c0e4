// SPDX-License-Identifier: MIT
//
// From samples of the analogue line it gets the levels that the digital modem sent, one per symbol.
#pragma once

#include <span>
#include <vector>

#include "src/decode/line/samples.h"

namespace offhook::decode {

class PcmEqualiser {
 public:
  static constexpr int kTaps = 256;      ///< at most: one a sample, the symbol in the middle
  static constexpr int kEchoTaps = 128;  ///< of the other channel

  /// @param own, other  as in PcmLine  @param taps  even, up to kTaps
  PcmEqualiser(std::span<const float> own, std::span<const float> other, int taps = kTaps)
      : own_(own), other_(other), own_taps_(taps) {}

  /// Fits all taps by least squares. @param first  sample of the first level  @param levels  that were sent
  /// @param trusted  [levels.size()] which of them are known, or empty for all
  /// @return the residual, relative to the levels' power, as an unbiased estimate; 1: nothing was fitted
  double fit(long first, std::span<const float> levels, std::span<const char> trusted = {});
  /// Searches the residual of such levels for the other direction's echo; the next fit includes it.
  void find_echo(long first, std::span<const float> levels);
  /// Samples after the symbol's that at() needs.
  long ahead() const { return own_taps_ / 2; }
  bool has_echo() const { return echo_lag_ >= 0; }

  /// The level at a sample.
  float at(long sample) const;

 private:
  static float sample(std::span<const float> x, long t) {
    return t >= 0 && t < static_cast<long>(x.size()) ? x[static_cast<std::size_t>(t)] : 0.f;
  }
  std::size_t taps() const { return 1 + static_cast<std::size_t>(own_taps_) + (has_echo() ? kEchoTaps : 0); }
  void gather(long t, double* x) const;

  std::span<const float> own_, other_;
  int own_taps_;
  long echo_lag_ = -1;     ///< samples to the first echo tap; -1: there is no echo
  std::vector<double> w_;  ///< of a constant first: the mean of PCM is only near zero, and was subtracted
};

}  // namespace offhook::decode
