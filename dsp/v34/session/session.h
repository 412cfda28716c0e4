// SPDX-License-Identifier: MIT
//
// One modem's side of Phases 3 and 4, data mode, rate renegotiation and cleardown of V.34 (10/96, 11.3, 11.4, 11.6 and
// 11.7). It works at symbol level: symbols to send, received symbols, and time.
//
//    answer  S S' PP TRN J ......|                      | S S' TRN MP MP' E B1 data
//    call                        | S S' PP TRN J .......... J' TRN  MP MP' E B1 data
//                 Phase 3                                  Phase 4
//
// It is independent of the line: the receiver converts samples to symbols, finds S and trains the equaliser.
// Once per symbol, put() takes the received symbol, and order() returns the commands to the receiver (symbol_reader.h).
// Phase 2 is also separate: if a procedure fails, outcome() is the request to Phase 2.
//
// The procedure is a table (transitions(), dsp/blocks/table_procedure.h).
//
// Transmit and receive symbol rates may differ; a symbol is sent when next_symbol() is called. tick() counts samples of
// 8000 Hz, the one clock of all time-outs.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/table_procedure.h"
#include "dsp/v34/session/data_mode.h"
#include "dsp/v34/session/mp.h"
#include "dsp/v34/session/receive_rate.h"
#include "dsp/v34/session/symbol_reader.h"
#include "dsp/v34/session/transmit_signals.h"
#include "offhook/pump.h"

namespace offhook::v34 {

struct SessionConfig {
  oh_pump_role role = OH_PUMP_CALL;
  SymbolRate tx_symbol_rate = SymbolRate::k3200;
  SymbolRate rx_symbol_rate = SymbolRate::k3200;
  uint32_t round_trip_samples = 0;  ///< at the line's terminals
  uint32_t io_delay_samples = 0;    ///< delay of card and driver, see oh_pump_config
  uint8_t own_md_length = 0;        ///< from this end's INFO1, in 35 ms
  uint8_t far_md_length = 0;
  bool far_cme = false;                    ///< bit 24 of the far INFO0: the time-outs of Phase 4 are 30 s
  bool points_1664 = true;                 ///< whether both INFO0 have bit 25
  uint32_t elapsed = 0;                    ///< samples since the end of INFO1a
  uint32_t since_info1c = 0;               ///< samples since the end of INFO1c, call modem
  uint32_t max_bit_rate = 0;               ///< of either direction; 0: no limit
  bool asymmetric = true;                  ///< whether the two data rates may differ (MP bit 50)
  bool aux = false;                        ///< auxiliary channel requested
  TrellisCode trellis = TrellisCode::k64;  ///< requested from the far transmitter, like the next two
  bool nonlinear = false;
  bool expanded = true;
  TrainingPoints points = TrainingPoints::k16;  ///< requested from the far transmitter in Phase 4; the call modem,
                                                ///< already trained, requests 4 if 16 are not possible
  uint32_t phase3_trn_ms = 1500;                ///< this end's TRN in Phase 3; a round trip is added, for the far echo
  uint32_t phase4_trn_ms = 1000;  ///< far TRN in Phase 4 until its noise decides the rate, unless MP comes
  double margin = 1.0;            ///< factor on the SNR of required_snr()
  bool adapt_rate = true;         ///< renegotiate and retrain automatically when the line has changed
  ReceiveRate::Memory memory;     ///< of earlier trainings
};

/// How a procedure ended if not in data mode.
enum class Outcome : uint8_t {
  kNone,
  kRetrain,               ///< start a retrain; 11.5.1.1, 11.5.2.1
  kRepeatInfo1,           ///< wait for INFOMARKS or the far end's tone; 11.3.2.1.1, 11.4.2.2.1
  kRepeatInfo1WithMarks,  ///< the same while sending INFOMARKS: 11.3.2.2, 11.4.2.1.1
  kReleased               ///< cleardown is complete, or nothing in common
};

enum class SessionState : uint8_t {
  kFarS,      ///< waits for S of the far end's Phase 3: C11, A14
  kFarMd,     ///< waits for the end of its MD
  kFarTrn,    ///< receives its S-bar, PP, TRN and J: C12, A14
  kAnswerJ,   ///< J was received, and is answered a round trip later
  kTrainFar,  ///< this end's S, S-bar, PP and TRN: C13, C14; A11, A12
  kSendJ,     ///< own J: C15; A13
  kFinal,     ///< C16 to C18; A15 to A18; and the same signals of renegotiation and cleardown
  kData,      ///< C19, A19: E was sent and received
  kEnded      ///< see outcome()
};

enum class SessionEvent : uint8_t {
  // a signal of this end has ended, in the order of Signal
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
  // heard
  kFarSBar,
  kFarJ,
  kFarJPrime,
  kFarMp,
  kFarE,
  // time
  kWaitOver,  ///< of kFarMd and kAnswerJ
  kTimeout,   ///< of a state
  kNoE,       ///< time-out of Phase 4, renegotiation or cleardown
  // data mode
  kBothSendData,  ///< E was sent and received
  kLineLost,
  kRenegotiate,
  kCleardown
};

class Session : public TableProcedure<Session, SessionState, SessionEvent> {
 public:
  static const Table& transitions();

