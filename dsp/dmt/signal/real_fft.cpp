// SPDX-License-Identifier: MIT
#include "dsp/dmt/signal/real_fft.h"

#include "dsp/blocks/sincos.h"

namespace offhook::dmt {

namespace {

/// Four floats at any place.
using Four [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;

Four& four(float* at) {
  return *reinterpret_cast<Four*>(at);
}
const Four& four(const float* at) {
  return *reinterpret_cast<const Four*>(at);
}

/// Four of a stage.
inline void butterflies(float* re, float* im, int size, const float* c, const float* s) {
  const Four ar = four(re), ai = four(im), br = four(re + size), bi = four(im + size);
  const Four pr = br * four(c) - bi * four(s), pi = br * four(s) + bi * four(c);
  four(re + size) = ar - pr;
  four(im + size) = ai - pi;
  four(re) = ar + pr;
  four(im) = ai + pi;
}

}  // namespace

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

// The first two stages in one, as their factors are 1 and -i; in the others four butterflies at a time.
void RealFft::transform(float* re, float* im) const {
  for (int k = 0; k < half_; k += 4) {
    float* r = re + k;
    float* i = im + k;
    const float ar = r[0] + r[1], ai = i[0] + i[1], br = r[0] - r[1], bi = i[0] - i[1];
    const float cr = r[2] + r[3], ci = i[2] + i[3], dr = r[2] - r[3], di = i[2] - i[3];
    r[0] = ar + cr;
    i[0] = ai + ci;
    r[1] = br + di;
    i[1] = bi - dr;
    r[2] = ar - cr;
    i[2] = ai - ci;
    r[3] = br - di;
    i[3] = bi + dr;
  }
  const float* c = stage_cos_ + 3;
  const float* s = stage_sin_ + 3;
  for (int size = 4; size < half_; c += size, s += size, size *= 2) {
    for (int start = 0; start < half_; start += 2 * size) {
      for (int k = start; k < start + size; k += 4) butterflies(re + k, im + k, size, c + k - start, s + k - start);
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
