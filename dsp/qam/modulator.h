// SPDX-License-Identifier: MIT
//
// From symbols to samples of 8000 Hz: pulse shape, carrier, pre-emphasis and level (5.2 to 5.4).
//
// Symbol rate and carrier are exact ratios to the sample clock: of_2400 / .. symbols a sample, of which a fraction of
// at most 35 phases remains. Each phase has its taps of the pulse, already turned by the carrier, so a sample is one
// dot product of the symbols of the last kSpan symbol periods, each turned by the carrier's phase at its own time.
// Nothing drifts, and symbol n is sent at exactly n / S.
//
// The pulse is a root raised cosine of 9 % roll-off, 32 symbols long under a Kaiser window: the spectrum at 3429 ends
// at 92 and 3826 Hz, so that neither 0 nor 4000 Hz folds it back (measured: see the test). At 2400 there is room for
// more, and V.32bis needs it: its receivers take their clock from what lies beyond both edges of the band.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/kernels.h"
#include "dsp/qam/pre_emphasis.h"
#include "dsp/v34/coding/framing.h"

namespace offhook::v34 {

enum class RollOff : uint8_t { k9Percent, k25Percent };

class Modulator {
 public:
  static constexpr int kSpan = 32;       ///< symbols that a pulse lasts
  static constexpr int kMaxPhases = 35;  ///< at 2743 symbols/s

  Modulator() = default;
  /// @param pre_emphasis  index 0..10, which the far modem asked for in INFO1  @param rms  of the line signal, int16
  /// units, for symbols of unit mean power.  Not real-time in the strict sense: fills tables (about 0.2 ms).
  /// @pre 0 <= pre_emphasis <= 10
  void init(SymbolRate symbol_rate, Carrier carrier, int pre_emphasis, double rms,
            const Kernels& kernels = best_kernels(), RollOff roll_off = RollOff::k9Percent);

  /// The next sample is the first of a new symbol: give it to push() before next().
  bool wants_symbol() const { return phase_ < per_sample_; }
  /// A symbol of unit mean power. Its pulse has its peak kSpan/2 symbols (and the pre-emphasis filter's 16 samples,
  /// when there is one) after its first sample.
  void push(Complex symbol);
  /// The next sample, int16 units, not clipped. @pre wants_symbol() was answered.  Real-time: yes, O(kSpan).
  float next();

  /// From push() to the peak of the pulse on the line.
  float delay_samples() const { return delay_; }

 private:
  static constexpr int kEmphasisTaps = 48;  // kPreEmphasisTaps, padded for the kernels

  const Kernels* kernels_ = nullptr;
  int per_sample_ = 3;  // symbols a sample, in phases_ths
  int phases_ = 7;
  int phase_ = 0;      // of the next sample, 0..phases_-1
  int turn_step_ = 4;  // carrier turns a symbol, in turns_ths
  int turns_ = 7;
  int turn_ = 0;  // carrier phase at the next symbol
  int at_ = 0;    // newest symbol in re_, im_ (and again kSpan later)
  float delay_ = 0;
  bool emphasised_ = false;
  int emphasis_at_ = 0;
  float re_[2 * kSpan]{};
  float im_[2 * kSpan]{};
  float tap_re_[kMaxPhases][kSpan];
  float tap_im_[kMaxPhases][kSpan];  // negated: the sample is the real part
  float emphasis_[kEmphasisTaps]{};
  float history_[2 * kEmphasisTaps]{};
  Complex rotation_[7]{};  // exp(2 pi i k / turns_)
};

}  // namespace offhook::v34
