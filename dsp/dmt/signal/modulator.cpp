// SPDX-License-Identifier: MIT
#include "dsp/dmt/signal/modulator.h"

#include "dsp/blocks/level.h"

namespace offhook::dmt {
namespace {

int16_t rounded(float x) {
  return clip(x < 0 ? x - 0.5f : x + 0.5f);
}

}  // namespace

Modulator::Modulator(const Band& band) : band_(band), fft_(band.points) {
  const double watts =
      db_to_gain(2 * static_cast<double>(band.dbm_hz)) * 1e-3 * static_cast<double>(kToneHz);  // of a tone
  rms_ = 32768 / band.full_scale_volts * square_root(static_cast<float>(watts * 100));
}

void Modulator::symbol(const Complex* points, bool prefix, int16_t* out) const {
  Complex tones[kMostTones];
  float x[2 * kMostTones];
  // A tone X is 2 |X| / n cos, of root mean square sqrt(2) |X| / n.
  const float scale = rms_ * static_cast<float>(band_.points) / static_cast<float>(kSqrt2);
  for (int k = 1; k < band_.tones(); ++k) tones[k] = scale * points[k];
  fft_.inverse(tones, x);
  const int before = prefix ? band_.prefix : 0;
  for (int t = 0; t < before; ++t) out[t] = rounded(x[band_.points - before + t]);
  for (int t = 0; t < band_.points; ++t) out[before + t] = rounded(x[t]);
}

}  // namespace offhook::dmt
