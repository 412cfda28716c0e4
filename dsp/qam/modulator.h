// SPDX-License-Identifier: MIT
//
// From symbols to samples of 8000 Hz: pulse shape, carrier, pre-emphasis and level.
//
// Symbol rate and carrier are exact ratios to the sample clock, of whose fraction at most 35 phases remain. Each phase
// has its taps of the pulse, already turned by the carrier, so a sample is one dot product of the symbols of the last
// kSpan symbol periods, each turned by the carrier's phase at its own time. Nothing drifts, and symbol n is sent at
// exactly n / S.
//
// The pulse is a root raised cosine, 32 symbols long under a Kaiser window. With 9 % roll-off the spectrum at 3429
// symbols/s ends at 92 and 3826 Hz, so that neither 0 nor 4000 Hz folds it back (measured: see the test). At 2400 there
// is room for more, and receivers that take their clock from beyond the edges of the band need it.
#pragma once

#include <stdint.h>

#include "dsp/blocks/band.h"
#include "dsp/blocks/complex.h"
#include "dsp/blocks/hot_lines.h"
#include "dsp/blocks/kernels.h"
#include "dsp/qam/pre_emphasis.h"

namespace offhook::qam {

enum class RollOff : uint8_t { k9Percent, k25Percent };

class Modulator {
 public:
  static constexpr int kSpan = 32;       ///< length of a pulse, in symbols
  static constexpr int kMaxPhases = 35;  ///< phases of a symbol between samples, at 2743 symbols/s
  static constexpr int kMaxTurns = 7;    ///< symbols after which the carrier repeats

  Modulator() = default;
  /// @param rms  of the line signal, int16 units, for symbols of unit mean power. Not strictly real-time: fills tables
  /// (about 0.2 ms).
  /// @pre 2400 to 3429 symbols/s; at most kMaxPhases phases, kMaxTurns of the carrier
  void init(const Band& band, double rms, const PreEmphasis& pre_emphasis = {}, RollOff roll_off = RollOff::k9Percent,
            const Kernels& kernels = best_kernels());

  /// The next sample is the first of a new symbol: call put() before next().
  bool wants_symbol() const { return phase_ < per_sample_; }
  /// A symbol of unit mean power. Its pulse has its peak kSpan/2 symbols (and the pre-emphasis filter's 16 samples,
  /// when there is one) after its first sample.
  void put(Complex symbol);
  /// The next sample, int16 units, not clipped. @pre put() was called if wants_symbol().  Real-time: yes, O(kSpan).
  float next();

  void add_to(HotLines* hot) const;                                            ///< the memory that put() and next() use
  void add_heads_to(HotLines* hot) const { hot->add(this, HotLines::kLine); }  ///< the memory that add_to() reads

  /// From put() to the peak of the pulse on the line.
  float delay_samples() const { return delay_; }

 private:
  static constexpr int kEmphasisTaps = 48;  // kPreEmphasisTaps, padded for the kernels

  const Kernels* kernels_ = nullptr;
  int per_sample_ = 3;  // symbols per sample, in phases_ths
  int phases_ = 7;
  int phase_ = 0;      // of the next sample, 0..phases_-1
  int turn_step_ = 4;  // carrier turns per symbol, in turns_ths
  int turns_ = 7;
  int turn_ = 0;  // carrier phase at the next symbol
  int at_ = 0;    // newest symbol in re_, im_ (and again kSpan later)
  float delay_ = 0;
  bool emphasised_ = false;
  int emphasis_at_ = 0;
  Complex rotation_[kMaxTurns]{};  // exp(2 pi i k / turns_)
  alignas(64) float re_[2 * kSpan]{};
  float im_[2 * kSpan]{};
  float tap_re_[kMaxPhases][kSpan];
  float tap_im_[kMaxPhases][kSpan];  // negated: the sample is the real part
  float emphasis_[kEmphasisTaps]{};
  float history_[2 * kEmphasisTaps]{};
};

}  // namespace offhook::qam