  Session() : TableProcedure(State::kEnded) {}
  /// Phase 3 begins now: INFO1a was sent or received.
  Session(const SessionConfig& config, const DataPort& port);

  /// One sample of 8000 Hz has passed.  Real-time: yes.
  void tick();
  /// @return the next symbol to send, mean power 1; {0, 0} is silence.  Real-time: yes.
  Complex next_symbol();
  /// The commands to the receiver, for the next sample on.
  const ReceiverOrder& order() const { return order_; }
  /// Reports S, S-bar or a symbol, as asked by order().  Real-time: yes, except at the start of data: DataParameters.
  void put(const Heard& heard);

  /// PP or TRN of Phase 3 is sent while the far end is silent: the time to train an echo canceller.
  bool far_end_silent() const;

  /// Data mode only: changes the rates, or resynchronises. @param max_rx_rate  in 2400 bit/s, limit for reception
  void renegotiate(uint8_t max_rx_rate = kMostRate);
  /// Data mode only: as LineMonitor::note_bad_frames().
  void note_bad_frames(uint32_t n) {
    if (order_.deliver) receive_rate_.note_bad_frames(n);
  }
  /// Data mode only: ends the connection.
  void cleardown() { handle(Event::kCleardown); }

  Outcome outcome() const { return outcome_; }
  RatePair rates() const { return rates_; }
  /// The far end's B1 was received. Its bits are delivered until its S. This end's bits are sent after its own B1.
  bool live() const { return rx_live_; }
  bool circuit_107() const { return circuit_107_; }                                ///< data set ready
  bool circuit_106() const { return data_tx_on_ && data_tx_.b1_sent(); }           ///< ready for sending
  bool circuit_109() const { return circuit_109_; }                                ///< received line signal
  Signal signal() const { return data_tx_on_ ? Signal::kSilence : tx_.signal(); }  ///< sent now, before data
  const DataParameters& rx_parameters() const { return rx_parameters_; }
  const DataParameters& tx_parameters() const { return tx_parameters_; }
  /// Start-up: TRN of Phase 4 was received, but no readable MP.
  bool missed_mp() const { return starts_up() && far_trn_ && !mp_.received; }
  /// Start-up: the far end's Phase 3 signals were expected or received, but its J was not found.
  bool missed_far_training() const { return missed_far_training_; }
  /// Slips of the receiver by whole symbols in data mode, in this and earlier trainings.
  uint32_t slips() const { return receive_rate_.slips(); }
  /// For the next training of the call.
  ReceiveRate::Memory memory() const { return receive_rate_.memory(); }
  const Mp& own_mp() const { return mp_.own; }
  const Mp& far_mp() const { return mp_.far; }
  uint32_t renegotiations() const { return renegotiations_; }  ///< retrains begun by either end
  const DataTransmitter& data_transmitter() const { return data_tx_; }
  /// The memory that data mode uses.
  void add_to(HotLines* hot) const { hot->add_up_to(&config_, &tx_); }

 private:
  friend TableProcedure;
  void on_leave(State state) {
    if (state == State::kSendJ) deadline_ = 0;  // the answer to J was received
  }

  static constexpr uint8_t kMostRate = 14;
  enum class Procedure : uint8_t { kStartUp, kRenegotiation, kCleardown };
  /// MP of one procedure, in both directions.
  struct MpExchange {
    bool sent = false;
    bool received = false;
    bool answered = false;  // MP' or E was received
    int primes = 0;         // complete MP' sent
    bool e_received = false;
    Mp own{}, far{};
  };

