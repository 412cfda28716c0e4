// SPDX-License-Identifier: MIT
//
// The receiver for real lines: from samples to equalised symbols. Bits are decoded elsewhere.
//
//   samples -> mixer, interpolator -> S detector           (2 samples per symbol from here)
//                   ^           |---> cyclic training: channel, frequency, clock -> first taps
//             timing loop       '---> equaliser T/2, 96 taps -> carrier loop -> [inverse of the points' warp]
//                                          ^ LMS                   -> whitening filter -> symbol -> decider
//                                          '-------------------------------------- error <-------- reference
//
// S is two symbols in turn, the second the first turned by 90 degrees: lines at the carrier and at both band edges,
// which repeat every four samples. Folded by four they are constant, and at the transition from S to S-bar they change
// sign. This gives the position of the following signal to within a symbol or two.
//
// If that signal is a training sequence of period 48 with a flat spectrum (V.34's PP), the spectrum of one period over
// its own is the channel. Five periods give the noise, the carrier (the common phase step between periods), the clock
// (its slope over frequency), and in closed form the optimal equaliser for the rest of the call. Otherwise the taps
// begin at zero. From then on the caller passes the transmitted point of each symbol, and the error adapts taps,
// carrier and timing. The taps span 48 symbols, the training's period. Least squares over 1024 symbols find
// the taps for which LMS converges slowly (equaliser_fit.h).
//
// A later S (a training to be resumed, a renegotiation) is detected in the same way. Its symbols, through the trained
// taps, give the carrier's phase and the place of S-bar exactly.
//
//   Complex y;
//   if (receiver.process(sample)) {               // at most one symbol per sample
//     const Complex sent = decide(receiver.symbol());
//     receiver.adapt(sent);
//   }
//   switch (receiver.take_event()) { case Receiver::Event::kS: .. case kSBar: .. receiver.s_bar_age() .. }
//
// Everything is float in int16 units; state is plain memory, no allocation. Source: Mueller, Spaulding 1975 (cyclic
// equalisation); Godard 1980; Mueller, Mueller 1976.
#pragma once

#include <stdint.h>

#include "dsp/blocks/band.h"
#include "dsp/blocks/complex.h"
#include "dsp/blocks/hot_lines.h"
#include "dsp/blocks/interpolator.h"
#include "dsp/blocks/kernels.h"
#include "dsp/blocks/s_detector.h"
#include "dsp/qam/equaliser_fit.h"
#include "dsp/qam/hit_recovery.h"
#include "dsp/qam/loop_notes.h"
#include "dsp/qam/noise_predictor.h"
#include "dsp/qam/slip_search.h"

namespace offhook::qam {

/// The signal after S-bar on an unknown line: a repeated sequence of kTaps / 2 symbols with a flat spectrum.
struct CyclicTraining {
  Complex (*symbol)(int n) = nullptr;  ///< of unit magnitude, n = 0, 1, ..; null: no such sequence
  int symbols = 0;                     ///< at least six periods
};

/// Format of the received symbols.
struct SymbolFormat {
  float energy = 2;            ///< mean |x|^2 of the transmitted symbols
  float warp = 0;              ///< NonlinearEncoder::zeta_per_energy() of the far end; 0: none
  Complex whitening[3]{};      ///< h1, h2, h3 of the filter that the far end's precoder reverses; zero: none
  Grid grid = Grid::kUnknown;  ///< of the points; if known, hits of phase and gain are corrected
};

class Receiver {
 public:
  static constexpr int kTaps = EqualiserFit::kTaps;  ///< of the equaliser, T/2 apart
  static constexpr int kPeriod = kTaps / 2;          ///< of a cyclic training, symbols
  static constexpr int kSBarSymbols = 16;            ///< V.32bis 5.2.2, V.34 10.1.3.7
  /// Usual number of window samples after a symbol's main cursor.
  /// An edge of the band may arrive 8 ms after the middle.
  static constexpr int kAfterMain = 48;

  enum class Task : uint8_t {
    kHold,    ///< keep time without adaptation or detection
    kTrain,   ///< detect S, S-bar and the signal after them on an unknown line
    kResume,  ///< detect S and S-bar on the known line
    kFollow   ///< receive symbols, and detect S
  };
  enum class Event : uint8_t { kNone, kS, kSBar };

