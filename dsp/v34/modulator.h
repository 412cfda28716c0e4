// SPDX-License-Identifier: MIT
//
// Symbols to samples of 8000 Hz: square-root raised-cosine pulses of 10 % excess bandwidth on the carrier, then the
// pre-emphasis filter that the far end asked for (5.2 to 5.4).
//
// Symbol rate and carrier are the exact ratios of Tables 1 and 2: a symbol lasts 10c/(3a) samples, so the pulse needs
// 10c phases and no more, and the carrier repeats after 10ce samples. Nothing drifts.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/v34/framing.h"
#include "dsp/v34/pre_emphasis.h"

namespace offhook::v34 {

/// Excess bandwidth: the spectrum is flat over the +-0.45 S that 5.4.1 asks for.
inline constexpr double kRollOff = 0.1;

/// Impulse response of a square-root raised cosine, t in symbols; its energy is 1.
double root_raised_cosine(double t, double roll_off);

class Modulator {
 public:
  static constexpr int kSpan = 24;  ///< symbols of one pulse
  /// From a symbol being pulled to the middle of its pulse, in symbols (the pre-emphasis filter adds 16 samples).
  static constexpr int kDelaySymbols = kSpan / 2;

  Modulator() = default;
  /// @param level_dbm0  of symbols of mean power 1  @param pre_emphasis  index 0..10.  Not real-time: for init.
  Modulator(SymbolRate symbol_rate, Carrier carrier, int pre_emphasis, double level_dbm0);

  /// One sample, int16 units. @param next_symbol  `Complex next_symbol()`, called once a symbol
  /// Real-time: yes, O(kSpan + kPreEmphasisTaps).
  template <class NextSymbol>
  float next(NextSymbol&& next_symbol) {
    if (phase_ >= phases_) {
      phase_ -= phases_;
      push(next_symbol());
    }
    return sample();
  }

 private:
  static constexpr int kMaxPhases = 70;    // 10c
  static constexpr int kMaxCarrier = 490;  // 10ce

  void push(Complex symbol);
  float sample();

  int phases_ = 10, step_ = 3, phase_ = 10;
  int carrier_size_ = 1, carrier_step_ = 0, carrier_ = 0;
  float pulse_[kMaxPhases][kSpan];
  Complex carrier_table_[kMaxCarrier];
  Complex symbols_[2 * kSpan]{};  // each twice, so that the newest kSpan are in a row
  int at_ = 0;
  float taps_[kPreEmphasisTaps]{};
  float line_[2 * kPreEmphasisTaps]{};
  int line_at_ = 0;
};

}  // namespace offhook::v34