  // guards
  bool calls() const { return config_.role == OH_PUMP_CALL; }
  bool answers() const { return !calls(); }
  bool owes_md() const { return config_.own_md_length > 0; }
  bool expects_md() const { return config_.far_md_length > 0; }
  bool starts_up() const { return procedure_ == Procedure::kStartUp; }
  bool clears_down() const { return procedure_ == Procedure::kCleardown; }
  bool expects_s() const { return procedure_ != Procedure::kStartUp && !mp_.e_received; }
  bool expects_e() const { return mp_.sent && procedure_ != Procedure::kCleardown; }
  /// Time from a sent symbol to the far end's answer to it, for time-outs.
  uint32_t answer_delay() const { return config_.round_trip_samples + config_.io_delay_samples; }
  bool far_end_trains() const;
  bool ready_for_mp() const;
  bool cleared() const;
  bool agreed() const { return procedure_ != Procedure::kCleardown && mp_.primes > 0 && mp_.answered; }

  // actions
  void wait_out_md();
  void listen_again() { order_.task = qam::Receiver::Task::kTrain; }
  void follow_phase3() { listen(next_, true, TrainingPoints::k4, kMinTrnSymbols); }
  void await_answer_to_j();
  void send_s();
  void send_s_bar();
  void send_s_bar_in_time();
  void send_md();
  void send_pp() { tx_.start(Signal::kPp); }
  void send_phase3_trn();
  void begin_j();
  void send_j() { tx_.start_j(rx_points_); }
  void end_j();
  void send_j_prime() { tx_.start(Signal::kJPrime); }
  void begin_phase4();
  void send_phase4_trn();
  void send_renegotiation_trn();
  void begin_cleardown_mp();
  void send_mp();
  void send_e();
  void send_data();
  void follow_phase4();
  void take_mp();
  void follow_renegotiation();
  void answer_renegotiation();
  void receive_data();
  void begin_renegotiation() { begin_procedure(Procedure::kRenegotiation, true); }
  void begin_cleardown() { begin_procedure(Procedure::kCleardown, true); }
  void wait_for_e();
  void miss_far_training();
  void end_without_info1() { end(Outcome::kRepeatInfo1); }
  void end_with_marks() { end(Outcome::kRepeatInfo1WithMarks); }
  void end_in_retrain() { end(Outcome::kRetrain); }
  void release() { end(Outcome::kReleased); }

  void end(Outcome outcome);
  uint32_t ms(uint32_t t) const { return t * 8; }
  uint32_t e_timeout() const;
  void listen(int next, bool pp, TrainingPoints points, int known_trn);
  void deliver(bool live, int64_t clamped_at);
  uint8_t rx_rate() const { return calls() ? rates_.answer_to_call : rates_.call_to_answer; }
  void begin_procedure(Procedure procedure, bool initiator);
  void advance_data();
  void follow_line(const Heard& heard);
  // The settings that follow from both MP: session_rates.cpp
  RateLimits limits(bool receive) const;
  double training_snr() const;
  Mp make_mp() const;
  void agree();
  void begin_monitor();

  SessionConfig config_;
  DataPort port_{};
  Outcome outcome_ = Outcome::kNone;
  Procedure procedure_ = Procedure::kStartUp;
  bool initiator_ = false;
  ReceiverOrder order_;

  int64_t e_deadline_ = 0;  // of E in Phase 4 and renegotiation; 0: none
  bool waited_for_e_ = false;
  int64_t silent_at_ = 0;   // the far end became silent in Phase 3
  int64_t clamped_at_ = 0;  // when S was found in data mode; 0: not found
  float power_ = 0;         // power of the line when data began; 0: unknown

  Heard::Training training_;
  LineQuality quality_;
  DataTransmitter data_tx_;
  ReceiveRate receive_rate_;
  bool data_tx_on_ = false;
  bool b1_received_ = false;
  float b1_variance_ = 0;
  bool tx_live_ = false;
  bool rx_live_ = false;
  bool circuit_107_ = false;
  bool circuit_109_ = false;

  // Not used by data mode.
  TransmitSignals tx_;
  TrainingPoints tx_points_ = TrainingPoints::k4;
  TrainingPoints rx_points_ = TrainingPoints::k4;
  bool missed_far_training_ = false;
  double mp_snr_ = 0;     // training_snr() when this end's MP was composed
  bool far_trn_ = false;  // of this procedure: it is arriving, or is over
  MpExchange mp_;
  uint8_t max_rx_rate_ = kMostRate;

  int s_bar_age_ = 0;                    // of the last received S-bar
  int next_ = 0;                         // then the next symbol, counted from its first
  PrecoderCoefficients own_precoder_{};  // of this end's transmitter, as the far end requested
  PrecoderCoefficients far_precoder_{};  // of the far transmitter
  RatePair rates_{};
  DataParameters tx_parameters_{};
  DataParameters rx_parameters_{};
  uint32_t renegotiations_ = 0;
};

}  // namespace offhook::v34
