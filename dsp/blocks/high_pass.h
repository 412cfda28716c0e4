// SPDX-License-Identifier: MIT
//
// High-passes for a telephone receiver whose codec adds DC and mains hum. There are two designs:
//
// - kHighPassFrom220 passes the band of every V.34 symbol rate (229 Hz and more). It is a Chebyshev type I of order 5
//   (ripple 0.1 dB, corner 180 Hz) whose zeros were moved from 0 Hz to 0, 50 and 60 Hz: one real and two complex pairs.
//   Measured on the coefficients: -103 dB at 49.5 Hz, -36 dB at 100 Hz, -24 dB at 120 Hz, -1.1 dB at 229 Hz, -0.6 dB at
//   300 Hz.
// - kHighPassFrom450 also removes the third and fifth harmonic. It is an elliptic filter of order 5 (ripple 0.1 dB,
//   corner 450 Hz): at least 36 dB up to 300 Hz. An equaliser with two samples per symbol restores the rest of the band
//   of V.32bis from its upper edge.
#pragma once

#include "dsp/blocks/sincos.h"

namespace offhook {

/// 1 + zero_one z^-1 + zero_two z^-2 over a polynomial of the same form.
struct HighPassSection {
  float zero_one, zero_two, pole_one, pole_two;
};

struct HighPassDesign {
  HighPassSection section[3];
  float gain;  ///< for gain 1 at 1800 Hz
};

/// A notch at 8000 Hz and a pair of poles.
constexpr HighPassSection high_pass_section(double notch_hz, double pole_re, double pole_im) {
  return {static_cast<float>(-2 * sincos_turns(notch_hz / 8000).cos), 1, static_cast<float>(-2 * pole_re),
          static_cast<float>(pole_re * pole_re + pole_im * pole_im)};
}

inline constexpr HighPassDesign kHighPassFrom220 = {{{-1, 0, -0.76774908f, 0},
                                                     high_pass_section(60, 0.897867178, 0.134560936),
                                                     high_pass_section(50, 0.972531353, 0.125038648)},
                                                    0.784439f};
inline constexpr HighPassDesign kHighPassFrom450 = {{{-1, 0, -0.59377805f, 0},
                                                     high_pass_section(226.423303, 0.793565141, 0.289768149),
                                                     high_pass_section(328.338243, 0.917989341, 0.315562491)},
                                                    0.64091872f};

/// Group delay of 1 + one z^-1 + two z^-2 at `turns` per sample, in samples.
constexpr double group_delay(double one, double two, double turns) {
  const SinCos w = sincos_turns(turns), v = sincos_turns(2 * turns);
  const double re = 1 + one * w.cos + two * v.cos, im = -one * w.sin - two * v.sin;
  const double slope_re = one * w.cos + 2 * two * v.cos, slope_im = -one * w.sin - 2 * two * v.sin;
  return (slope_re * re + slope_im * im) / (re * re + im * im);
}

/// Power gain of a design at `hz`.
constexpr double power_gain(const HighPassDesign& design, double hz) {
  const auto power = [hz](double one, double two) {
    const SinCos w = sincos_turns(hz / 8000), v = sincos_turns(2 * hz / 8000);
    const double re = 1 + one * w.cos + two * v.cos, im = one * w.sin + two * v.sin;
    return re * re + im * im;
  };
  double gain = static_cast<double>(design.gain) * static_cast<double>(design.gain);
  for (const HighPassSection& c : design.section) {
    gain *= power(static_cast<double>(c.zero_one), static_cast<double>(c.zero_two)) /
            power(static_cast<double>(c.pole_one), static_cast<double>(c.pole_two));
  }
  return gain;
}

class HighPass {
 public:
  constexpr explicit HighPass(const HighPassDesign& design = kHighPassFrom220) : design_(&design) {}

  /// Forget the samples so far.
  void reset() {
    for (Section& s : state_) s = {};
  }
  /// One sample of 8000 Hz. Real-time: yes, 13 multiplications.
  float process(float x) {
    float y = design_->gain * x;
    for (int k = 0; k < kSections; ++k) {
      const HighPassSection& c = design_->section[k];
      Section& s = state_[k];
      const float in = y;
      y = in + s.one;
      s.one = c.zero_one * in - c.pole_one * y + s.two;
      s.two = c.zero_two * in - c.pole_two * y;
    }
    return y;
  }
  /// Delay of a tone's reversals, in samples.  Real-time: yes, O(1).
  constexpr double delay_samples(double hz) const {
    double delay = 0;
    for (const HighPassSection& c : design_->section) {
      delay += group_delay(static_cast<double>(c.zero_one), static_cast<double>(c.zero_two), hz / 8000) -
               group_delay(static_cast<double>(c.pole_one), static_cast<double>(c.pole_two), hz / 8000);
    }
    return delay;
  }

 private:
  static constexpr int kSections = 3;
  struct Section {
    float one = 0, two = 0;
  };

  const HighPassDesign* design_;
  Section state_[kSections];
};

}  // namespace offhook
