// SPDX-License-Identifier: MIT
//
// The receiver of the control channel: from samples of the line to symbols. Bits are read elsewhere (control_reader.h).
//
//   samples -> matched filter, carrier off -> spectra of 8 symbols -> PPh, Sh and S-bar-h, AC    (2 samples per symbol)
//                   ^                |             '-> first taps, carrier
//             timing loop            '-> equaliser T/2, 16 taps -> carrier loop -> symbol, decision
//                                             ^ LMS ------------------------------- error
//
// PPh repeats every eight symbols and has a flat spectrum. Two of its periods give the carrier's offset, and in closed
// form the equaliser of least mean squared error, at any phase of the sampling. Sh is two symbols in turn: lines at the
// carrier and 300 Hz above and below it. On the known line their phases give the timing, and the fourth power of the
// equalised symbols the carrier's phase. S-bar-h is Sh with its sign changed.
//
// Everything is float in int16 units; state is plain memory, no allocation.
#pragma once

#include <stdint.h>

#include "dsp/blocks/kernels.h"
#include "dsp/v22/sampler.h"
#include "dsp/v34/coding/training.h"
#include "offhook/pump.h"

namespace offhook::v34 {

class ControlReceiver {
 public:
  enum class Event : uint8_t {
    kNone,
    kPph,    ///< the taps are trained; symbols follow
    kShBar,  ///< Sh and S-bar-h were received; symbols follow
    kAc      ///< AC for 100 ms, once
  };
  static constexpr int kTaps = 16;  ///< of the equaliser, T/2 apart

  /// @param far  role of the far end
  explicit ControlReceiver(oh_pump_role far, const Kernels& kernels = best_kernels());

  /// Waits for PPh, and also for Sh if the taps are trained. There are no symbols until then.
  void seek();
  /// Waits for AC only.
  void rest();
  /// Selects sixteen points; otherwise four.
  void decide(TrainingPoints points) { points_ = points; }

  /// One sample of the line.  @return whether there is a new symbol().  Real-time: yes, O(taps); every thirteenth
  /// sample computes a spectrum.
  bool process(float sample);
  Event take_event() {
    const Event e = event_;
    event_ = Event::kNone;
    return e;
  }
  /// The newest symbol's decision, in grid units of the points.
  Point decision() const { return decision_; }

 private:
  static constexpr int kRing = 64;          // T/2 samples kept
  static constexpr int kBins = 16;          // of a spectrum: T/2 samples of one period of PPh
  static constexpr int kPeriodSymbols = 8;  // of PPh
  enum class Stage : uint8_t { kIdle, kSeek, kInSh, kPhase, kRun };

  struct Spectrum {
    Complex bin[kBins];
    float power;  // sum over the bins
  };
  Complex ago(int n) const { return ring_at(at_ + kRing - n); }
  Complex ring_at(int i) const { return {re_[i], im_[i]}; }
  void half_symbol(Complex u);
  void look();
  void transform(int newest_ago, float turns_per_sample, Spectrum* s) const;
  bool is_pph(float coherence, float turns, const Spectrum& s) const;
  void train(float turns);
  void meet_sh(const Spectrum& s);
  void watch_sign(Complex u);
  void find_phase();
  bool equalise();
  void adapt();
  void follow_timing(Complex error);

  const Kernels* kernels_;
  v22::Sampler sampler_;
  Stage stage_ = Stage::kIdle;
  Event event_ = Event::kNone;
  bool trained_ = false;
  TrainingPoints points_ = TrainingPoints::k4;

  float re_[2 * kRing]{};  // T/2 samples, each twice
  float im_[2 * kRing]{};
  int at_ = 0;
  bool odd_ = false;  // whether the newest T/2 sample is between two symbols
  float power_ = 0;

  Spectrum spectrum_[kPeriodSymbols]{};  // of the last periods, one for each symbol
  float coherence_[kPeriodSymbols]{};    // correlation of each with the previous period
  float turns_[kPeriodSymbols]{};        // turn of the carrier in that period
  int newest_ = 0;
  int sh_for_ = 0, ac_for_ = 0;  // symbols
  float sign_ = 0, sign_power_ = 0;
  int settle_ = 0;  // symbols until the equaliser contains only samples of the new timing
  int hold_ = 0;    // symbols until the taps adapt
  bool awaits_s_bar_ = false;
  int until_given_up_ = 0;  // symbols
  Complex fourth_{};
  int fourths_ = 0;

  float reference_angle_ = 0;  // turns of the lines 300 Hz above and below the carrier, at training
  alignas(64) float tap_re_[kTaps]{};
  float tap_im_[kTaps]{};
  float input_power_ = 1;
  Phase phase_;
  float frequency_ = 0;  // turns a symbol
  double deviation_ = 0;
  Complex rotation_{1, 0};
  Complex symbol_{};
  Point decision_{};
  Complex previous_[2]{};
  Complex previous_error_{};
  uint32_t symbols_ = 0;  // since the stage was entered
};

}  // namespace offhook::v34
