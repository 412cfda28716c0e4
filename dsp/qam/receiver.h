// SPDX-License-Identifier: MIT
//
// The receiver for real lines: from samples to equalised symbols. It knows no bits.
//
//   samples -> mixer, interpolator -> S detector           (2 samples a symbol from here)
//                   ^           |---> PP: channel, frequency, clock -> first taps
//             timing loop       '---> equaliser T/2, 96 taps -> carrier loop -> [inverse non-linear encoder]
//                                          ^ LMS                   -> whitening filter -> symbol -> decider
//                                          '-------------------------------------- error <-------- reference
//
// S is two symbols in turn: lines at the carrier and at both band edges, which repeat every four samples; folded by
// four they stand still, and where S turns into S-bar they change sign. From there PP's place is known to a symbol or
// two. PP has period 48 and a flat spectrum, so the spectrum of one period over PP's own is the channel. Five periods
// give the noise, the carrier (their common turn from one to the next) and the clock (its slope over frequency); the
// equaliser that is optimal for all that follows in closed form. From then on the caller gives for each symbol the
// point that was sent, and the error moves taps, carrier and timing. The taps span 48 symbols, PP's period; what LMS is
// slow to find of them, least squares over 1024 symbols of TRN do (equaliser_fit.h).
//
// S after that (the far end's Phase 4, a renegotiation) is looked for in the same way; its symbols, through the taps
// that are known, give the carrier's phase and the place of S-bar exactly.
//
//   Complex y;
//   if (receiver.process(sample)) {               // at most one symbol a sample
//     const Complex sent = decide(receiver.symbol());
//     receiver.adapt(sent);
//   }
//   switch (receiver.take_event()) { case Receiver::Event::kS: .. case kSBar: .. receiver.s_bar_age() .. }
//
// Everything is float in int16 units; state is plain memory, no allocation. Source: V.34 10.1.3.6, 10.1.3.7; Mueller,
// Spaulding 1975 (cyclic equalisation); Godard 1980; Mueller, Mueller 1976.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/interpolator.h"
#include "dsp/blocks/kernels.h"
#include "dsp/blocks/s_detector.h"
#include "dsp/qam/equaliser_fit.h"
#include "dsp/qam/noise_predictor.h"
#include "dsp/v34/coding/framing.h"
#include "dsp/v34/coding/nonlinear.h"
#include "dsp/v34/coding/precoder.h"
#include "dsp/v34/coding/training.h"

namespace offhook::v34 {

class Receiver {
 public:
  static constexpr int kTaps = 2 * kPpPeriod;  ///< of the equaliser, T/2 apart
  static constexpr int kSBarSymbols = 16;      ///< 10.1.3.7

  enum class Task : uint8_t {
    kHold,    ///< keep time, adapt to nothing, look for nothing
    kTrain,   ///< look for S, S-bar and PP of an unknown line
    kResume,  ///< look for S and S-bar of the line it knows
    kFollow   ///< symbols come; look for S, too
  };
  enum class Event : uint8_t { kNone, kS, kSBar };

  Receiver() = default;
  /// Not real-time in the strict sense: fills tables (about 0.3 ms). Starts with Task::kHold.
  /// @param has_pp  PP follows S-bar; without it, as in V.32bis, taps begin at zero and grow from the symbols that
  /// adapt() is given
  void init(SymbolRate symbol_rate, Carrier carrier, const Kernels& kernels = best_kernels(), bool has_pp = true);
  /// What to do from the next sample on. kFollow while PP is being waited for or heard does not interrupt that.
  void set_task(Task task);
  Task task() const { return task_; }

  /// One sample of the line, echo taken off.  @return true when there is a new symbol().
  /// Real-time: yes; O(taps), but for the one sample after PP that makes the equaliser: about 20 000 multiplications.
  bool process(float sample) { return put(sample, false); }
  /// One sample was lost: time goes on, nothing is adapted, symbols that heard of it are erased().
  bool process_lost() { return put(0, true); }

  /// @return what happened since it was last called.
  Event take_event() {
    const Event e = event_;
    event_ = Event::kNone;
    return e;
  }
  /// At Event::kSBar: symbols of S-bar that have passed.
  int s_bar_age() const { return s_bar_age_; }
  /// At Event::kSBar: symbols from the first of S-bar up to the next that process() brings. It is s_bar_age() when the
  /// equaliser was known, else S-bar and PP: symbols begin with TRN.
  int symbols_skipped() const { return symbols_skipped_; }

  /// The newest symbol: after the whitening filter, in units in which transmitted symbols have set_grid's energy.
  Complex symbol() const { return symbol_; }
  /// It was heard through a gap.
  bool erased() const { return lost_ > 0; }
  /// The point that was sent for the newest symbol.  Real-time: yes, O(taps).  @pre process() has just returned true
  void adapt(Complex reference);

