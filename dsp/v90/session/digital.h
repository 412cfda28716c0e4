// SPDX-License-Identifier: MIT
//
// Phases 3 and 4, data mode, rate renegotiation and cleardown of V.90 (09/98), 9.3 to 9.7: the digital modem's side.
// PCM codes to send, V.34 symbols that were heard, and time.
//
//    analogue  S S' PP TRN Ja ........|                    S.... S' | ......... S S' | CPt CPt ..  CP CP CP' CP' E B1
//    data digital                          | Sd Sd' TRN1d Jd Jd ...... Jd' DIL DIL DIL .. | Ri .. Ri' TRN2d MP MP MP'
//    Ed B1d data
//                                   Phase 3                                         Phase 4
//
// As dsp/v34/session/session.h it is independent of the line, and is a table (dsp/blocks/table_procedure.h). tick()
// counts the network's samples; a code is sent when next() is called, once for each.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/table_procedure.h"
#include "dsp/v34/session/data_mode.h"
#include "dsp/v34/session/receive_rate.h"
#include "dsp/v34/session/symbol_reader.h"
#include "dsp/v34/session/transmit_signals.h"
#include "dsp/v90/coding/cp.h"
#include "dsp/v90/coding/sequences.h"
#include "dsp/v90/pcm/downstream.h"
#include "offhook/pump.h"

namespace offhook::v90 {

/// How a procedure ended that did not end in data mode.
enum class Outcome : uint8_t {
  kNone,
  kRetrain,     ///< start a retrain; 9.5
  kNotDigital,  ///< analogue modem: the line carries no rate of V.90; retrain, and choose V.34 in INFO1a; 9.2
  kReleased     ///< cleardown is complete, or nothing in common
};

struct DigitalConfig {
  Law law = Law::kMu;
  uint8_t u_info = 79;
  uint8_t max_power = 23;  ///< bits 33:37 of the own INFO0d
  v34::SymbolRate symbol_rate = v34::SymbolRate::k3200;
  uint32_t round_trip_samples = 0;
  uint8_t far_md_length = 0;  ///< in 35 ms
  uint32_t elapsed = 0;       ///< samples since the end of INFO1a
  uint32_t max_bit_rate = 0;  ///< of either direction; 0: no limit
  /// V.92: data frames are aligned to QTS, and Sd begins with a data frame (8.3.6). The number of codes, 0 to 5, from
  /// the first of next() to an interval 0. -1: the alignment begins with Sd.
  int aligned = -1;
  bool points_1664 = true;  ///< both INFO0 have bit 25
  uint8_t look_ahead = 3;   ///< offered in Jd
  bool nonlinear = true;    ///< requested from the upstream, as the next two
  bool expanded = true;
  v34::TrellisCode trellis = v34::TrellisCode::k64;
  /// Length of TRN1d beyond 2040T: long enough for both receivers and the echo canceller of this end. With 1.6 s, a
  /// closed analogue modem retrained in Phase 4 on most lines with little noise (docs/interop.md).
  uint32_t trn1d_ms = 2200;
  uint32_t trn2d_ms = 300;
  double margin = 1.0;  ///< factor on the required SNR of an upstream rate
};

/// The analogue modem awaits Sd-bar for this time from the start of Ja, without a term for the round trip; 9.3.2.4.
/// Samples.
inline constexpr uint32_t kSdAwaited = 1500 * 8;
/// From the start of Ja to the end of Sd-bar, without the round trip: samples.
uint32_t sd_after_ja(const Dil& dil, v34::SymbolRate rate);

/// Jd's mask of the rates downstream up to this; 0: all.
uint32_t rates_of_jd(uint32_t max_bit_rate);

enum class DigitalState : uint8_t {
  kAwaitS,  ///< S of Phase 3 is awaited
  kFarMd,   ///< the analogue modem's MD is waited out
  kFarTrn,  ///< S-bar, PP, TRN and Ja come
  kTrain,   ///< own Sd, TRN1d and Jd
  kDil,     ///< DIL, until the second S-bar
  kFinal,   ///< Phase 4; and the same signals of renegotiation and cleardown
  kData,
  kEnded  ///< see outcome()
};

enum class DigitalEvent : uint8_t {
  // a signal of this end has ended, in the order of Downstream::Signal
  kSentSilence,
  kSentSd,
  kSentSdBar,
  kSentTrn1d,
  kSentJd,
  kSentJdPrime,
  kSentDil,
  kSentR,
  kSentRBar,
  kSentDrain,
  kSentTrn2d,
  kSentMp,
  kSentEd,
  kSentB1d,
  // heard
  kFarS,
  kFarSBar,
  kFarDil,
  kFarCp,
  kFarE,
  // time
  kWaitOver,
  kTimeout,
  kNoE,  ///< or no B1
  // data mode
  kBothSendData,
  kLineLost,
  kRenegotiate,
  kCleardown
};

class DigitalProcedure : public TableProcedure<DigitalProcedure, DigitalState, DigitalEvent> {
 public:
  static const Table& transitions();

