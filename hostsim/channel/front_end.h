// SPDX-License-Identifier: MIT
//
// Between a transceiver's samples and the pair: converters, the filters that keep the two directions apart, the
// coupling to the pair, and the hybrid through which a transmitter is heard by its own receiver.
//
// The split filters are those of an oversampling codec: linear phase, an edge of logistic shape. Steeper filters pass
// less echo but ring longer, which degrades the tones near the edge.
#pragma once

#include <complex>

namespace offhook::hostsim {

struct FrontEnd {
  double split_hz = 138e3;       ///< upstream below, downstream above: between tones 31 and 33
  double split_width_hz = 2000;  ///< of the edge: 1 / (1 + exp((f - split) / width))
  double top_width_hz = 4000;    ///< of the edge at half the rate of the downstream converters
  double coupling_hz = 10e3;     ///< of the second-order high-pass of a transformer; there is one at each end
  double hybrid_loss_db = 20;    ///< from transmitter to own receiver, before the filters; 200 or more: no echo
  int bits = 14;                 ///< of the converters, 4 to 16
  double full_scale_volts = 12;  ///< of a transmitter: volts of a sample of 32768, across 100 ohm
  /// Level to which the receiver's gain sets the expected signal. A sum of many tones has a normal distribution: the
  /// headroom is for its peaks and for those of this end's echo. With 13 dB, 1 sample of 100,000 is clipped.
  double receive_rms_dbfs = -17;
};

enum class Direction { kDown, kUp };

/// Filters of the transmitter or of the receiver, without the coupling. @param rate_hz  of the downstream converters
double split_filter(const FrontEnd& f, Direction direction, double rate_hz, double hz);
/// One transformer: s^2 / (s^2 + sqrt 2 s + 1) at s = i hz / coupling_hz.
std::complex<double> coupling(const FrontEnd& f, double hz);

}  // namespace offhook::hostsim
