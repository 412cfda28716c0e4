// SPDX-License-Identifier: MIT
//
// The analogue path from the samples of one converter to those of another, as one filter. The signal at receiving
// instant t is the sum over k of x[k] T h(t - k T), where T is the transmitter's period and h the inverse Fourier
// transform of the response. It therefore includes images of the transmitter and aliases of the receiver, as in
// reality.
//
// h is in a table of kPoints over the duration of the response; between two of its phases the output is interpolated.
// Receiving instants are kept as a whole number and an exact fraction of T, so they never drift.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace offhook::hostsim {

class Path {
 public:
  static constexpr std::size_t kPoints = 65536;

  /// @param response of the path at a frequency of at least 0 Hz; it is sampled every 1 / duration, and must vanish
  /// well below kPoints / duration / 2
  /// @param transmit_hz  rate of the inputs  @param taps  a power of two, 16 to 4096: the duration is taps /
  /// transmit_hz
  /// @param numerator, denominator  an output comes every numerator / denominator inputs; both below 2^40
  Path(const std::function<std::complex<double>(double hz)>& response, double transmit_hz, std::size_t taps,
       std::uint64_t numerator, std::uint64_t denominator);

  /// One input. O(1), occasionally O(taps).
  void push(float x);
  /// Whether the inputs so far reach the next output.
  bool ready() const { return pushed_ > whole_; }
  /// The next output. @pre ready(), and at most `taps` inputs wait. O(taps).
  float pull();

  /// T h at `n` / phases() input periods from the start.
  float at(std::size_t n, std::size_t phase) const { return rows_[phase * taps_ + taps_ - 1 - n]; }
  std::size_t taps() const { return taps_; }
  std::size_t phases() const { return phases_; }

 private:
  const std::size_t taps_;
  const std::size_t phases_;
  const std::uint64_t numerator_, denominator_;
  std::vector<float> rows_;  // [phases + 1][taps], for the oldest input first
  std::vector<float> inputs_;
  std::size_t end_ = 0;  // one past the newest input
  std::uint64_t pushed_ = 0, whole_ = 0, fraction_ = 0;
};

}  // namespace offhook::hostsim
