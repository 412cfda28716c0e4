// SPDX-License-Identifier: MIT
//
// Finds the length of a slip of the line: a playout buffer of a packet network moves, and samples are lost or repeated.
// Symbols, carrier and frame are then unchanged, but that many samples earlier or later. The samples from some time
// after the slip are kept. For each slip that networks make they are received once more, as if that slip had come
// before them. The owner compares the symbols with the grid.
//
// The samples that a network drops are those of its clock. They last as many of ours if it has our clock, and a part of
// a sample more or less if it has the far modem's. Both are tried if that part matters.
//
//    begin() at the first sample kept -> put() each sample -> while due(): next(), symbols(), judge() -> reset()
//
// Two slips can give the same symbols: at 3200 symbols/s and 1920 Hz if they are 25 samples apart, which is 10 symbols
// and 6 turns of the carrier. The first of kSlips is then taken.
#pragma once

#include "dsp/blocks/complex.h"
#include "dsp/blocks/interpolator.h"
#include "dsp/blocks/kernels.h"
#include "dsp/qam/equaliser_fit.h"
#include "dsp/qam/hit_recovery.h"
#include "dsp/qam/loop_notes.h"

namespace offhook::qam {

class SlipSearch {
 public:
  static constexpr int kTaps = EqualiserFit::kTaps;  ///< of the equaliser, T/2 apart
  static constexpr int kSymbols = HitRecovery::kSymbols;

  /// Keeps samples from the next one on. @pre a symbol has just been completed. @param step_samples  between two T/2
  /// samples  @param then  both loops before the slip  @param phase  of the carrier at that symbol.  Real-time: yes.
  void begin(const Interpolator& now, float step_samples, const Loops& then, Phase phase);
  /// A sample of the line.  Real-time: yes, O(1).
  void put(float sample) {
    if (state_ != State::kIdle && kept_ < kMostKept) line_[kept_++] = sample;
  }
  /// The symbols since begin() are off the grid: slips are tried from now on.
  void start() {
    if (state_ == State::kKeeping) state_ = State::kSearching;
  }
  void reset() { state_ = State::kIdle; }

  /// Whether the samples for the next slip are available.
  bool due() const { return state_ == State::kSearching && kept_ >= needed(); }
  /// Computes the symbols() after the next slip. @param tap_re,tap_im  [kTaps] of the equaliser  @return its length in
  /// samples of 8000 Hz: lost ones, or repeated ones if negative.  Real-time: yes; about 130,000 multiplications.
  /// @pre due()
  int next(const Kernels& kernels, const float* tap_re, const float* tap_im);
  /// Takes HitRecovery::misfit() of the symbols. @return true: the search is over, and found() is the slip. Its length
  /// is measured by this end's clock or by the far modem's, whichever fits better.
  bool judge(float misfit);
  struct Slip {
    int samples = 0;  ///< lost ones, or repeated ones if negative
    float part = 0;   ///< additional fraction of a sample
    float misfit = 1;
  };
  const Slip& found() const { return found_; }
  /// [kSymbols] of unit power, oldest first.
  const Complex* symbols() const { return symbols_; }

 private:
  enum class State : unsigned char { kIdle, kKeeping, kSearching };

  // Packets and parts of them, then slips of an exchange. In samples of 8000 Hz.
  static constexpr int kSlips[] = {80, -80, 160, -160, 240, -240, 320, -320, 1, -1, 40, -40, 120, -120, 2, -2};
  static constexpr int kMostSlip = 320, kCount = sizeof kSlips / sizeof kSlips[0];
  // Of a sample: at 3674 Hz, the end of V.34's widest band, 45 dB below the signal.
  static constexpr float kLeastPart = 0.002f;
  static constexpr int kRing = 128;                     // T/2 samples
  static constexpr int kHalves = kTaps + 2 * kSymbols;  // T/2 samples that fill the equaliser and give the symbols
  static constexpr int kMostKept = Interpolator::kTaps + kHalves * 8000 / (2 * 2400) + 2 + kMostSlip;  // at 2400/s

  /// The next slip to try: first by this end's clock, then by the far modem's.
  int slip() const { return kSlips[tried_ / 2]; }
  float part_of_next() const { return tried_ % 2 == 0 ? 0 : static_cast<float>(slip()) * deviation_; }
  void advance();
  int needed() const;

  State state_ = State::kIdle;
  int tried_ = 0, kept_ = 0;
  float deviation_ = 0;
  Slip newest_, found_;
  int enough_ = 0;  // samples needed for the symbols, without a slip
  Phase phase_;
  float turns_ = 0;
  Interpolator first_;
  float line_[kMostKept]{};
  Complex symbols_[kSymbols]{};
  // The last kRing T/2 samples, twice in a row.
  alignas(64) float re_[2 * kRing]{};
  float im_[2 * kRing]{};
};

}  // namespace offhook::qam