  DigitalProcedure() : TableProcedure(State::kEnded) {}
  /// Phase 3 begins now: INFO1a has been received.
  DigitalProcedure(const DigitalConfig& config, const oh_bit_port& port);

  /// One sample of 8000 Hz has passed.  Real-time: yes.
  void tick();
  /// @return the next code.  Real-time: yes.
  Pcm next();
  /// The commands to the receiver of the upstream, from the next sample on.
  const v34::ReceiverOrder& order() const { return order_; }
  /// S, S-bar or a symbol has been heard. @param bits  of a training symbol: ReceiveSignals::symbol_bits(); else null
  void put(const v34::Heard& heard, const uint8_t* bits);
  /// TRN1d is sent, and the analogue modem is silent until it has had a Jd: the time to train an echo
  /// canceller.
  bool far_end_silent() const;
  /// In data mode. @param power  of v34::Heard  @return whether the analogue modem has gone silent
  bool is_gone(float power) const { return power < v34::kSilentShare * power_; }

  /// Data mode only.
  void renegotiate() { handle(Event::kRenegotiate); }
  void cleardown() { handle(Event::kCleardown); }

  Outcome outcome() const { return outcome_; }
  bool live() const { return rx_live_ && tx_live_; }
  Downstream::Signal signal() const { return tx_.signal(); }
  const Cp& cp() const { return far_.cp; }
  const Cp& cpt() const { return far_.cpt; }
  const Mp& mp() const { return own_; }
  const Dil& dil() const { return dil_; }
  /// Data mode only: as LineMonitor::note_bad_frames().
  void note_bad_frames(uint32_t n) {
    if (order_.deliver) receive_rate_.note_bad_frames(n);
  }
  int rx_bit_rate() const { return static_cast<int>(rx_parameters_.bit_rate); }
  const v34::DataParameters& rx_parameters() const { return rx_parameters_; }
  uint32_t renegotiations() const { return renegotiations_; }
  /// Variance of the last seconds of data, as LineMonitor::variance(); 0: not known.
  float data_variance() const { return receive_rate_.data_variance(); }
  uint64_t bits_sent() const { return tx_.bits_sent(); }

 private:
  enum class Procedure : uint8_t { kStartUp, kRenegotiation, kCleardown };

  bool expects_md() const { return config_.far_md_length > 0; }
  bool s_has_come() const { return s_heard_; }
  bool wants_no_dil() const { return dil_.segments == 0; }
  bool dil_is_over() const { return dil_over_; }
  bool first_s_bar() const { return !s_bar_heard_; }
  bool ready_for_r_bar() const;
  bool is_cpt() const { return !far_.heard.data_mode; }
  bool cleared() const { return procedure_ == Procedure::kCleardown || (cp_received_ && far_.cp.drn == 0); }
  bool agreed() const { return primes_ > 0 && answered_; }
  bool released_after_prime() const { return cleared() && cp_received_ && primes_ > 0; }
  bool ed_was_sent() const { return ed_sent_; }
  bool owes_silence() const { return silence_asked_ && ed_sent_; }
  bool is_silent() const { return silent_; }
  bool silence_is_over() const { return silent_ && cp_received_; }
  bool expects_e() const { return cp_received_ && own_sent_ && !silence_asked_; }  // SCR is all ones, too
  bool is_live() const { return rx_live_; }
  bool expects_s() const { return procedure_ != Procedure::kStartUp && !cp_received_; }