  Receiver() = default;
  /// Not strictly real-time: fills tables (about 0.3 ms). Starts with Task::kHold.
  /// @param training  the signal after S-bar; without one, taps begin at zero and are trained by adapt()
  void init(const Band& band, const CyclicTraining& training = {}, const Kernels& kernels = best_kernels());
  /// Sets the task from the next sample on. kFollow does not interrupt a cyclic training.
  void set_task(Task task);
  Task task() const { return task_; }

  /// One sample of the line, without echo.  @return whether there is a new
  /// symbol(). Real-time: yes; O(taps). The sample after a cyclic training,
  /// which computes the equaliser, takes about 20,000 multiplications.
  bool process(float sample) { return put(sample, false); }
  /// One sample was lost: time advances without adaptation, and symbols that depend on the sample are erased().
  bool process_lost() { return put(0, true); }

  /// @return the event since the last call
  Event take_event() {
    const Event e = event_;
    event_ = Event::kNone;
    return e;
  }
  /// At Event::kSBar: symbols of S-bar that have passed.
  int s_bar_age() const { return s_bar_age_; }
  /// At Event::kSBar: symbols from the first of S-bar to the next one from process(). With a known equaliser it is
  /// s_bar_age(), otherwise S-bar and the cyclic training.
  int symbols_skipped() const { return symbols_skipped_; }

  /// The newest symbol: after the whitening filter, in units in which transmitted symbols have the format's energy.
  Complex symbol() const { return symbol_; }
  /// The newest symbol depends on lost samples.
  bool erased() const { return lost_ > 0; }
  /// Symbols are off the grid, and recovery is in progress.
  bool off_grid() const { return hits_.waiting(); }
  /// The point sent as the newest symbol.  Real-time: yes, O(taps).  @pre process() has just returned true
  void adapt(Complex reference);

  /// As adapt(), but without adaptation: it only corrects a hit of phase or gain.
  void look_for_hit(Complex reference) {
    if (format_.grid != Grid::kUnknown) follow_hits(norm(reference - symbol_));
  }

  /// Enables the search for slips of the line while the grid is known. Repeated samples are then dropped here; the
  /// owner has to replace lost ones.
  void set_finds_slips(bool finds) { finds_slips_ = finds; }
  /// Samples that the line has lost: call process_lost() as many times before the next sample.
  int take_missing() {
    const int n = missing_;
    missing_ = 0;
    return n;
  }
  /// Slips found since init().
  uint32_t slips() const { return slips_found_; }

  Loops loops() const { return {phase_, frequency_, deviation_, symbols_}; }
  /// Restores both loops because the adaptation since `then` was wrong. @param then  recent.  Real-time: yes, O(1).
  void go_on_from(const Loops& then);

  /// What adaptation has learnt.
  struct Learnt {
    Loops loops;
    HitRecovery hits;
    float tap_re[kTaps]{}, tap_im[kTaps]{};
  };
  /// Real-time: yes, O(taps).
  void keep(Learnt* learnt) const;
  /// Restores it because the adaptation since then was wrong. @param then  recent.  Real-time: yes, O(taps).
  void go_back_to(const Learnt& then);

  /// Sets the format of the symbols from the next one on.
  void set_format(const SymbolFormat& format);

  /// The memory that process() and adapt() use while they follow symbols.
  void add_to(HotLines* hot) const;
  void add_heads_to(HotLines* hot) const { hot->add_up_to(&whitening_, re_); }  ///< the memory that add_to() reads

  bool trained() const { return trained_; }
  /// Mean |x|^2 over the mean |error|^2 of the output symbols; 0 before the first one.
  float snr() const { return error_power_ > 0 ? reference_power_ / error_power_ : 0; }
  /// The noise, measured while there is neither whitening filter nor warp, and only after a cyclic training. A caller
  /// with a cyclic training requests a whitening filter.
  const NoisePredictor& noise() const { return noise_; }

  // Instruments.
  float clock_ppm() const { return static_cast<float>(deviation_ * -1e6); }  ///< of the far symbol clock, re ours
  float carrier_offset_hz() const;                                           ///< of the received carrier, re nominal
  float signal_power() const { return power_; }                              ///< mean square, int16 units, of the line
  const float* tap_re() const { return tap_re_; }                            ///< [kTaps]
  const float* tap_im() const { return tap_im_; }

