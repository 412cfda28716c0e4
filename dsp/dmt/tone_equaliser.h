// SPDX-License-Identifier: MIT
//
// A time-domain equaliser for each tone. A filter of kTaps before the transform equals, for one tone, the transform of
// the unfiltered window and kTaps - 1 differences of samples that lie one transform apart:
//
//    received[k] = gain[k] Y[k] + sum over l of weight[l][k] difference[l],   difference[l] = y[s - l] - y[s - l + n]
//
// with s the window's first sample, n its length and Y its transform. So each tone can have its own filter, at the cost
// of a common filter. The filters start as copies of the filter that shortens the channel (shortening.h). The common
// filter shortens the echo tail of the whole band, but its zeros and its noise may affect tones that need no
// shortening.
//
// Then each tone's filter is fitted to the sent points: least squares over the symbols that add() received, with the
// differences and the tone's point as unknowns. Intersymbol interference, crosstalk and the echo of the own
// transmitter are all noise to the fit, weighted by measurement. No assumption about them is necessary.
//
// The differences are the same for all tones, so one factor of their correlations serves all of them.
//
// Source: Van Acker, Leus, Moonen, van de Wiel, Pollet 2001 (per tone equalisation for DMT-based systems)
#pragma once

#include "dsp/blocks/complex.h"
#include "dsp/blocks/kernels.h"
#include "dsp/dmt/shortening.h"
#include "dsp/dmt/tones.h"

namespace offhook::dmt {

class ToneEqualiser {
 public:
  static constexpr int kTaps = Shortening::kTaps;
  static constexpr int kDifferences = kTaps - 1;
  /// A fit of fewer symbols would fit their noise: kTaps unknowns add kTaps / symbols of it.
  static constexpr int kLeastSymbols = 8 * kTaps;
  static constexpr int kTonesAtOnce = 4;

  explicit ToneEqualiser(const Band& band) : band_(band), kernels_(best_kernels()) {}

  /// One filter for all tones. @param[in] taps  [kTaps], for the newest sample first. Real-time: yes, O(tones kTaps).
  void set(const float* taps);
  /// @param[in] window  [band.points], and kDifferences samples before it  @param[in,out] received  [tones] the
  /// window's transform, replaced by the filtered one. Real-time: yes, O(tones kTaps).
  void filter(const float* window, Complex* received);

  /// Gain at one tone of the common filter.
  Complex gain(int tone) const { return gain_[tone]; }

  /// Forgets the symbols of a fit.
  void begin_fit();
  /// Adds a symbol to the fit, after filter(). @param[in] points  [tones] equalised, unit power  @param[in] sent
  /// @param[in] turned  [tones] the timing loop's turn of both, because the fit uses the phase of the samples.
  /// Real-time: yes, O(tones kTaps).
  void add(const Complex* points, const Complex* sent, const Complex* turned);
  int symbols() const { return symbols_; }
  /// A part of the fit: kTonesAtOnce tones per call, and in the first call the common factor.
  /// @param[in,out] equaliser  [tones] factors from received tones to points  @return whether that was the last.
  /// Real-time: yes, O(kTaps^3) at most.
  bool fit(Complex* equaliser);

 private:
  void factorise();
  void fit_tone(int tone, Complex* equaliser);

  const Band band_;
  const Kernels& kernels_;
  Complex gain_[kMostTones]{};
  float weight_re_[kDifferences][kMostTones]{}, weight_im_[kDifferences][kMostTones]{};
  float difference_[kDifferences]{};
  float re_[kMostTones]{}, im_[kMostTones]{};  // of one symbol
  // Sums of a fit over its symbols: d are the differences, p the points, e the errors.
  int symbols_ = 0, tone_ = 0;
  double dd_[kDifferences][kDifferences]{};
  float pd_re_[kDifferences][kMostTones]{}, pd_im_[kDifferences][kMostTones]{};
  float ed_re_[kDifferences][kMostTones]{}, ed_im_[kDifferences][kMostTones]{};
  float pp_[kMostTones]{};
  Complex pe_[kMostTones]{};
};

}  // namespace offhook::dmt
