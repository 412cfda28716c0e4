// SPDX-License-Identifier: MIT
//
// Converts samples to points of the tones, symbol by symbol, and learns the necessary parameters:
//
//    tones      one window at a time, whether the handshake's tones are present
//    search     REVERB without prefix: the window moves to where the channel's energy lies behind its start
//    lock       the timing loop follows the tones
//    measure    mean of the received tones and of their powers; from these the time-domain equaliser, one delay
//               per symbol
//    gains      the frequency-domain equaliser: mean of the tones behind the time-domain one
//    ready      points; the frequency-domain equaliser follows the known or decided points. In MEDLEY each tone gets
//    its own time-domain equaliser (tone_equaliser.h)
//
// The far clock differs: the phases of all tones give the delay in samples, every tone is rotated back by it, and the
// window moves by a sample when the delay reaches half a sample. Nothing is resampled. The pilot alone is not enough: a
// bridged tap can cancel it, and its intersymbol interference would rotate every tone.
//
// Lost samples are zeros in their place. A symbol with lost samples, or with a pilot of another size than before, is
// marked and not used for adaptation.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/kernels.h"
#include "dsp/blocks/real_fft.h"
#include "dsp/dmt/shortening.h"
#include "dsp/dmt/tone_equaliser.h"
#include "dsp/dmt/tones.h"

namespace offhook::dmt {

class Receiver {
 public:
  enum class Stage : uint8_t { kTones, kSearch, kLock, kMeasure, kShorten, kGains, kReady };

  static constexpr int kLockSymbols = 128;
  static constexpr int kMeasureSymbols = 256;
  static constexpr int kGainSymbols = 64;
  /// Symbols from the first one found until Stage::kReady, without those of the search.
  static constexpr int kTrainingSymbols = kLockSymbols + kMeasureSymbols + Shortening::kTaps + kGainSymbols;

  explicit Receiver(const Band& band);

  /// Returns to Stage::kTones. Real-time: yes.
  void reset();
  /// Goes from Stage::kTones to Stage::kSearch.
  void search();

  /// One sample. @return whether a symbol is complete, which the functions below describe. Real-time: yes; O(n log n)
  /// when true.
  bool put(float sample) { return take(sample, true); }
  /// Samples that put() takes before the one that completes a symbol.
  int until_symbol() const { return static_cast<int>(start_ + band_.points - now_) - 1; }
  /// The same as n calls of put() that complete no symbol. @pre n <= until_symbol(). Real-time: yes, O(n).
  void store(const int16_t* samples, int n);
  /// A sample that was lost.
  bool lost() { return take(0, false); }

  Stage stage() const { return stage_; }
  bool spoiled() const { return spoiled_; }  ///< samples of this symbol were lost
  bool trusted() const { return !spoiled_ && !doubtful_; }
  /// Stage::kTones: the share of these tones in the steady signal of the band, 0 to 1. @param tones  of the band
  float share(const int* tones, int n) const;
  /// Stage::kReady: [band.tones()] unit power.
  const Complex* points() const { return points_; }
  /// The share of `reference` in the symbol: 1 is all of it, -1 its negative. @param[in] reference  [tones] unit power
  float likeness(const Complex* reference) const;
  /// The octet that the octet symbol most likely carries.
  uint8_t octet(const Complex* reverb) const;
  /// Adapts the equaliser: `sent` has the correct points; tones with zero keep their coefficients.
  /// @param step  of the LMS, 0 to 1
  void learn(const Complex* sent, float step);
  /// Stage::kReady: adapts the timing loop to the correct points, except tones with zero. Call it for each known
  /// symbol. Real-time: yes, O(tones).
  void follow(const Complex* sent);
  /// follow() weights each tone by its noise. @param[in] error  [tones] mean square of points of unit power; 0: unknown
  void weigh_timing(const float* error);
  /// Each tone's time-domain equaliser is fitted: begin_fit(), add_to_fit() for each symbol whose points are known, and
  /// fit() once per symbol until it returns true. Meanwhile the caller must not call learn().
  void begin_fit() { tone_equaliser_.begin_fit(); }
  void add_to_fit(const Complex* sent);
  /// Whether there are enough symbols.
  bool may_fit() const { return tone_equaliser_.symbols() >= ToneEqualiser::kLeastSymbols; }
  bool fit() { return tone_equaliser_.fit(equaliser_); }
  /// From the next symbol on, each has a prefix.
  void begin_prefix();

  float clock_ppm() const { return -drift_ / static_cast<float>(symbol_) * 1e6f; }  ///< of the far clock, re ours
  float rms() const { return rms_; }  ///< of the samples of the last symbol

 private:
  static constexpr int kBuffer = 2048;
  static constexpr int kEdge = 2;  // samples of the prefix that the target leaves free

  bool take(float sample, bool good);
  void transform();
  void turn_back();
  void watch_pilot();
  void keep_time();
  void steer(const Complex* is, const Complex* sent, const float* weight);
  void expect_reverb(int samples);
  void smooth();
  void search_symbol();
  void measure_symbol();
  void gains_symbol();
  void equalise();
  void move_window(int samples) { start_ += samples; }

  const Band band_;
  const Kernels& kernels_;
  RealFft fft_;
  Shortening shortening_;
  ToneEqualiser tone_equaliser_;
  Stage stage_ = Stage::kTones;
  int64_t count_ = 0;      // symbols of this stage
  int64_t now_ = 0;        // samples taken
  int64_t start_ = 0;      // of the window
  int64_t bad_until_ = 0;  // samples before this one are not all valid
  int symbol_ = 0;         // samples between two windows
  bool spoiled_ = false, doubtful_ = false;
  float rms_ = 0;

  // timing: delay of the far signal since the loop was started, in samples
  float offset_ = 0, drift_ = 0;
  float pilot_size_ = 0, pilot_noise_ = 0;  // its mean, and its mean square deviation
  bool following_ = false;

  float weight_sum_ = 0;
  bool shortened_ = false;
  Complex reverb_[kMostTones]{}, received_[kMostTones]{}, points_[kMostTones]{};
  Complex mean_[kMostTones]{}, equaliser_[kMostTones]{}, turned_[kMostTones]{};  // turned_ after the timing loop
  Complex expected_[kMostTones]{};  // until Stage::kReady: received tones of REVERB
  float power_[kMostTones]{}, weight_[kMostTones]{}, timing_weight_[kMostTones]{};
  float buffer_[kBuffer]{};
};

}  // namespace offhook::dmt
