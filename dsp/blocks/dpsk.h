// SPDX-License-Identifier: MIT
//
// Binary differential phase shift keying at 600 bit/s: the modem of the INFO sequences of V.34 and V.90 (V.34
// 10.1.2.3). A one turns the phase by 180 degrees.
//
// On both sides, pulses are square roots of a raised cosine with roll-off 0.75. They fit the mask of Figure 13, and
// reject the other modem and a guard tone 600 Hz away.
//
// A sequence follows silence and ends after 82 ms, so the receiver has no time to acquire the clock. Instead it decides
// at eight phases of the symbol in parallel. The reader of the eight bit streams takes the clearest stream without an
// error. The receiver works through frequency offsets of +-30 Hz.
#pragma once

#include <stdint.h>

#include "dsp/blocks/downconverter.h"

namespace offhook {

inline constexpr int kDpskBaud = 600;
inline constexpr double kDpskRollOff = 0.75;

/// Impulse response of the square root of a raised cosine, roll-off kDpskRollOff, t in symbols; about 1.2 at 0.
/// @pre 4 kDpskRollOff t is not +-1
constexpr double dpsk_pulse(double t) {
  constexpr double b = kDpskRollOff;
  if (t > -1e-9 && t < 1e-9) return 1 - b + 4 * b / kPi;
  const double s = sincos_turns(t * (1 - b) / 2).sin, c = sincos_turns(t * (1 + b) / 2).cos;
  return (s + 4 * b * t * c) / (kPi * t * (1 - 16 * b * b * t * t));
}

/// A decision at one of the eight phases.
struct DpskDecision {
  uint8_t phase;  ///< 0..7, in turn
  uint8_t bit;
  float peak;    ///< amplitude of the symbol, int16 units
  Complex turn;  ///< this symbol times the conjugate of the previous one, divided by its magnitude
};

class DpskReceiver {
 public:
  static constexpr int kPhases = 8;  ///< samples of 4800 Hz per symbol
  /// Delay in samples from the middle of a bit's pulse on the line to its decision at the best phase.
  static constexpr float kDelaySamples = Downconverter<112>::kDelaySamples;

  /// @param carrier_hz  a multiple of 5
  explicit DpskReceiver(int carrier_hz);

  /// One sample of 8000 Hz.  @return whether `decision` is new: three times in five.  Real-time: yes.
  bool put(float x, DpskDecision* decision);

 private:
  static constexpr int kTaps = 112;
  Downconverter<kTaps> converter_;
  Complex history_[kPhases]{};
  uint8_t phase_ = 0;
};

/// The signal of a modulator.
struct DpskSignal {
  int carrier_hz;
  double level_dbm0;
  int guard_hz = 0;  ///< of an additional tone; 0: none
  double guard_with_tone_dbm0 = 0, guard_with_bits_dbm0 = 0;
};

/// Sends tone, bits and silence of one end with continuous phase. The tone is the carrier without phase changes, so it
/// changes into bits and back without a break.
class DpskModulator {
 public:
  explicit DpskModulator(const DpskSignal& signal);

  /// Switches to the tone. After silence, it rises within 1 ms; bits end at the next symbol.
  void tone();
  /// Switches to silence, which is reached within 1 ms. After bits, call it kDelaySamples and half a symbol after the
  /// last call of next_bit that gave one.
  void silence();
  /// Turns the tone, but not the guard tone, by 180 degrees. The middle of the turn, where the tone is zero, comes
  /// kReversalDelay samples later.
  void reverse();
  /// Switches to bits: first a reference point, then those of next_bit.
  void bits();

  bool sends_bits() const { return mode_ == Mode::kBits; }

  /// Delay from the call of next_bit to the middle of that bit's pulse, in samples.
  static constexpr int kDelaySamples = 53;
  static constexpr double kReversalDelay = 3.5;

  /// One sample. @param next_bit  `int next_bit()`: called once per symbol while bits are sent; below 0: no further
  /// bit, the tone follows.  Real-time: yes, O(1).
  template <class NextBit>
  float next(NextBit&& next_bit) {
    if (idle()) return 0;
    if (clock_ >= kSymbol) {
      clock_ -= kSymbol;
      int bit = 0;
      if (mode_ == Mode::kBits) {
        bit = reference_ ? 0 : next_bit();
        reference_ = false;
        if (bit < 0) mode_ = Mode::kTone;
      }
      shift(bit > 0);
    }
    return sample();
  }

 private:
  enum class Mode : uint8_t { kSilence, kTone, kBits };
  static constexpr int kSymbol = 40;  // 1/24000 s
  static constexpr int kSpan = 8;     // symbols of a pulse
  static constexpr int kRamp = 8;     // samples

  bool idle() const { return mode_ == Mode::kSilence && ramp_ == kRamp; }
  void shift(bool turn);
  void fade(float to);
  float sample();

  Oscillator carrier_;
  Oscillator guard_;
  float peak_;
  float guard_peak_[2]{};  // two levels: with tone, with bits
  Mode mode_ = Mode::kSilence;
  bool reference_ = false;
  float symbol_[kSpan]{};  // newest first: 1, -1, or 0 before the first
  int clock_ = 0;          // since the newest symbol, 1/24000 s
  float from_ = 0;         // envelope: silence 0, tone 1, reversed -1
  float to_ = 0;
  int ramp_ = kRamp;
};

}  // namespace offhook
