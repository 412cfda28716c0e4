// SPDX-License-Identifier: MIT
#include "dsp/dmt/signal/real_fft.h"

#include "dsp/blocks/sincos.h"

namespace offhook::dmt {

RealFft::RealFft(int n) : n_(n), half_(n / 2) {
  for (int k = 0; k < half_; ++k) {
    const SinCos w = sincos_turns(static_cast<double>(k) / n);
    cos_[k] = static_cast<float>(w.cos);
    sin_[k] = static_cast<float>(w.sin);
    int r = 0;
    for (int bit = 1; bit < half_; bit <<= 1) r = r << 1 | (k & bit ? 1 : 0);
    reversed_[k] = static_cast<short>(r);
  }
  int at = 0;
  for (int size = 1; size < half_; size *= 2) {
    for (int k = 0; k < size; ++k) {
      const SinCos w = sincos_turns(static_cast<double>(k) / (2 * size));
      stage_cos_[at] = static_cast<float>(w.cos);
      stage_sin_[at++] = static_cast<float>(-w.sin);
    }
  }
}

void RealFft::transform(float* re, float* im) const {
  const float* c = stage_cos_;
  const float* s = stage_sin_;
  for (int size = 1; size < half_; c += size, s += size, size *= 2) {
    for (int start = 0; start < half_; start += 2 * size) {
      float* ar = re + start;
      float* ai = im + start;
      float* br = ar + size;
      float* bi = ai + size;
      for (int k = 0; k < size; ++k) {
        const float pr = br[k] * c[k] - bi[k] * s[k], pi = br[k] * s[k] + bi[k] * c[k];
        br[k] = ar[k] - pr;
        bi[k] = ai[k] - pi;
        ar[k] += pr;
        ai[k] += pi;
      }
    }
  }
}

void RealFft::forward(const float* x, float* re, float* im) const {
  float zr[kMost / 2], zi[kMost / 2];
  for (int k = 0; k < half_; ++k) {
    zr[reversed_[k]] = x[2 * k];
    zi[reversed_[k]] = x[2 * k + 1];
  }
  transform(zr, zi);
  re[0] = zr[0] + zi[0];
  im[0] = 0;
  // Even samples are in the part of z that is symmetric, odd ones in the rest.
  for (int k = 1; k < half_; ++k) {
    const float er = 0.5f * (zr[k] + zr[half_ - k]), ei = 0.5f * (zi[k] - zi[half_ - k]);
    const float odd_r = 0.5f * (zi[k] + zi[half_ - k]), odd_i = -0.5f * (zr[k] - zr[half_ - k]);
    re[k] = er + odd_r * cos_[k] + odd_i * sin_[k];
    im[k] = ei + odd_i * cos_[k] - odd_r * sin_[k];
  }
}

void RealFft::inverse(const float* re, const float* im, float* x) const {
  float zr[kMost / 2], zi[kMost / 2];
  const float scale = 1.0f / static_cast<float>(half_);
  for (int k = 0; k < half_; ++k) {
    const int m = half_ - k;
    const float mr = k == 0 ? 0 : re[m], mi = k == 0 ? 0 : im[m];  // of n / 2 and of n / 2 - k
    const float er = 0.5f * (re[k] + mr), ei = 0.5f * (im[k] - mi);
    const float dr = 0.5f * (re[k] - mr), di = 0.5f * (im[k] + mi);
    const float odd_r = dr * cos_[k] - di * sin_[k], odd_i = di * cos_[k] + dr * sin_[k];
    // Conjugated, so that the forward transform is the inverse one.
    zr[reversed_[k]] = (er - odd_i) * scale;
    zi[reversed_[k]] = -(ei + odd_r) * scale;
  }
  transform(zr, zi);
  for (int k = 0; k < half_; ++k) {
    x[2 * k] = zr[k];
    x[2 * k + 1] = -zi[k];
  }
}

}  // namespace offhook::dmt