  /// Mean |x|^2 in grid units of the symbols that come: 2 for four points, 10 for sixteen, DataParameters for data.
  /// No whitening filter, no non-linear encoder.
  void set_grid(float energy);
  /// Data mode. @param energy  mean |x|^2 before the non-linear encoder  @param transmitted  and after it
  /// @param nonlinear  Theta = 0.3125  @param h  the far transmitter's precoder: makes the whitening filter
  void set_data(float energy, float transmitted, bool nonlinear, const PrecoderCoefficients& h);

  bool trained() const { return trained_; }
  /// Mean |x|^2 over the mean |error|^2 of the symbols as they are given out; 0 before there is any.
  float snr() const { return error_power_ > 0 ? reference_power_ / error_power_ : 0; }
  /// The noise before the whitening filter: what MP type 1 can make of it. Measured with set_grid's symbols.
  const NoisePredictor& noise() const { return noise_; }

  // Instruments.
  float clock_ppm() const { return static_cast<float>(deviation_ * -1e6); }  ///< far symbol clock against ours
  float carrier_offset_hz() const;                                           ///< received against nominal carrier
  float timing_error() const { return timing_error_; }                       ///< smoothed, symbols
  float signal_power() const { return power_; }                              ///< mean square, int16 units, of the line
  const float* tap_re() const { return tap_re_; }                            ///< [kTaps]
  const float* tap_im() const { return tap_im_; }

 private:
  enum class Stage : uint8_t { kIdle, kSeek, kInS, kInSBar, kCapture };
  static constexpr int kPeriods = 5;     // of PP that are measured
  static constexpr int kCaptureAt = 40;  // symbol of PP at which that begins: the line's echo of S-bar has gone
  static constexpr int kRing = 128;      // T/2 samples kept: the taps' and the whitening filter's
  static constexpr int kRecent = 128;    // symbols kept for S

  bool put(float sample, bool lost);
  bool half_symbol(Complex u);
  void equalise();
  void watch(Complex u);
  void expect_pp();
  void begin_at_zero();
  void adapt_from_now();
  void resume();
  void fit(const float* re, const float* im, Complex wanted);
  void capture(Complex u);
  void train();
  void refilter();

  const Kernels* kernels_ = nullptr;
  SymbolRate symbol_rate_ = SymbolRate::k3200;
  double symbol_hz_ = 3200;
  Task task_ = Task::kHold;
  Stage stage_ = Stage::kIdle;
  Event event_ = Event::kNone;
  int s_bar_age_ = 0;
  int symbols_skipped_ = 0;
  int lost_ = 0;  // samples until a gap has left the filters

  Interpolator interpolator_;
  double deviation_ = 0;  // of the output spacing from nominal
  double offset_hz_ = 0;  // mixed away
  float power_ = 0;

  SDetector detector_;

  // The last kRing T/2 samples, twice in a row; as they are and through the whitening filter.
  int at_ = 0;
  bool odd_ = false;  // the next T/2 sample lies between two symbols
  float re_[2 * kRing]{};
  float im_[2 * kRing]{};
  float filtered_re_[2 * kRing]{};
  float filtered_im_[2 * kRing]{};

  bool has_pp_ = true;
  bool trained_ = false;
  bool emitting_ = false;
  int skip_ = 0;        // symbols until the first that is given out
  int after_main_ = 0;  // samples of the window after a symbol's main cursor
  float tap_re_[kTaps]{};
  float tap_im_[kTaps]{};
  float input_power_ = 1;
  float step_ = 0;        // LMS, normalised
  uint32_t symbols_ = 0;  // since training
  uint32_t settles_from_ = 0;
  EqualiserFit fit_;
  uint32_t fitted_ = 0;  // symbols_ of the last that fit_ was given

  uint32_t phase_ = 0;   // carrier loop, 2^-32 turns
  float frequency_ = 0;  // turns a symbol
  float timing_error_ = 0;
  Complex rotation_{1, 0};  // of the newest symbol

  float scale_ = 1;  // from unit power to grid units
  bool nonlinear_ = false;
  NonlinearEncoder inverse_;
  bool whitening_ = false;
  Complex h_[3]{};
  Complex x_[3]{};  // the last three symbols before the whitening filter
  Complex symbol_{};
  Complex previous_[2]{};  // the two symbols before
  Complex previous_error_{};
  float reference_power_ = 0;
  float error_power_ = 0;
  NoisePredictor noise_;

  // The last symbols, unit power, before grid and filters: what S looks like.
  int recent_at_ = 0;
  Complex recent_[kRecent]{};

  // PP.
  int until_resolved_ = 0;  // symbols until S-bar is half way through the equaliser
  int until_capture_ = 0;   // T/2 samples
  int captured_ = 0;
  float pp_power_ = 0;
  Complex spectrum_[kPeriods][kTaps];
};

}  // namespace offhook::v34
