// SPDX-License-Identifier: MIT
//
// A graphic equaliser: ten bands an octave apart, from 31.25 Hz to 16 kHz, each a peaking filter of second order.
// In double, since the lowest bands have poles close to 1.
#pragma once

#include "dsp/blocks/level.h"
#include "dsp/blocks/sincos.h"

namespace offhook::audio {

/// A filter of second order, transposed direct form II: y = b0 x + s1; s1 = b1 x - a1 y + s2; s2 = b2 x - a2 y.
struct Biquad {
  double b0, b1, b2, a1, a2, s1 = 0, s2 = 0;
};

/// `gain_db` at `centre` and 0 dB far from it. @param centre  turns per sample, less than 0.5. Source: Bristow-Johnson,
/// Audio EQ Cookbook (W3C note), peakingEQ.
constexpr Biquad peaking(double centre, double q, double gain_db) {
  const SinCos w = sincos_turns(centre);
  const double a = db_to_gain(gain_db / 2), alpha = w.sin / (2 * q), a0 = 1 + alpha / a;
  return {(1 + alpha * a) / a0, -2 * w.cos / a0, (1 - alpha * a) / a0, -2 * w.cos / a0, (1 - alpha / a) / a0};
}

class Equaliser {
 public:
  static constexpr int kBands = 10;
  static constexpr double kLowestHz = 31.25, kQ = kSqrt2;  // one octave between the half-gain points

  /// @param gain_db  [kBands], the lowest band first  @param rate_hz  more than 32000. Not real-time.
  Equaliser(const double* gain_db, double rate_hz) {
    double centre_hz = kLowestHz;
    for (int k = 0; k < kBands; ++k, centre_hz *= 2) bands_[k] = peaking(centre_hz / rate_hz, kQ, gain_db[k]);
  }

  /// @param x  [n], in place. Real-time: yes, O(n).
  void process(float* x, int n) {
    for (int i = 0; i < n; ++i) {
      double v = x[i];
      for (Biquad& b : bands_) {
        const double y = b.b0 * v + b.s1;
        b.s1 = b.b1 * v - b.a1 * y + b.s2;
        b.s2 = b.b2 * v - b.a2 * y;
        v = y;
      }
      x[i] = static_cast<float>(v);
    }
    // After silence the states decay towards denormal numbers, with which a processor computes slowly.
    for (Biquad& b : bands_) {
      if (is_nothing(b.s1) && is_nothing(b.s2)) b.s1 = b.s2 = 0;
    }
  }

 private:
  static bool is_nothing(double s) { return s < 1e-30 && s > -1e-30; }
  Biquad bands_[kBands];
};

}  // namespace offhook::audio
