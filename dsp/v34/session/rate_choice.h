// SPDX-License-Identifier: MIT
//
// The highest data rate that a receiver can request: at the measured signal-to-noise ratio, the points of its
// constellation are far enough apart for the trellis code in use.
//
// Only the neighbours of each code are tabulated. An error event of squared distance d2 happens with probability
// Q(sqrt(d2) / (2 sigma)), sigma being the noise's standard deviation in each dimension in grid units. Multiplied by
// the neighbours and by the 4D symbols of a data frame, it is the rate of bad data frames. The largest sigma with a
// rate of bad frames below the target, relative to the mean energy of the constellation, gives the signal-to-noise
// ratio that a rate needs.
#pragma once

#include <stdint.h>

#include "dsp/qam/noise_predictor.h"
#include "dsp/v34/coding/framing.h"
#include "dsp/v34/coding/precoder.h"
#include "dsp/v34/coding/trellis.h"

namespace offhook::v34 {

/// Bad data frames (35 or 40 ms, about one V.42 frame) at the chosen rate.
inline constexpr double kTargetFrameErrors = 1e-3;

/// Largest noise variance per dimension, grid units squared, at which at most `frame_errors` of the data frames are
/// bad. Real-time: O(100).  Source: union bound over the nearest neighbours
double tolerated_variance(TrellisCode code, const Framing& framing, double frame_errors = kTargetFrameErrors);

/// 0.35 dB: required_snr() covers noise only, and a measurement over a second of TRN is accurate to 0.1 dB.
inline constexpr double kSnrMargin = 1.084;

/// Signal-to-noise ratio (mean |x|^2 over mean |noise|^2, both after the whitening filter) that a rate needs. Not
/// strictly real-time: as mean_energy().
double required_snr(TrellisCode code, const Framing& framing, bool precoding);

/// The rate that training noise permits. @param[out] h  of the required precoder at the far end; zero if it gains less
/// than it costs  @return as required_snr; 0: unknown.  Real-time: yes, O(1).
double precoded_snr(const qam::NoisePredictor& noise, PrecoderCoefficients* h);
/// The filter in MP's form.
PrecoderCoefficients to_coefficients(const Complex* h);

struct RateLimits {
  SymbolRate symbol_rate;
  TrellisCode trellis;
  bool expanded;
  bool precoding;
  bool aux;
  bool points_1664;       ///< whether both ends have the 1664 points; otherwise 960 is the maximum
  uint32_t max_bit_rate;  ///< 0: no limit
};

/// @param snr  as of required_snr  @return the highest rate in 2400 bit/s; if the line carries less, the lowest rate of
/// the symbol rate, because the estimate may be too low.
uint8_t choose_rate(const RateLimits& limits, double snr);

/// Bit k: (k+1) * 2400 bit/s is at least the lowest rate of both symbol rates, and at most the highest rate of one of
/// them.
uint16_t rate_mask(const RateLimits& transmit, const RateLimits& receive);

/// The highest rate that these limits permit on any line, in 2400 bit/s.
uint8_t highest_rate(const RateLimits& limits);

}  // namespace offhook::v34