 private:
  enum class Stage : uint8_t { kIdle, kSeek, kInS, kInSBar, kCapture };
  // From one period of the cyclic training to the next.
  struct Drift {
    float turns = 0;  // of the carrier
    float delay = 0;  // T/2 samples
    Phase over(float periods, int bin) const;
  };
  static constexpr int kPeriods = 5;     // of the cyclic training that are measured
  static constexpr int kCaptureAt = 40;  // symbol of the training where that begins, after the line's echo of S-bar
  static constexpr int kRing = 128;      // T/2 samples kept for the taps and the whitening filter
  static constexpr int kRecent = 128;    // symbols kept for S and for hits

  bool put(float sample, bool lost);
  bool half_symbol(Complex u);
  void equalise();
  void watch(Complex u);
  void begin_training();
  void begin_at_zero();
  void adapt_from_now();
  void resume();
  bool follow_hits(float squared_error);
  void turn_back();
  void watch_for_slip(bool waited);
  void try_slip();
  int gap_samples() const;
  void follow_frequency_of_s(int parity, int middle);
  void follow_wander(float late);
  void fit(const float* re, const float* im, Complex wanted);
  void capture(Complex u);
  void train();
  Drift measure_drift() const;
  float average_periods(const Drift& drift, Complex* mean);
  float estimate_channel(const Complex* received, Complex* channel) const;
  Complex whitened(int i) const;

  const Kernels* kernels_ = nullptr;
  double symbol_hz_ = 3200;
  float symbol_samples_ = 2.5f;
  CyclicTraining training_;
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

  int at_ = 0;        // of the newest T/2 sample
  bool odd_ = false;  // whether the next T/2 sample is between two symbols
  bool trained_ = false;
  bool emitting_ = false;
  int skip_ = 0;        // symbols until the first one that is returned
  int after_main_ = 0;  // samples of the window after a symbol's main cursor
  float input_power_ = 1;
  float step_ = 0;        // LMS, normalised
  uint32_t symbols_ = 0;  // since training
  uint32_t settles_from_ = 0;
  uint32_t fitted_ = 0;  // symbols_ at the last one given to fit_

  Phase phase_;                            // carrier loop
  float frequency_ = 0;                    // turns a symbol
  float late_sum_ = 0, late_squares_ = 0;  // of the symbols of a window
  int late_count_ = 0;
  int steady_windows_ = 0;
  float timing_boost_ = 1;  // of the timing loop's gain
  Complex rotation_{1, 0};  // of the newest symbol

  float scale_ = 1, per_scale_ = 1;  // from unit power to grid units, and back
  SymbolFormat format_;
  bool whitening_ = false;
  Complex x_[3]{};  // the last three symbols, before the whitening filter
  Complex symbol_{};
  Complex previous_[2]{};  // the previous two symbols
  Complex previous_error_{};
  float reference_power_ = 0;
  float error_power_ = 0;
  NoisePredictor noise_;
  HitRecovery hits_;
  bool finds_slips_ = false;
  int missing_ = 0, surplus_ = 0;  // samples to replace, or to drop
  uint32_t slips_found_ = 0;
  LoopNotes notes_;  // at the ends of windows with the usual error

  int recent_at_ = 0;

  // The last kRing T/2 samples, twice in a row; unfiltered and through the whitening filter.
  alignas(64) float re_[2 * kRing]{};
  float im_[2 * kRing]{};
  alignas(64) float tap_re_[kTaps]{};
  float tap_im_[kTaps]{};
  // The last symbols of unit power, before grid and filters, to detect S.
  Complex recent_[kRecent]{};
  alignas(64) float filtered_re_[2 * kRing]{};
  float filtered_im_[2 * kRing]{};

  EqualiserFit fit_;
  SlipSearch slip_search_;
  // S-bar and the cyclic training.
  int until_resolved_ = 0;  // symbols until S-bar has passed half of the equaliser
  int until_capture_ = 0;   // T/2 samples
  int captured_ = 0;
  float training_power_ = 0;
  Complex spectrum_[kPeriods][kTaps];
};

}  // namespace offhook::qam
