// SPDX-License-Identifier: MIT
#include "dsp/dmt/modulator.h"

#include "dsp/blocks/instruction_set.h"
#include "dsp/blocks/level.h"

namespace offhook::dmt {
namespace {

/// Rounded to the nearest value, clipped. @param n  a multiple of 4
void round_all(const float* x, int n, int16_t* out) {
  using Float4 = float __attribute__((vector_size(16)));
  using Int4 = int32_t __attribute__((vector_size(16)));
  using Short4 = int16_t __attribute__((vector_size(8)));
  constexpr float kLeast = INT16_MIN, kMost = INT16_MAX;
  for (int t = 0; t < n; t += 4) {
    Float4 v = reinterpret_cast<const Unaligned<Float4>*>(x + t)->v;
    v = v < 0.0f ? v - 0.5f : v + 0.5f;
    v = v > kLeast ? v : Float4{} + kLeast;
    v = v < kMost ? v : Float4{} + kMost;
    const Int4 whole = __builtin_convertvector(v, Int4);
    reinterpret_cast<Unaligned<Short4>*>(out + t)->v = __builtin_convertvector(whole, Short4);
  }
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
  round_all(x, band_.points, out + before);
  for (int t = 0; t < before; ++t) out[t] = out[band_.points + t];
}

}  // namespace offhook::dmt
