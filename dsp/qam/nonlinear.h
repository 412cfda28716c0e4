// SPDX-License-Identifier: MIT
//
// The non-linear encoder and its inverse: a warp of the points that V.34 has (9.7), in V.90's upstream, too.
//
// Codecs are finer for small samples than for large ones. Pushing outer points outwards, a little, evens out the noise.
// Phi grows with the energy of the point; the decoder solves for that energy.
#pragma once

#include "dsp/blocks/complex.h"

namespace offhook::qam {

/// Phi of (9-34) for zeta = Theta |x|^2 / mean |x|^2.
constexpr float nonlinear_gain(float zeta) {
  return 1 + zeta / 6 + zeta * zeta / 120;
}

/// Warps points outwards and back. One object serves both directions; it holds no state. Real-time: yes, O(1).
class NonlinearEncoder {
 public:
  constexpr NonlinearEncoder() = default;
  /// @param theta  how much, 0: not at all  @param mean_energy  mean |x|^2, in the square of the units of x; > 0
  constexpr NonlinearEncoder(float theta, float mean_energy) : zeta_per_energy_(theta / mean_energy) {}

  /// x' = Phi x, in place.
  constexpr void encode(float* re, float* im) const {
    const float gain = nonlinear_gain(zeta_per_energy_ * (*re * *re + *im * *im));
    *re *= gain;
    *im *= gain;
  }

  /// x from x', in place: solves zeta Phi(zeta)^2 = Theta |x'|^2 / mean |x|^2. The left side is convex and rising and
  /// the start lies right of the root, so that Newton's steps fall to it without overshoot. Energies above 25 times the
  /// mean, which no point has, are treated as 25 times.
  constexpr void decode(float* re, float* im) const {
    const Complex x = decode({*re, *im}, zeta_per_energy_);
    *re = x.re;
    *im = x.im;
  }
  /// The same with zeta_per_energy(), the one number that it depends on.
  static constexpr Complex decode(Complex x, float zeta_per_energy) {
    const float t = zeta_per_energy * norm(x);
    const float target = t < 8 ? t : 8;  // 8 = 25 * Theta, rounded; false for NaN too
    float zeta = target / (1 + target / 10);
    for (int k = 0; k < 5; ++k) {
      const float gain = nonlinear_gain(zeta);
      const float slope = gain * gain + 2 * zeta * gain * (1.0f / 6 + zeta / 60);
      zeta -= (zeta * gain * gain - target) / slope;
    }
    return 1 / nonlinear_gain(zeta) * x;
  }
  constexpr float zeta_per_energy() const { return zeta_per_energy_; }

 private:
  float zeta_per_energy_ = 0;
};

}  // namespace offhook::qam
