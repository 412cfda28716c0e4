// SPDX-License-Identifier: MIT
#include "dsp/dmt/signal/modulator.h"

namespace offhook::dmt {
namespace {

/// 10^(dbm / 10) mW, of whole dBm below zero.
constexpr double milliwatts(float dbm) {
  double mw = 1;
  for (float left = dbm; left < 0; left += 1) mw /= 1.2589254117941673;
  return mw;
}

int16_t clip(float x) {
  const float r = x < 0 ? x - 0.5f : x + 0.5f;
  return r > 32767 ? int16_t{32767} : r < -32768 ? int16_t{-32768} : static_cast<int16_t>(r);
}

}  // namespace

Modulator::Modulator(const Band& band) : band_(band), fft_(band.points) {
  const double watts = milliwatts(band.dbm_hz) * 1e-3 * kToneHz;  // of a tone
  rms_ = 32768 / band.full_scale_volts * square_root(static_cast<float>(watts * 100));
}

void Modulator::symbol(const Complex* points, bool prefix, int16_t* out) const {
  float re[kMostTones], im[kMostTones], x[2 * kMostTones];
  // A tone X is 2 |X| / n cos, of root mean square sqrt(2) |X| / n.
  const float scale = rms_ * static_cast<float>(band_.points) / static_cast<float>(kSqrt2);
  re[0] = im[0] = 0;
  for (int k = 1; k < band_.tones(); ++k) {
    re[k] = scale * points[k].re;
    im[k] = scale * points[k].im;
  }
  fft_.inverse(re, im, x);
  const int before = prefix ? band_.prefix : 0;
  for (int t = 0; t < before; ++t) out[t] = clip(x[band_.points - before + t]);
  for (int t = 0; t < band_.points; ++t) out[before + t] = clip(x[t]);
}

}  // namespace offhook::dmt
