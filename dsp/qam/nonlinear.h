// SPDX-License-Identifier: MIT
//
// The non-linear encoder and its inverse: a non-linear mapping of the points in V.34 (9.7), also in V.90's upstream.
//
// Codecs are finer for small samples than for large ones. Pushing outer points outwards, a little, evens out the noise.
// Phi grows with the energy of the point, and so does the energy after it, by which the decoder finds Phi.
#pragma once

#include "dsp/blocks/complex.h"

namespace offhook::qam {

/// Phi of (9-34) for zeta = Theta |x|^2 / mean |x|^2.
constexpr float nonlinear_gain(float zeta) {
  return 1 + zeta / 6 + zeta * zeta / 120;
}

/// 1 / Phi of the point that was warped to zeta Phi(zeta)^2 = t: cubic pieces with its values and slopes at both ends,
/// wrong by at most 3e-8. In Newton's method, each step would wait for the previous step's division, for every received
/// symbol.
class InverseNonlinearGain {
 public:
  static constexpr int kMost = 8;  ///< t: 25 Theta, rounded

  constexpr InverseNonlinearGain() {
    double value = 1, slope = -1. / 6, zeta = 0;  // at t = 0, where Phi' is 1/6
    for (int k = 0; k < kPieces; ++k) {
      const double t = static_cast<double>(k + 1) / kPiecesAUnit;
      double gain = 1, rise = 1. / 6, steepness = 1;
      for (int step = 0; step < 8; ++step) {  // from the zeta of the left end: convex and rising, so it converges
        gain = 1 + zeta / 6 + zeta * zeta / 120;
        rise = 1. / 6 + zeta / 60;
        steepness = gain * gain + 2 * zeta * gain * rise;
        zeta -= (zeta * gain * gain - t) / steepness;
      }
      const double next = 1 / gain, next_slope = -rise / (gain * gain * steepness);
      const double from = slope / kPiecesAUnit, to = next_slope / kPiecesAUnit;
      piece_[k][0] = static_cast<float>(value);
      piece_[k][1] = static_cast<float>(from);
      piece_[k][2] = static_cast<float>(3 * (next - value) - 2 * from - to);
      piece_[k][3] = static_cast<float>(2 * (value - next) + from + to);
      value = next;
      slope = next_slope;
    }
  }
  /// @param t  at least 0, or NaN; above kMost it is treated as kMost.  Real-time: yes, O(1).
  constexpr float operator()(float t) const {
    constexpr float kEnd = kPieces * (1 - 1.f / (1 << 23));
    const float place = t * kPiecesAUnit < kEnd ? t * kPiecesAUnit : kEnd;  // also false for NaN
    const int k = static_cast<int>(place);
    const float u = place - static_cast<float>(k);
    const float* c = piece_[k];
    return c[0] + u * (c[1] + u * (c[2] + u * c[3]));
  }

 private:
  static constexpr int kPiecesAUnit = 16, kPieces = kMost * kPiecesAUnit;
  float piece_[kPieces][4]{};
};
inline constexpr InverseNonlinearGain kInverseNonlinearGain{};

/// Warps points outwards, and reverses that. One object serves both directions and has no state. Real-time: yes, O(1).
class NonlinearEncoder {
 public:
  constexpr NonlinearEncoder() = default;
  /// @param theta  amount of warping, 0: none  @param mean_energy  mean |x|^2, in squared units of x; > 0
  constexpr NonlinearEncoder(float theta, float mean_energy) : zeta_per_energy_(theta / mean_energy) {}

  /// x' = Phi x, in place.
  constexpr void encode(float* re, float* im) const {
    const float gain = nonlinear_gain(zeta_per_energy_ * (*re * *re + *im * *im));
    *re *= gain;
    *im *= gain;
  }

  /// x from x', in place. Energies above 25 times the mean, which no point has, are limited to that.
  constexpr void decode(float* re, float* im) const {
    const Complex x = decode({*re, *im}, zeta_per_energy_);
    *re = x.re;
    *im = x.im;
  }
  /// The same, from zeta_per_energy(), the only number on which it depends.
  static constexpr Complex decode(Complex x, float zeta_per_energy) {
    return kInverseNonlinearGain(zeta_per_energy * norm(x)) * x;
  }
  constexpr float zeta_per_energy() const { return zeta_per_energy_; }

 private:
  float zeta_per_energy_ = 0;
};

}  // namespace offhook::qam
