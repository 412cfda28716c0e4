// SPDX-License-Identifier: MIT
//
// The transform of real samples, 64 to 512 of them: a complex transform of half the length, of fft.h, and one step
// more.
#pragma once

#include "dsp/blocks/complex.h"
#include "dsp/blocks/fft.h"

namespace offhook {

/// Tones k and n/2 - k of n real samples, from points k and n/2 - k of the complex transform of pairs of samples. The
/// symmetric part holds the even samples, the rest the odd ones. @param turn  exp(2 pi i k / n)
inline void tones_of_points(oh_complex a, oh_complex b, Complex turn, Complex* low, Complex* high) {
  const Complex even{0.5f * (a.re + b.re), 0.5f * (a.im - b.im)}, odd{0.5f * (a.im + b.im), 0.5f * (b.re - a.re)};
  const Complex turned = odd * conj(turn);
  *low = even + turned;
  *high = conj(even - turned);
}

/// The inverse, conjugated and doubled: a forward transform of these points gives the conjugated pairs of samples.
/// @param a  tone k  @param b  tone n/2 - k, conjugated
inline void points_of_tones(Complex a, Complex b, Complex turn, oh_complex* low, oh_complex* high) {
  const Complex even = a + b, odd = (a - b) * turn;
  *low = {even.re - odd.im, -(even.im + odd.re)};
  *high = {even.re + odd.im, even.im - odd.re};
}

class RealFft {
 public:
  static constexpr int kMost = 512;

  /// @param n  a power of two, 64 to kMost  @param ops  the complex transform; its memory is inside this object, and at
  /// most that of oh_fft_radix2(). Not real-time: fills tables.
  explicit RealFft(int n, const oh_fft_ops& ops = *oh_fft_radix2());
  ~RealFft() {
    if (ops_.release != nullptr) ops_.release(memory_);
  }
  RealFft(const RealFft&) = delete;
  RealFft& operator=(const RealFft&) = delete;
  int size() const { return n_; }

  /// X[k] = sum over t of x[t] exp(-2 pi i k t / n), k from 0 to n / 2 - 1. @param[in] x  [n]  @param[out] tones [n/2];
  /// tone n / 2 is not given. No aliases. Real-time: yes, O(n log n).
  void forward(const float* x, Complex* tones) const;
  /// The inverse of forward() for signals without tone n / 2: the real x whose transform is X for tones 0 to n / 2 - 1.
  /// X[0] is real. @param[in] tones [n/2]  @param[out] x [n]. Real-time: yes, O(n log n).
  void inverse(const Complex* tones, float* x) const;

 private:
  const oh_fft_ops& ops_;
  int n_, half_;
  Complex turn_[kMost / 2];  // exp(2 pi i k / n)
  alignas(64) unsigned char memory_[OH_FFT_RADIX2_SIZE(kMost / 2)];
};

}  // namespace offhook
