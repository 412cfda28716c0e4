// SPDX-License-Identifier: MIT
//
// The receiver: from samples of the line to decided points of V.22bis. Bits are decoded elsewhere.
//
//   samples -> matched filter -> carrier of the channel off -> S1 detector      (2 samples per symbol from here)
//                   ^                            '-> timing at first, carrier at first
//             timing loop                        '-> equaliser T/2, 32 taps -> carrier loop -> decision
//                                                         ^ LMS ------------------------------- error
//
// The transmitter begins with four points, so the receiver needs no prior knowledge: the beat of two neighbouring
// samples gives the timing, the fourth power of the symbols gives the carrier, and the taps begin with a single one.
// Sixteen points are decided once the taps have converged on four.
//
// Everything is float in int16 units; state is plain memory, no allocation. Source: Lee 2002 (timing from two samples
// per symbol); Mueller, Mueller 1976.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/kernels.h"
#include "dsp/blocks/nco.h"
#include "dsp/v22/coding.h"
#include "dsp/v22/s1_detector.h"
#include "dsp/v22/sampler.h"

namespace offhook::v22 {

class Receiver {
 public:
  static constexpr int kTaps = 32;  ///< of the equaliser, T/2 apart
  /// Delay from the line to the newest T/2 sample, in samples.
  static constexpr int kDelay = Sampler::kDelay;

  Receiver(Channel channel, const Kernels& kernels);

  /// Forgets the far end's clock, carrier and channel. Searches for a modulated signal, and trains on its four points.
  void acquire();
  /// Selects sixteen points; otherwise four.
  void decide_sixteen(bool sixteen) { sixteen_ = sixteen; }
  bool decides_sixteen() const { return sixteen_; }

  /// One sample of the line.  @return whether there is a new symbol().  Real-time: yes, O(taps).
  bool process(float sample) { return put(sample, false); }
  /// One sample was lost: time advances, without adaptation until the sample has left the filters.
  bool process_lost() { return put(0, true); }

  /// The newest symbol in the units of point(), and its decision.
  Complex symbol() const { return symbol_; }
  Decision decision() const { return decision_; }
  /// Symbols come.
  bool running() const { return stage_ == Stage::kRun; }
  uint32_t symbols() const { return symbols_; }  ///< since then

  S1Detector::Event take_s1_event() {
    const S1Detector::Event e = s1_event_;
    s1_event_ = S1Detector::Event::kNone;
    return e;
  }
  /// At S1Detector::Event::kEnd: samples since S1 ended on the line.
  int s1_end_age() const { return kDelay + s1_.end_age() * 20 / 3; }
  bool in_s1() const { return s1_.in_s1(); }

  /// Whether there is a signal in the channel (3.2, 3.3).
  bool carrier() const { return carrier_ && quiet_ <= kGoneFor; }
  /// Duration of a modulated signal, in T/2.
  int heard() const { return heard_; }
  /// The signal is the far end's, so a change of level or a short absence does not end it.
  void confirm() { sure_ = true; }
  bool confirmed() const { return sure_; }
  /// Mean square of the signal on the line.
  float line_power() const { return power_ * static_cast<float>(1 / kReceivedPower); }
  /// Mean squared distance of symbol and decision, over 64 symbols.
  float error() const { return error_; }
  float snr() const { return error_ > 0 ? kMeanEnergy / error_ : 0; }
  float clock_ppm() const { return static_cast<float>(deviation_ * -1e6); }
  float carrier_offset_hz() const { return frequency_ * kSymbolHz; }
  const float* tap_re() const { return tap_re_; }
  const float* tap_im() const { return tap_im_; }

 private:
  enum class Stage : uint8_t { kSeek, kCarrier, kRun };
  static constexpr int kRing = 64;          // T/2 samples kept
  static constexpr int kFirstSymbols = 32;  // used to measure the carrier
  static constexpr int kGoneFor = 40;       // T/2 samples; circuit 109 goes off after 40 to 65 ms (3.2)

  bool put(float sample, bool lost);
  bool half_symbol(Complex u);
  void follow_level(Complex u);
  void seek(Complex u);
  void find_carrier(Complex u);
  void start();
  void equalise();
  void adapt();
  void follow_gain(Complex reference);
  void follow_timing(Complex error, float gain);
  Complex ago(int n) const { return {re_[at_ + kRing - n], im_[at_ + kRing - n]}; }

  const Kernels* kernels_;
  Stage stage_ = Stage::kSeek;
  bool sixteen_ = false;
  int lost_ = 0;  // samples until a gap has left the filters

  Sampler sampler_;
  double deviation_ = 0;  // of the spacing from nominal

  float re_[2 * kRing]{};  // T/2 samples, each twice
  float im_[2 * kRing]{};
  int at_ = 0;
  bool odd_ = false;  // whether the next T/2 sample is between two symbols

  float power_ = 0, fast_ = 0;
  bool carrier_ = false, sure_ = false;
  int quiet_ = 0, heard_ = 0;
  S1Detector s1_;
  S1Detector::Event s1_event_ = S1Detector::Event::kNone;

  int modulated_ = 0;  // T/2 samples that are not a tone
  Complex after_one_{};
  float beat_ = 0, cross_beat_ = 0;
  Complex first_[kFirstSymbols];
  int first_n_ = 0;

  float tap_re_[kTaps]{};
  float tap_im_[kTaps]{};
  float lms_ = 0;
  uint32_t symbols_ = 0;
  Phase phase_;
  float frequency_ = 0;  // turns a symbol
  Complex rotation_{1, 0};
  Complex symbol_{};
  Complex previous_[2]{};
  float level_ = 1;  // level of the symbols relative to that of their points
  Complex previous_error_{};
  Decision decision_{};
  float error_ = 0;
};

}  // namespace offhook::v22
