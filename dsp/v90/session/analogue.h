// SPDX-License-Identifier: MIT
//
// Phases 3 and 4, data mode, rate renegotiation and cleardown of V.90 (09/98), 9.3 to 9.7: the analogue modem's side.
// V.34 symbols to send, received levels of the network's converter, and time. See digital.h for the course of
// the signals.
//
// It computes its requests to the digital modem (UINFO, the DIL, CPt and CP) from the results of the DIL.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/table_procedure.h"
#include "dsp/v34/session/data_mode.h"
#include "dsp/v34/session/transmit_signals.h"
#include "dsp/v90/coding/cp.h"
#include "dsp/v90/coding/sequences.h"
#include "dsp/v90/pcm/receiver.h"
#include "dsp/v90/session/digital.h"
#include "dsp/v90/session/downstream_training.h"
#include "offhook/pump.h"

namespace offhook::v90 {

enum class AnalogueState : uint8_t {
  kTrainFar,  ///< own S, S-bar, PP, TRN
  kSendJa,    ///< until Sd-bar
  kEqualise,  ///< silence: TRN1d and Jd come
  kSendS,     ///< S, until Jd'
  kDil,       ///< S-bar and silence: the DIL comes
  kEndDil,    ///< S and S-bar
  kCpt,       ///< CPt, until R-bar
  kFinal,     ///< Phase 4; and the same signals of renegotiation and cleardown
  kData,
  kEnded  ///< see outcome()
};

enum class AnalogueEvent : uint8_t {
  // a signal of this end has ended, in the order of v34::Signal
  kSentSilence,
  kSentS,
  kSentSBar,
  kSentMd,
  kSentPp,
  kSentTrn,
  kSentJ,
  kSentJPrime,
  kSentMp,
  kSentE,
  kSentScr,
  kSentSequence,
  // heard
  kFarSdBar,
  kFarJd,
  kFarJdPrime,
  kLearnt,
  kFarR,
  kFarRBar,
  kFarMp,
  kFarEd,
  kFarB1d,
  // time
  kTimeout,
  kNoEd,  ///< in the start-up: no B1d
  // data mode
  kBothSendData,
  kLineLost,
  kRenegotiate,
  kCleardown
};

class AnalogueProcedure : public TableProcedure<AnalogueProcedure, AnalogueState, AnalogueEvent>,
                          public DownstreamTraining {
 public:
  static const Table& transitions();

  AnalogueProcedure() : TableProcedure(State::kEnded) {}
  /// Phase 3 begins now: INFO1a has been sent.
  AnalogueProcedure(const AnalogueConfig& config, const oh_bit_port& port);

  /// One sample of 8000 Hz has passed.  Real-time: yes.
  void tick();
  /// @return the next symbol to send, mean power 1; {0, 0} is silence.  Real-time: yes, except at the start of data.
  Complex next_symbol();

  void put(PcmReceiver::Event event);
  /// A level was heard. @param error_power, refitting  of the receiver  @return the reference, and its permitted use.
  /// Real-time: yes, except at the end of the DIL: constellation_choice.h.
  DownstreamReader::Result put(float level, int interval, float error_power, bool refitting);

  /// PP, TRN or SCR is sent, and the digital modem is silent: the time to train an echo canceller.
  bool far_end_silent() const;
  /// Data have more errors than expected: checks whether the own echo is the cause.
  bool suspects_echo() const { return state_ == State::kData && noisy_ > 0; }

  /// Data mode only.
  /// @param with_silence  the digital modem is to be silent for a while in it: CPs, 9.6.2.1.3
  void renegotiate(bool with_silence = false) {
    asks_silence_ = with_silence;
    if (!handle(Event::kRenegotiate)) asks_silence_ = false;
  }
  void cleardown() { handle(Event::kCleardown); }

  Outcome outcome() const { return outcome_; }
  bool live() const { return rx_live_ && tx_live_; }
  v34::Signal signal() const { return tx_.signal(); }
  const Mp& mp() const { return far_mp_; }
  uint32_t tx_bit_rate() const { return tx_parameters_.bit_rate; }
  uint32_t renegotiations() const { return renegotiations_; }
  uint64_t bits_sent() const { return data_tx_.bits_sent(); }

 private:
  enum class Procedure : uint8_t { kStartUp, kRenegotiation, kCleardown };

  bool owes_md() const { return config_.own_md_length > 0; }
  bool wants_no_dil() const { return config_.without_dil; }
  bool released_after_prime() const {
    return (procedure_ == Procedure::kCleardown || far_mp_.drn == 0) && mp_received_ && primes_ > 0;
  }
  bool owes_cp() const { return !cp_begun_ && procedure_ == Procedure::kStartUp; }
  bool agreed() const { return primes_ > 0 && answered_ && !cp_.silence; }
  bool asks_silence() const { return cp_.silence; }
  bool silence_has_begun() const { return silent_ && cp_.silence; }
  bool renegotiates() const { return procedure_ == Procedure::kRenegotiation; }
  bool is_live() const { return rx_live_; }

  void send_s();
  void send_s_bar();
  void send_md();
  void send_pp() { tx_.start(v34::Signal::kPp); }
  void send_trn();
  void begin_ja();
  void send_ja();
  void silence() { tx_.start(v34::Signal::kSilence); }
  void equalise();
  void await_jd_prime();
  void end_s();
  void choose();
  void end_unlearnt();
  void begin_cpt();
  void send_cpt();
  void follow_frames();
  void send_scr();
  void choose_again();
  void begin_cp();
  void send_cp();
  void await_silence();
  void use_silence();
  void send_e();
  void send_data();
  void take_mp();
  void receive_b1d();
  void receive_data();
  void begin_renegotiation();
  void begin_cleardown();
  void answer_renegotiation();
  void clamp() { deliver(false); }
  void end_in_retrain() { end(Outcome::kRetrain); }
  void end_for_v34() { end(Outcome::kNotDigital); }
  void release() { end(Outcome::kReleased); }

  void end(Outcome outcome);
  void begin_procedure(Procedure procedure);
  void act_on_line(LineAdvice advice);
  void advance_data();
  static uint32_t ms(uint32_t t) { return t * 8; }

  oh_bit_port port_{};
  Outcome outcome_ = Outcome::kNone;
  Procedure procedure_ = Procedure::kStartUp;

  int64_t ed_deadline_ = 0;

  v34::TransmitSignals tx_;
  bool s_ends_ = false;
  uint8_t bits_[Dil::kMaxBits]{};
  int bits_size_ = 0;
  bool cp_begun_ = false;
  bool asks_silence_ = false;  // in the next renegotiation
  bool silent_ = false;        // the digital modem, for that
  bool mp_received_ = false, answered_ = false, b1d_received_ = false;
  int primes_ = 0;
  Mp far_mp_{};

  v34::DataParameters tx_parameters_{};
  v34::DataTransmitter data_tx_;
  bool data_tx_on_ = false, tx_live_ = false;
  uint32_t renegotiations_ = 0;
};

}  // namespace offhook::v90
