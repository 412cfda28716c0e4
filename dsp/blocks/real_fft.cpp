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
  for (int k = 1; k <= half_ / 2; ++k) tones_of_points(z[k], z[half_ - k], turn_[k], &tones[k], &tones[half_ - k]);
}

void RealFft::inverse(const Complex* tones, float* x) const {
  oh_complex z[kMost / 2], pairs[kMost / 2];
  const float scale = 0.5f / static_cast<float>(half_);
  // Conjugated, so that the forward transform acts as the inverse.
  z[0] = {scale * tones[0].re, -scale * tones[0].re};
  for (int k = 1; k <= half_ / 2; ++k)
    points_of_tones(scale * tones[k], scale * conj(tones[half_ - k]), turn_[k], &z[k], &z[half_ - k]);
  ops_.forward(memory_, z, pairs);
  for (int k = 0; k < half_; ++k) {
    x[2 * k] = pairs[k].re;
    x[2 * k + 1] = -pairs[k].im;
  }
}

}  // namespace offhook
