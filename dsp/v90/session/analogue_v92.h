// SPDX-License-Identifier: MIT
//
// Phases 3 and 4, data mode, rate renegotiation and cleardown of V.92 (11/2000) with PCM upstream, 9.5 to 9.8 and 9.11:
// the analogue modem's side. Symbols to send, received levels of the network's converter, and time. See digital_v92.h
// for the course of the signals.
#pragma once

#include <stdint.h>

#include "dsp/blocks/table_procedure.h"
#include "dsp/v90/pcm/upstream_signals.h"
#include "dsp/v90/session/digital.h"
#include "dsp/v90/session/downstream_training.h"

namespace offhook::v90 {

enum class AnalogueV92State : uint8_t {
  kTrainFar,  ///< own Ru, Ru-bar, TRN1u
  kSendJa,    ///< until Sd-bar
  kEqualise,  ///< silence: TRN1d and Jd come
  kSendSu,    ///< Su, and Su-bar for half a symbol more
  kAwaitJp,   ///< Su, until Jp
  kEndSu,     ///< Su-bar, longer by Jp's fraction of a symbol
  kDil,       ///< TRN1u: the DIL comes
  kCpt,       ///< CPt, until Ri
  kFinal,     ///< Phase 4; and the same signals of renegotiation and cleardown
  kData,
  kEnded  ///< see outcome()
};

enum class AnalogueV92Event : uint8_t {
  // a signal of this end has ended, in the order of UpstreamSignals::Signal
  kSentSilence,
  kSentRu,
  kSentRuBar,
  kSentTrn1u,
  kSentSu,
  kSentSuBar,
  kSentTwoPoints,
  kSentE1u,
  kSentTrn2u,
  kSentSequence,
  kSentE2u,
  kSentB1u,
  kSentData,
  // heard
  kFarSdBar,
  kFarJd,
  kFarJp,
  kFarJpPrime,
  kLearnt,
  kFarR,
  kFarRBar,
  kFarSuv,
  kFarCpd,
  kFarEd,
  kFarB1d,
  // time
  kTimeout,
  kNoB1d,
  // data mode
  kBothSendData,
  kLineLost,
  kRenegotiate,
  kCleardown
};

class AnalogueV92Procedure : public TableProcedure<AnalogueV92Procedure, AnalogueV92State, AnalogueV92Event>,
                             public DownstreamTraining {
 public:
  static const Table& transitions();

  AnalogueV92Procedure() : TableProcedure(State::kEnded) {}
  /// Phase 3 begins now: INFO1a has been sent.
  AnalogueV92Procedure(const AnalogueConfig& config, const oh_bit_port& port);

  /// One sample of 8000 Hz has passed.  Real-time: yes.
  void tick();
  /// @return the next symbol to send, in units of L_U.  Real-time: yes, except at the start of B1u.
  float next_symbol();
  /// Symbols have the network's clock; before, the own one.
  bool locked() const { return locked_; }
  /// The fraction of a symbol by which the next symbol is late; once.
  double take_delay() {
    const double d = delay_;
    delay_ = 0;
    return d;
  }

  void put(PcmReceiver::Event event);
  /// As AnalogueProcedure::put().
  DownstreamReader::Result put(float level, int interval, float error_power, bool refitting);

  /// TRN1u is sent, and the digital modem is silent: the time to train an echo canceller.
  bool far_end_silent() const { return state_ == State::kTrainFar && tx_.signal() == UpstreamSignals::Signal::kTrn1u; }
  bool suspects_echo() const { return state_ == State::kData && noisy_ > 0; }

  /// Data mode only.
  /// There is no silent period, even if it is requested.
  void renegotiate(bool = false) { handle(Event::kRenegotiate); }
  void cleardown() { handle(Event::kCleardown); }

  Outcome outcome() const { return outcome_; }
  bool live() const { return rx_live_ && tx_live_; }
  UpstreamSignals::Signal signal() const { return tx_.signal(); }
  const Cpd& cpd() const { return reader_.cpd(); }
  uint32_t tx_bit_rate() const { return static_cast<uint32_t>(cpd_.rate_thirds()) / 3; }
  uint32_t renegotiations() const { return renegotiations_; }
  uint64_t bits_sent() const { return tx_.bits_sent(); }

 private:
  enum class Procedure : uint8_t { kStartUp, kRenegotiation, kCleardown };
  using Signal = UpstreamSignals::Signal;

  bool wants_no_dil() const { return config_.without_dil; }
  bool heard_ri() const { return ri_heard_; }
  bool is_live() const { return rx_live_; }
  bool sends_trn2u() const { return tx_.signal() == Signal::kTrn2u; }
  bool owes_cp() const { return suv_received_ && (cp_at_ == 0 || cp_is_late()); }
  bool cp_is_late() const;
  bool agreed() const { return primes_ > 0 && answered_; }
  bool released() const {
    return procedure_ == Procedure::kCleardown ? answered_ : cpd_received_ && reader_.cpd().drn == 0 && primes_ > 0;
  }

  void send_ru() { tx_.start(Signal::kRu, kRuSymbols); }
  void send_ru_bar() { tx_.start(Signal::kRuBar, kRuBarSymbols); }
  void send_trn1u();
  void begin_ja();
  void send_ja();
  void equalise();
  void silence() { tx_.start(Signal::kSilence); }
  void send_su();
  void turn_su() { tx_.start(Signal::kSuBar, kRuBarSymbols); }
  void send_su_on();
  void end_su();
  void send_second_trn1u();
  void begin_dil() { reader_.begin_dil(dil_); }
  void choose();
  void choose_unlearnt();
  void begin_cpt();
  void send_cpt();
  void note_ri() { ri_heard_ = true; }
  void send_e1u() { tx_.start(Signal::kE1u); }
  void send_trn2u();
  void begin_trn2u_again();
  void follow_frames();
  void take_suv();
  void end_trn2u();
  void take_cpd();
  void send_suv();
  void send_cp();
  void send_e2u();
  void send_b1u();
  void send_data();
  void receive_b1d();
  void receive_data();
  void note_changes(const Cp& before);
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
  int64_t b1d_deadline_ = 0;

  UpstreamSignals tx_;
  uint8_t bits_[Dil::kMaxBits + Dil::kRatesBits + 24]{};
  int bits_size_ = 0;
  bool locked_ = false;
  double delay_ = 0;

  Jp jp_{};
  bool ri_heard_ = false;
  bool suv_received_ = false, cpd_received_ = false, answered_ = false, b1d_received_ = false;
  bool sends_prime_ = false;
  bool only_rate_differs_ = false;  // from the last CPu: CPus
  int64_t cp_at_ = 0;               // when the last CPu was begun; 0: none
  int64_t frames_at_ = 0;           // when TRN2d began
  int primes_ = 0;
  Cpd cpd_{};  // of the data mode
  bool tx_live_ = false;
  uint32_t renegotiations_ = 0;
};

}  // namespace offhook::v90
