// SPDX-License-Identifier: MIT
#include "dsp/blocks/real_fft.h"

#include "dsp/blocks/sincos.h"

namespace offhook {

RealFft::RealFft(int n, const oh_fft_ops& ops) : ops_(ops), n_(n), half_(n / 2) {
  for (int k = 0; k < half_; ++k) {
    const SinCos w = sincos_turns(static_cast<double>(k) / n);
    turn_[k] = {static_cast<float>(w.cos), static_cast<float>(w.sin)};
  }
  ops_.init(memory_, static_cast<size_t>(half_));
}

void RealFft::forward(const float* x, Complex* tones) const {
  oh_complex pairs[kMost / 2], z[kMost / 2];
  __builtin_memcpy(pairs, x, sizeof(float) * static_cast<size_t>(n_));
  ops_.forward(memory_, pairs, z);
  tones[0] = {z[0].re + z[0].im, 0};
  // Even samples are in the part of z that is symmetric, odd ones in the rest. Tones k and n/2 - k together, of the
  // same four numbers.
  for (int k = 1; k <= half_ / 2; ++k) {
    const oh_complex a = z[k], b = z[half_ - k];
    const Complex even{0.5f * (a.re + b.re), 0.5f * (a.im - b.im)}, odd{0.5f * (a.im + b.im), 0.5f * (b.re - a.re)};
    const Complex turned = odd * conj(turn_[k]);
    tones[k] = even + turned;
    tones[half_ - k] = conj(even - turned);
  }
}

void RealFft::inverse(const Complex* tones, float* x) const {
  oh_complex z[kMost / 2], pairs[kMost / 2];
  const float scale = 0.5f / static_cast<float>(half_);
  // Conjugated, so that the forward transform is the inverse one.
  z[0] = {scale * tones[0].re, -scale * tones[0].re};
  for (int k = 1; k <= half_ / 2; ++k) {
    const Complex a = scale * tones[k], b = scale * conj(tones[half_ - k]);
    const Complex even = a + b, odd = (a - b) * turn_[k];
    z[k] = {even.re - odd.im, -(even.im + odd.re)};
    z[half_ - k] = {even.re + odd.im, even.im - odd.re};
  }
  ops_.forward(memory_, z, pairs);
  for (int k = 0; k < half_; ++k) {
    x[2 * k] = pairs[k].re;
    x[2 * k + 1] = -pairs[k].im;
  }
}

}  // namespace offhook
