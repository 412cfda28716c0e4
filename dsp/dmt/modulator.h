// SPDX-License-Identifier: MIT
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/real_fft.h"
#include "dsp/dmt/tones.h"

namespace offhook::dmt {

/// Points of tones to samples. A point of unit power has the band's nominal power spectral density if a sample of
/// 32768 is Band::full_scale_volts across 100 ohm.
class Modulator {
 public:
  explicit Modulator(const Band& band);
  /// @param[in] points  [band.tones()]  @param prefix  with the cyclic prefix in front
  /// @param[out] out  [band.symbol()], or [band.points] without prefix, clipped. Real-time: yes, O(n log n).
  void symbol(const Complex* points, bool prefix, int16_t* out) const;
  /// Root mean square of one tone of unit power, in sample values.
  float tone_rms() const { return rms_; }

 private:
  const Band band_;
  RealFft fft_;
  float rms_;
};

}  // namespace offhook::dmt
