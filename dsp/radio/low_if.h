// SPDX-License-Identifier: MIT
//
// A card has real samples, a burst has complex ones. Between them are an intermediate frequency of a quarter of the
// card's rate, and half-band filters (liquid-dsp's resamp2): two samples of the card for one of the burst.
#pragma once

#include <array>
#include <cstdint>

#include "dsp/radio/liquid.h"

namespace offhook::radio {

// The half-band filters.
inline constexpr unsigned kHalfBandLength = 7, kHalfBandTaps = 4 * kHalfBandLength + 1;
inline constexpr float kHalfBandStopDb = 60;

/// Card to baseband. Real-time: yes.
class LowIfReceiver {
 public:
  /// Two successive samples of the card to one of the burst, with the same mean square.
  Complex step(float first, float second) {
    // times exp(-j pi n / 2), with a period of two pairs
    const float sign = turned_ ? -kGain : kGain;
    turned_ = !turned_;
    std::array<Complex, 2> mixed = {Complex{sign * first, 0}, Complex{0, -sign * second}};
    Complex out;
    resamp2_crcf_decim_execute(filter_.get(), mixed.data(), &out);
    return out;
  }

 private:
  static constexpr float kGain = kRootHalf;  // the filter adds two samples
  Owned<resamp2_crcf, resamp2_crcf_destroy> filter_{resamp2_crcf_create(kHalfBandLength, 0, kHalfBandStopDb)};
  bool turned_ = false;
};

/// Baseband to card. Real-time: yes.
class LowIfSender {
 public:
  /// One sample of the burst to two of the card, with the same mean square.
  std::array<float, 2> step(Complex x) {
    // Between bursts, the filters are idle once the last sample has passed.
    idle_ = x == Complex{} ? idle_ + 1 : 0;
    if (idle_ > kHalfBandTaps) return {};
    std::array<Complex, 2> out;
    resamp2_crcf_interp_execute(filter_.get(), x, out.data());
    const float sign = turned_ ? -kPairGain : kPairGain;
    turned_ = !turned_;
    return {sign * out[0].real(), -sign * out[1].imag()};
  }

 private:
  static constexpr float kPairGain = 2 * kRootHalf;  // half of a complex signal's power is in its real part
  Owned<resamp2_crcf, resamp2_crcf_destroy> filter_{resamp2_crcf_create(kHalfBandLength, 0, kHalfBandStopDb)};
  bool turned_ = false;
  std::uint64_t idle_ = kHalfBandTaps;
};

}  // namespace offhook::radio
