// SPDX-License-Identifier: MIT
//
// The precoder of V.34 (9.6.2), in the exact integers that the Recommendation demands.
//
// The transmitter undoes the receiver's noise-whitening filter 1 + h1 z^-1 + h2 z^-2 + h3 z^-3. From every point u it
// subtracts the predicted tail p of the three symbols before. To limit the power, it adds the nearest point
// c of a coarse lattice. After the filter the receiver sees y = u + c, a point of the grid, which the trellis
// code protects. Since p and c depend only on earlier symbols, the receiver repeats the same recursion and subtracts
// c.
#pragma once

#include <stdint.h>

#include "dsp/v34/coding/constellation.h"

namespace offhook::v34 {

/// A complex number with 7 fractional bits: the precoded symbol x.
struct FixedPoint {
  int16_t re;
  int16_t im;
  friend constexpr bool operator==(const FixedPoint&, const FixedPoint&) = default;
};

/// h(1), h(2), h(3) as MP type 1 sends them: two's complement, 14 fractional bits.
struct PrecoderCoefficients {
  struct {
    int16_t re;
    int16_t im;
  } h[3];
};

/// n / 2^bits rounded to the nearest integer, halves towards zero (steps 2 and 3 of 9.6.2).
constexpr int64_t round_half_to_zero(int64_t n, int bits) {
  const int64_t half = (int64_t{1} << bits) / 2;
  return (n + half - (n >= 0 && bits > 0)) >> bits;
}

/// One end's copy of the recursion: a transmitter calls encode(), a receiver decode(), once per symbol. Stable for
/// every h: x never leaves the constellation by more than w. Real-time: yes, O(1).
class Precoder {
 public:
  constexpr Precoder() = default;
  /// @param scale  w of (9-29): 1 or 2
  constexpr Precoder(const PrecoderCoefficients& h, int scale) : h_(h), scale_bits_(scale) {}

  /// c(n) of the next symbol.
  constexpr Point offset() const { return c_; }

  /// @param u  point of the mapper  @param[out] y  channel point, which the receiver sees after its filter
  /// @return x, the symbol to send
  constexpr FixedPoint encode(Point u, Point* y) {
    *y = {static_cast<int16_t>(u.re + c_.re), static_cast<int16_t>(u.im + c_.im)};
    return advance(*y);
  }

  /// The inverse. @param y  decided channel point  @param[out] x  the exact transmitted symbol; may be null
  /// @return u. A wrong y causes errors while the response of 1/(1 + h) lasts.
  constexpr Point decode(Point y, FixedPoint* x = nullptr) {
    const Point u{static_cast<int16_t>(y.re - c_.re), static_cast<int16_t>(y.im - c_.im)};
    const FixedPoint sent = advance(y);
    if (x != nullptr) *x = sent;
    return u;
  }

 private:
  constexpr FixedPoint advance(Point y) {
    const FixedPoint x{saturate(128 * y.re - p_re_), saturate(128 * y.im - p_im_)};
    x_[2] = x_[1];
    x_[1] = x_[0];
    x_[0] = x;
    int64_t q_re = 0;  // 21 fractional bits
    int64_t q_im = 0;
    for (int k = 0; k < 3; ++k) {
      q_re += int64_t{h_.h[k].re} * x_[k].re - int64_t{h_.h[k].im} * x_[k].im;
      q_im += int64_t{h_.h[k].re} * x_[k].im + int64_t{h_.h[k].im} * x_[k].re;
    }
    p_re_ = static_cast<int32_t>(round_half_to_zero(q_re, 14));
    p_im_ = static_cast<int32_t>(round_half_to_zero(q_im, 14));
    c_ = {quantise(p_re_), quantise(p_im_)};
    return x;
  }
  // For multiples of 2w: p has 7 fractional bits, so a step is 2^(7 + w) and gives 2^w.
  constexpr int16_t quantise(int32_t p) const {
    return static_cast<int16_t>(round_half_to_zero(p, 7 + scale_bits_) * (1 << scale_bits_));
  }
  // Only a receiver with wrong decisions comes near these limits.
  static constexpr int16_t saturate(int32_t v) {
    return static_cast<int16_t>(v > INT16_MAX ? INT16_MAX : v < -INT16_MAX ? -INT16_MAX : v);
  }

  PrecoderCoefficients h_{};
  int scale_bits_ = 1;  // log2 of 2w: 1 for w = 1, 2 for w = 2
  FixedPoint x_[3]{};
  int32_t p_re_ = 0;  // 7 fractional bits
  int32_t p_im_ = 0;
  Point c_{};
};

}  // namespace offhook::v34
