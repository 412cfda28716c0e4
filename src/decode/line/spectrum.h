// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dsp/blocks/fft.h"
#include "src/decode/line/samples.h"

namespace offhook::decode {

/// The spectrum at one frequency: the mean of x(t) e^(-j 2 pi hz t / 8000). A tone of amplitude a there has a / 2.
Cd spectrum_at(std::span<const float> x, double hz);

/// Intervals of 60 ms or more with a tone and nothing else: from, to, in seconds, with a resolution of 10 ms.
std::vector<std::pair<double, double>> find_tone_stretches(std::span<const float> x, double hz);

/// x under a Hann window of mean 1.
std::vector<float> hann(std::span<const float> x);

/// a times the conjugate of b: of two spectra, that of their correlation.
constexpr oh_complex times_conj(oh_complex a, oh_complex b) {
  return {a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
}

/// Complex FFT of n points, a power of two.
class Fft {
 public:
  /// @param n  a power of two up to OH_FFT_MAX  @throws std::length_error otherwise
  explicit Fft(std::size_t n) : n_(n), memory_(std::aligned_alloc(64, (ops_.size(n) + 63) / 64 * 64), &std::free) {
    if (ops_.init(memory_.get(), n) != 0) throw std::length_error("an FFT of " + std::to_string(n) + " points");
  }
  void forward(std::vector<oh_complex>& x) const { ops_.forward(memory_.get(), x.data(), x.data()); }
  void inverse(std::vector<oh_complex>& x) const { ops_.inverse(memory_.get(), x.data(), x.data()); }
  std::size_t size() const { return n_; }

 private:
  const oh_fft_ops& ops_ = *oh_fft_radix2();
  std::size_t n_;
  std::unique_ptr<void, decltype(&std::free)> memory_;
};

}  // namespace offhook::decode
