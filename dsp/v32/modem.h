// SPDX-License-Identifier: MIT
//
// One end of a V.32bis connection, sample by sample. procedure.h defines the order of the signals; this class finds the
// procedure's events in the received signal.
//
// Modulator, receiver and echo canceller are those of dsp/qam.
#pragma once

#include <stdint.h>

#include "dsp/blocks/hum_filter.h"
#include "dsp/blocks/tone.h"
#include "dsp/qam/echo_canceller.h"
#include "dsp/qam/modulator.h"
#include "dsp/qam/receiver.h"
#include "dsp/v32/bits.h"
#include "dsp/v32/line_monitor.h"
#include "dsp/v32/procedure.h"
#include "dsp/v32/pump.h"
#include "dsp/v32/transmitter.h"
#include "dsp/v8/v8.h"
#include "offhook/pump.h"

namespace offhook::v32 {

inline constexpr Band kBand{{1, 1}, {3, 4}};  ///< 2400 symbols/s around 1800 Hz (2.1, 2.2)

inline constexpr double kSymbol = 8000.0 / 2400;               // samples
inline constexpr uint64_t kSilenceBeforeAns = 8000 * 18 / 10;  // V.25, samples
inline constexpr uint64_t kAns = 8000 * 33 / 10;

/// The rates that do not exceed this; 0: all.
RateSet up_to(uint32_t max_bit_rate);

class Modem {
 public:
  static constexpr uint32_t kLeastBitRate = 4800;
  static constexpr uint32_t kLongestStep = 3000;

  explicit Modem(const oh_pump_config& c);

  void begin(bool after_v8) { fire(after_v8 ? Event::kBeginAfterV8 : Event::kBegin); }
  void without_v8() { fire(Event::kWithoutV8); }
  void only_v32(bool trellis);
  int16_t process(int16_t rx) { return step(rx, false); }
  void lost() {
    ++filled_in_;
    step(0, true);
  }
  void status(oh_pump_status* s) const;
  void instruments(oh_v32bis_instruments* i) const;
  /// In data mode; otherwise does nothing.
  void renegotiate(uint32_t max_bit_rate);
  void retrain() { fire(Event::kRetrain); }
  void hang_up() { fire(Event::kHangUp); }

  Step current_step() const { return step_; }
  /// Released or failed: silence from now on.
  bool ended() const { return info(step_).hears == Hears::kNothing; }
  /// NULL: none yet.
  const Transition* newest_transition() const { return newest_; }

 private:
  friend struct Procedure;
  enum class Heard : uint8_t { kNothing, kS, kTrn };  // of a training

  int16_t step(int16_t rx, bool is_lost);
  /// Makes the transition that the table has for the event. @return false if there is none
  bool fire(Event event);
  float start_with_v8(float rx);
  float start_with_answer_tone(float rx);
  void listen_for_start(float rx);
  float modem(float rx, bool is_lost);
  void receive(float rx, bool is_lost);
  void symbol_received(BitReceiver::Stage before);
  void follow_tone(float rx, bool is_lost);
  void follow_retrain_tone(float x);
  void look_for_noise();
  void follow_line();
  bool overdue() const;
  void begin_tones();
  void train_again(oh_retrain_cause cause);
  void offer(RateSet rates);
  void listen();
  uint64_t age() const { return samples_ - entered_; }
  double now() const { return static_cast<double>(samples_); }
  /// A rate signal was received, and has not ended.
  bool rates_heard() const {
    return heard_ == Heard::kTrn && bits_.stage() == BitReceiver::Stage::kRateSignal && bits_.rate_signal();
  }
  bool v32() const { return far_v32_ || only_v32_; }
  RateSet possible_rates() const;
  /// This end's rates in a rate signal that the far end can read.
  RateSignal signal_of(RateSet rates) const;
  RateSet common(RateSet rates) const { return static_cast<RateSet>(bits_.rates().rates & rates); }
  bool live() const { return (step_ == Step::kData || step_ == Step::kEAgain) && tx_.live() && bits_.live(); }
  oh_start_up start_up() const;
  void show_progress();
  void show_instruments() const;
  void show_taps();

  oh_pump_config config_;
  oh_pump_observer observer_;
  oh_start_up shown_start_up_ = OH_START_UP_NONE;
  bool calls_;
  Step step_ = Step::kV8;
  const Transition* newest_ = nullptr;
  uint64_t samples_ = 0, filled_in_ = 0, entered_ = 0, without_data_ = 0, live_samples_ = 0;
  uint32_t retrains_ = 0, renegotiations_ = 0;
  oh_retrain_cause cause_ = OH_RETRAIN_NONE;
  float power_ = 0;
  RateSet own_rates_ = 0;
  RateSet far_rates_ = 0;  // of its R1 or R2
  bool only_v32_ = false;  // whether this end's rate signals are V.32's
  bool far_v32_ = false;   // whether the far end's are
  bool had_data_ = false;
  uint64_t tone_at_ = 0;  // samples_ when the far end's tone was detected, or its detection began
  bool may_renegotiate_ = true;
  uint64_t bits_before_ = 0;  // received before the last retrain

  v8::V8 v8_;
  v8::AnswerToneDetector answer_tone_;
  Oscillator ans_{v8::kAnswerToneHz};
  float ans_peak_;
  ToneDetector tone_;
  HumFilter front_{kHighPassFrom450};
  Transmitter tx_;
  BitReceiver bits_;
  qam::Modulator modulator_;
  qam::Receiver receiver_;
  qam::EchoCanceller echo_;
  LineMonitor monitor_;
  float usual_power_ = 0;            // in data mode
  int noisy_ = 0;                    // symbols of data lost in noise
  qam::Receiver::Learnt learnt_[2];  // the older and the newer state of the receiver; valid in data mode

  double tone_zero_ = 0;     // samples_ when the tone detector's clock was 0
  double reversal_at_ = 0;   // samples_ of the far end's last reversal
  double turn_at_ = 0;       // samples_ at which the symbol that answers it is due
  double own_reversal_ = 0;  // when ours left
  double round_trip_ = 0;    // samples
  Heard heard_ = Heard::kNothing;
  uint32_t wanted_bit_rate_ = 0;  // from the owner, in a renegotiation; 0: any
  RateSet offered_ = 0;           // in R4 or R5
  int tone_alone_ = 0;            // samples in which the far end's tone dominates
};

}  // namespace offhook::v32