  void wait_out_md();
  void listen_again() { order_.task = qam::Receiver::Task::kTrain; }
  void follow_phase3();
  void send_sd();
  int wait_after_ja() const;  // codes
  void begin_sd() { tx_.start(Downstream::Signal::kSd); }
  void send_sd_bar() { tx_.start(Downstream::Signal::kSdBar); }
  void send_trn1d();
  void begin_jd();
  void send_jd() { tx_.start_jd(jd_); }
  void send_jd_prime() { tx_.start(Downstream::Signal::kJdPrime); }
  void note_s();
  void await_second_s();
  void send_dil();
  void end_dil();
  void begin_ri();
  void send_ri();
  void send_r_bar();
  void take_cpt();
  void take_cp();
  void send_trn2d();
  void send_mp();
  void send_ed();
  void drain() { tx_.start(Downstream::Signal::kDrain); }
  void send_b1d();
  void send_data();
  void receive_data();
  void begin_renegotiation();
  void answer_renegotiation();
  void begin_cleardown();
  void follow_renegotiation();
  void send_rd() { send_r(data_frames_); }
  void begin_silence();
  void go_on_silent() { tx_.start(Downstream::Signal::kSilence, kFrameIntervals); }
  void send_rt() { send_r(training_frames_); }
  void end_silence();
  void send_r(const FrameParameters& frames);
  void end_in_retrain() { end(Outcome::kRetrain); }
  void release() { end(Outcome::kReleased); }

  void end(Outcome outcome);
  void listen(int next, bool pp, v34::TrainingPoints points, int known_trn);
  void follow_line(const v34::Heard& heard);
  void read(const uint8_t* bits);
  Mp make_mp() const;
  v34::RateLimits limits() const;
  void begin_procedure(Procedure procedure);
  void advance_data();
  void deliver(bool live);
  static uint32_t ms(uint32_t t) { return t * 8; }

  DigitalConfig config_;
  oh_bit_port port_{};
  Outcome outcome_ = Outcome::kNone;
  Procedure procedure_ = Procedure::kStartUp;
  v34::ReceiverOrder order_;

  int64_t e_deadline_ = 0;  // of E; in the start-up of B1
  int64_t silent_at_ = 0;
  float power_ = 0;         // of the line when data began; 0: not known yet
  int64_t clamped_at_ = 0;  // S was found in data mode; 0: not

  Downstream tx_;
  uint32_t codes_ = 0;  // given by next()
  Jd jd_{};
  Dil dil_{};
  DilReceiver dil_receiver_;
  CpReceiver cp_receiver_;
  int segment_ = 0;
  bool s_heard_ = false, s_bar_heard_ = false, dil_over_ = false;
  struct {
    Cp heard, cpt, cp;
  } far_{};
  FrameParameters training_frames_, data_frames_;
  bool cpt_received_ = false, cp_received_ = false, answered_ = false, own_sent_ = false, ed_sent_ = false;
  bool silence_asked_ = false, silent_ = false;  // by CPs
  int primes_ = 0;
  int ones_ = 0;
  Mp own_{};
  uint8_t most_rate_ = 14;

  int s_bar_age_ = 0, next_ = 0;
  v34::Heard::Training training_;
  v34::LineQuality quality_;
  v34::DataParameters rx_parameters_{};
  v34::ReceiveRate receive_rate_;
  bool b1_received_ = false, e_received_ = false;
  bool tx_live_ = false, rx_live_ = false;
  uint32_t renegotiations_ = 0;
};

}  // namespace offhook::v90
