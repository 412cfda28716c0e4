// SPDX-License-Identifier: MIT
//
// Finds how far the line has slipped: a playout buffer of a packet network moves and takes samples out, or puts some in.
// Symbols, carrier and frame are then where they were, only that many samples away. The samples from a while after the
// slip are kept. For each slip that networks make they are received once more, as if that slip had come before them; the
// owner compares the symbols with the grid.
//
//    begin() at the first sample kept -> put() each sample -> while due(): next(), symbols() -> reset()
//
// At some symbol rates two slips give the same symbols (3200/s at 1920 Hz: those that are 200 samples apart). The shorter
// one comes first.
#pragma once

#include "dsp/blocks/complex.h"
#include "dsp/blocks/interpolator.h"
#include "dsp/blocks/kernels.h"
#include "dsp/qam/hit_recovery.h"

namespace offhook::qam {

class SlipSearch {
 public:
  static constexpr int kTaps = 96;  ///< of the equaliser, T/2 apart
  static constexpr int kSymbols = HitRecovery::kSymbols;

  /// The next sample is the first that is kept; a symbol has just been completed. @param step_samples  between two T/2
  /// samples @param phase  of the carrier loop at that symbol  @param turns  of it, a symbol.  Real-time: yes.
  void begin(const Interpolator& now, float step_samples, Phase phase, float turns);
  /// A sample of the line.  Real-time: yes, O(1).
  void put(float sample) {
    if (state_ != State::kIdle && kept_ < kMostKept) line_[kept_++] = sample;
  }
  /// The symbols since begin() are off the grid: slips are tried from now on.
  void start() {
    if (state_ == State::kKeeping) state_ = State::kSearching;
  }
  void reset() { state_ = State::kIdle; }

  /// The samples for the next slip are there.
  bool due() const { return state_ == State::kSearching && kept_ >= needed(); }
  /// Makes the symbols() after the next slip. @return its samples: lost ones, or below 0 repeated ones.
  /// Real-time: yes; about 60 000 multiplications.  @pre due()
  int next(const Kernels& kernels, const float* tap_re, const float* tap_im);
  /// [kSymbols] of unit power, oldest first.
  const Complex* symbols() const { return symbols_; }

 private:
  enum class State : unsigned char { kIdle, kKeeping, kSearching };

  // Packets and parts of them, then slips of an exchange. Samples of 8000 Hz.
  static constexpr int kSlips[] = {80, -80, 160, -160, 240, -240, 320, -320, 1, -1, 40, -40, 120, -120, 2, -2};
  static constexpr int kMostSlip = 320, kCount = sizeof kSlips / sizeof kSlips[0];
  static constexpr int kRing = 128;      // T/2 samples
  static constexpr int kMostKept = 992;  // at 2400 symbols/s, the longest slip

  int needed() const;

  State state_ = State::kIdle;
  int tried_ = 0, kept_ = 0;
  int enough_ = 0;  // samples for the symbols, without a slip
  Phase phase_;
  float turns_ = 0;
  Interpolator first_, again_;
  float line_[kMostKept];
  Complex symbols_[kSymbols];
  alignas(64) float re_[2 * kRing];
  float im_[2 * kRing];
};

}  // namespace offhook::qam
