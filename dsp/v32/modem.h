// SPDX-License-Identifier: MIT
//
// One end of a V.32bis connection: the procedures of clauses 6 to 8, sample by sample.
//
//   call    AA ---- CC |                        S  TRN R2 ........... E data
//   answer  AC ---- CA - AC | S TRN R1 |                    S TRN R3  E data     start-up, retrain
//   first   (AA CC) R4 ............. E data
//   other               (AC CA) R5 E data                                        renegotiation
//
// Modulator, receiver and echo canceller are those of dsp/v34.
#pragma once

#include <stdint.h>

#include "dsp/blocks/tone.h"
#include "dsp/qam/echo_canceller.h"
#include "dsp/qam/modulator.h"
#include "dsp/qam/receiver.h"
#include "dsp/v32/bits.h"
#include "dsp/v32/line_monitor.h"
#include "dsp/v32/pump.h"
#include "dsp/v32/transmitter.h"
#include "dsp/v34/control/pump.h"
#include "dsp/v8/v8.h"
#include "offhook/pump.h"

namespace offhook::v32 {

class Modem {
 public:
  explicit Modem(const oh_pump_config& c);

  void begin(bool after_v8) {
    answers_again_ = after_v8;
    begin_tones();
  }
  void without_v8() { enter(Step::kAnswerTone); }
  void only_v32(bool trellis);
  int16_t process(int16_t rx) { return step(rx, false); }
  void lost() {
    ++filled_in_;
    step(0, true);
  }
  void status(oh_pump_status* s) const;
  void instruments(oh_v32bis_instruments* i) const;
  /// In data mode, else nothing.
  void renegotiate(uint32_t max_bit_rate);
  void retrain();
  void hang_up();

 private:
  enum class Step : uint8_t {
    kV8,
    kAnswerTone,  // caller: until ANS has lasted for its second; answerer: sends it
    kAfterTone,   // answerer: 75 ms of silence
    kQuiet,       // silence, before tones that begin again
    kTone,        // AA, or AC: until the far end has its tone and, caller, its reversal
    kReversed,    // CC, or CA: until the far end's next reversal
    kWaitS,       // caller: silent, until S and TRN and R1 have come
    kAcAgain,     // answerer: AC, until AA has ended
    kPause,       // answerer: silence of 16 symbols
    kExtraS,      // caller: S for a round trip
    kS,
    kSBar,
    kTrn,
    kRate,         // R1, R2 or R3
    kFarS,         // answerer: silent while S, TRN and R2 come
    kData,         // E is asked for, or sent
    kRenegotiate,  // preamble, R4 or R5, E
    kClear,        // rate signals or E without a rate, then kReleased
    kReleased,
    kFailed
  };

  int16_t step(int16_t rx, bool is_lost);
  float modem(float rx, bool is_lost);
  void listen_for_start(float rx);
  void receive(float rx, bool is_lost);
  void follow_tone(float rx, bool is_lost);
  void follow_retrain_tone(float x);
  void before_symbol();
  void follow_receiver();
  void look_for_noise();
  void follow_line();
  void begin_tones();
  void begin_renegotiation(RateSet rates);
  void train_again(oh_v34_cause cause);
  void enter(Step s);
  void send(Step s, Signal signal) {
    tx_.start(signal);
    enter(s);
  }
  void listen(bool on);
  void end_call();
  uint64_t age() const { return samples_ - entered_; }
  RateSet possible_rates() const;
  /// Ours in a rate signal, as the far end can read it.
  RateSignal signal_of(RateSet rates) const;
  RateSet common(RateSet rates) const { return static_cast<RateSet>(bits_.rates().rates & rates); }
  bool live() const { return step_ == Step::kData && tx_.live() && bits_.live(); }
  void show_instruments() const;
  void show_taps();

  oh_pump_config config_;
  bool calls_;
  Step step_ = Step::kV8;
  uint64_t samples_ = 0, filled_in_ = 0, entered_ = 0, without_data_ = 0, live_samples_ = 0;
  uint32_t retrains_ = 0, renegotiations_ = 0;
  oh_v34_cause cause_ = OH_V34_CAUSE_NONE;
  float power_ = 0;
  RateSet own_rates_ = 0;
  RateSet far_rates_ = 0;  // of its R1 or R2
  bool only_v32_ = false;  // our rate signals are V.32's
  bool far_v32_ = false;   // the far end's are
  bool had_data_ = false;
  bool nothing_in_common_ = false;
  bool may_renegotiate_ = true;
  bool answers_again_ = false;  // with a tone, when nobody answers AC
  uint64_t bits_before_ = 0;    // received before the last retrain

  v8::V8 v8_;
  v8::AnswerToneDetector answer_tone_;
  Oscillator ans_{v8::kAnswerToneHz};
  float ans_peak_;
  v34::ToneDetector tone_;
  Transmitter tx_;
  BitReceiver bits_;
  v34::Modulator modulator_;
  v34::Receiver receiver_;
  v34::EchoCanceller echo_;
  LineMonitor monitor_;
  float usual_power_ = 0;  // in data mode
  int drowned_ = 0;        // symbols of data drowned by noise

  double tone_zero_ = 0;     // samples_ when the tone detector's clock was 0
  double switch_at_ = -1;    // samples_ at which the symbol that answers a reversal is to be pushed; -1: none
  double own_reversal_ = 0;  // when ours left
  double round_trip_ = 0;    // samples
  int extra_s_ = 0;
  bool second_training_ = false;  // the answerer's R3, the caller's second look at S
  bool heard_s_ = false, in_trn_ = false;
  bool first_ = false;      // we began the renegotiation
  bool far_known_ = false;  // its R4 or R5 has come
  bool agreed_ = false;     // E of the renegotiation is due or sent
  bool clearing_ = false;   // it is to end the connection
  RateSet offered_ = 0;     // in R4 or R5
  int tone_alone_ = 0;      // samples with the far end's tone and little else
};

}  // namespace offhook::v32
