// SPDX-License-Identifier: MIT
#include "hostsim/channel/path.h"

#include <algorithm>
#include <stdexcept>

#include "dsp/blocks/fft.h"
#include "hostsim/channel/vector.h"

namespace offhook::hostsim {
namespace {

/// Impulse response h: kPoints over 1 / step_hz, times `scale`.
std::vector<oh_complex> impulse_response(const std::function<std::complex<double>(double)>& response, double step_hz,
                                         double scale) {
  constexpr std::size_t n = Path::kPoints;
  const oh_fft_ops* fft = oh_fft_radix2();
  std::vector<std::max_align_t> memory(fft->size(n) / sizeof(std::max_align_t) + 1);
  fft->init(memory.data(), n);
  std::vector<oh_complex> x(n);
  for (std::size_t k = 0; k < n / 2; ++k) {
    // The transform divides by n, but h is a sum of step_hz H.
    const std::complex<double> h = response(static_cast<double>(k) * step_hz) * (step_hz * n * scale);
    x[k] = {static_cast<float>(h.real()), static_cast<float>(k == 0 ? 0 : h.imag())};
    if (k > 0) x[n - k] = {x[k].re, -x[k].im};
  }
  fft->inverse(memory.data(), x.data(), x.data());
  return x;
}

}  // namespace

Path::Path(const std::function<std::complex<double>(double)>& response, double transmit_hz, std::size_t taps,
           std::uint64_t numerator, std::uint64_t denominator)
    : taps_(taps), phases_(kPoints / taps), numerator_(numerator), denominator_(denominator) {
  if (taps < 16 || taps > 4096 || (taps & (taps - 1)) != 0)
    throw std::invalid_argument("taps of a path: expected a power of two, 16 to 4096");
  const auto h = impulse_response(response, transmit_hz / static_cast<double>(taps), 1 / transmit_hz);
  rows_.resize((phases_ + 1) * taps);
  for (std::size_t p = 0; p <= phases_; ++p) {
    for (std::size_t k = 0; k < taps; ++k) rows_[p * taps + taps - 1 - k] = h[(k * phases_ + p) % kPoints].re;
  }
  inputs_.assign(8 * taps, 0);
  end_ = taps;
}

void Path::push(float x) {
  if (end_ == inputs_.size()) {
    const std::size_t keep = 2 * taps_;  // samples that the next outputs may still need
    std::copy(inputs_.end() - static_cast<std::ptrdiff_t>(keep), inputs_.end(), inputs_.begin());
    end_ = keep;
  }
  inputs_[end_++] = x;
  ++pushed_;
}

float Path::pull() {
  const std::size_t newest = end_ - static_cast<std::size_t>(pushed_ - whole_);
  const float* x = &inputs_[newest + 1 - taps_];
  // fraction / denominator of a period in phases, exact if the ratio of the rates is an integer.
  const std::uint64_t position = fraction_ * phases_;
  const std::size_t phase = position / denominator_;
  const std::uint64_t rest = position % denominator_;
  float y = dot(&rows_[phase * taps_], x, taps_);
  if (rest != 0) {
    const float between = static_cast<float>(static_cast<double>(rest) / static_cast<double>(denominator_));
    y += between * (dot(&rows_[(phase + 1) * taps_], x, taps_) - y);
  }
  fraction_ += numerator_;
  whole_ += fraction_ / denominator_;
  fraction_ %= denominator_;
  return y;
}

}  // namespace offhook::hostsim
